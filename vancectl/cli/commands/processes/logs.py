"""`vancectl processes logs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.options import SessionOption
from vancectl.cli.processes import NameArgument, Processes, with_processes

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.process.store import ProcessRecord, ProcessStore


@with_processes
def show_logs(
    processes: Processes,
    name: NameArgument,
    session: SessionOption = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the process has ended.")] = False,
) -> None:
    """Print what a process has written so far."""
    import json

    from vancectl.errors import UsageError
    from vancectl.process.supervision import current

    output = processes.output()
    record = current(processes.find(name, session), processes.store)
    if record.log is None:
        if record.ended_at is None:
            raise UsageError(
                f"the process `{record.name}` has no log: who started it waits for it and gets what it writes",
                remedy="start it with --no-wait to have a log",
            )
        reply = record.as_json().get("reply", "")
        output.prose(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False) + "\n")
        return
    _print(record, processes.store, output, follow=follow)


def _print(record: ProcessRecord, store: ProcessStore, output: Output, *, follow: bool) -> None:
    """Bytes as they are in a pipe, harmless text on a terminal. Whether it has ended is asked before the last read."""
    import codecs
    from pathlib import Path

    from vancectl.errors import Place, UsageError
    from vancectl.process.supervision import wait_for
    from vancectl.programs.secrets import PieceScrubber

    path = Path(record.log or "")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    scrubber = PieceScrubber()

    def show(piece: bytes) -> None:
        data = scrubber.feed(piece)
        if output.at_terminal:
            output.prose(decoder.decode(data))
        else:
            output.data(data)

    try:
        with open(path, "rb") as file:
            while True:
                ended = record.ended
                while data := file.read(65536):
                    show(data)
                if ended or not follow:
                    show(b"")
                    return
                record = wait_for(record, store, 0.2)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"the log cannot be read: {reason}", where=Place(path)) from None
