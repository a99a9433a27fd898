"""`vancectl processes stop`."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.completion import complete_process
from vancectl.cli.options import JsonOption, SessionOption, duration
from vancectl.cli.processes import Processes, print_end, with_processes


@with_processes
def stop_processes(
    processes: Processes,
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME…", help="Ids, or names in the session.", autocompletion=complete_process),
    ],
    session: SessionOption = None,
    grace: Annotated[
        float,
        typer.Option(
            "--grace", metavar="TIME", parser=duration, help="How long it may take to end before it is killed."
        ),
    ] = 5.0,
    json_output: JsonOption = False,
) -> None:
    """End processes with all that belongs to them: TERM, then KILL. One that has ended stays as it is.

    As JSON, one process is an object, several are a list.
    """
    from vancectl.errors import UsageError
    from vancectl.process.supervision import stop

    if not 0 <= grace < 1e9:
        raise UsageError("the grace must be a number of seconds", remedy="0 kills at once")
    output = processes.output(as_json=json_output)
    records = [stop(record, processes.store, grace) for record in [processes.find(name, session) for name in names]]
    if output.as_json and len(records) > 1:
        output.array(record.as_json() for record in records)
        return
    for record in records:
        print_end(record, output)
