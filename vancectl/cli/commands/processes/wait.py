"""`vancectl processes wait`."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.options import FieldOption, JsonOption, SessionOption, duration
from vancectl.cli.processes import NameArgument, Processes, print_end, with_processes


@with_processes
def wait_process(
    processes: Processes,
    name: NameArgument,
    session: SessionOption = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="TIME", parser=duration, help="Wait no longer.")
    ] = None,
    json_output: JsonOption = False,
    field: FieldOption = None,
) -> None:
    """Wait until a process has ended, and print it. The exit status is 1 unless it is DONE."""
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.process.status import ProcessStatus
    from vancectl.process.supervision import wait_for

    if timeout is not None and not 0 <= timeout < 1e9:
        raise UsageError("the time to wait must be a number of seconds", remedy="leave --timeout out to wait for good")
    output = processes.output(as_json=json_output, field=field)
    record = wait_for(processes.find(name, session), processes.store, timeout)
    print_end(record, output)
    if record.status != ProcessStatus.DONE:
        raise typer.Exit(ExitStatus.NEGATIVE)
