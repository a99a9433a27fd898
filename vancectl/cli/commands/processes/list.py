"""`vancectl processes list`."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.completion import complete_session
from vancectl.cli.options import JsonOption
from vancectl.cli.processes import Processes, with_processes


@with_processes
def list_processes(
    processes: Processes,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="NAME", help="Only this session's.", autocompletion=complete_session),
    ] = None,
    running: Annotated[bool, typer.Option("--running", help="Only those that have not ended.")] = False,
    json_output: JsonOption = False,
) -> None:
    """List the project's processes in the order of their start."""
    from vancectl.process.output import shortened
    from vancectl.process.supervision import current_all

    output = processes.output(as_json=json_output)
    scope = processes.scope()
    records = current_all(processes.store.all(scope, session), processes.store)
    records = [record for record in records if not running or not record.ended]
    for record in records:
        for fault in record.faults:
            output.warn(f"{record.name}: {fault}")
    if output.as_json:
        output.array(shortened(record.as_json()) for record in records)
        return
    columns = ["name", "session", "status", "recipe", "started", "id"]
    rows = [
        [each.name, each.session, each.status, each.recipe or each.engine, each.started_at[:19], each.id]
        for each in records
    ]
    if scope is None:
        columns.insert(1, "project")
        for row, each in zip(rows, records, strict=True):
            row.insert(1, each.project or "")
    output.table(columns, rows, empty="no processes")
