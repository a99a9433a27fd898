"""`vancectl processes`: what was started, how it stands, what it says, and its end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.options import JsonOption, SessionOption
from vancectl.cli.scope import Voice, voiced

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.process.store import ProcessRecord, ProcessStore

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Processes: list, show, read, await and stop what was started.",
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A process's id, or its name in the session.")]


@app.command("list")
@voiced
def list_processes(
    voice: Voice,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="Only this session's.")] = None,
    running: Annotated[bool, typer.Option("--running", help="Only those that have not ended.")] = False,
    json_output: JsonOption = False,
) -> None:
    """List the processes of all sessions in the order of their start."""
    from vancectl.process.store import OPEN
    from vancectl.process.supervision import current

    output = voice.output(as_json=json_output)
    store = _store()
    records = [current(record, store) for record in store.all(session)]
    records = [record for record in records if not running or record.status in OPEN]
    if output.as_json:
        output.array(record.as_json() for record in records)
        return
    output.table(
        ("name", "session", "status", "recipe", "started", "id"),
        (
            (each.name, each.session, each.status, each.recipe or each.engine, each.started_at[:19], each.id)
            for each in records
        ),
        empty="no processes",
    )


@app.command("show")
@voiced
def show_process(
    voice: Voice, name: NameArgument, session: SessionOption = None, json_output: JsonOption = False
) -> None:
    """Show a process: how it stands, what was started, and the decision that led to it."""
    import json

    from vancectl.process.supervision import current

    output = voice.output(as_json=json_output)
    store = _store()
    record = current(_find(store, name, session), store)
    document = {
        **record.as_json(),
        "seconds": record.seconds,
        "argv": record.argv,
        "supervisor": record.supervisor,
        "decision": record.decision,
    }
    if output.as_json:
        output.document(document)
        return
    output.facts(
        (key, value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False))
        for key, value in document.items()
    )


@app.command("logs")
@voiced
def show_logs(
    voice: Voice,
    name: NameArgument,
    session: SessionOption = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the process has ended.")] = False,
) -> None:
    """Print what a process has written so far."""
    from vancectl.errors import UsageError
    from vancectl.process.supervision import current

    output = voice.output()
    store = _store()
    record = current(_find(store, name, session), store)
    if record.log is None:
        if record.ended_at is None:
            raise UsageError(
                f"the process `{record.name}` has no log: who started it waits for it and gets what it writes",
                remedy="start it with --no-wait to have a log",
            )
        output.prose(str((record.result or {}).get("reply", "")))
        return
    _print_log(record, store, output, follow=follow)


@app.command("wait")
@voiced
def wait_process(
    voice: Voice,
    name: NameArgument,
    session: SessionOption = None,
    timeout: Annotated[float | None, typer.Option("--timeout", metavar="SECONDS", help="Wait no longer.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Wait until a process has ended, and print it. The exit status is 1 unless it is DONE."""
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.process.store import DONE
    from vancectl.process.supervision import wait_for

    if timeout is not None and not 0 <= timeout < 1e9:
        raise UsageError("the time to wait must be a number of seconds", remedy="leave --timeout out to wait for good")
    output = voice.output(as_json=json_output)
    store = _store()
    record = wait_for(_find(store, name, session), store, timeout)
    _print_end(record, output)
    if record.status != DONE:
        raise typer.Exit(ExitStatus.NEGATIVE)


@app.command("stop")
@voiced
def stop_process(
    voice: Voice,
    name: NameArgument,
    session: SessionOption = None,
    grace: Annotated[
        float, typer.Option("--grace", metavar="SECONDS", help="How long it may take to end before it is killed.")
    ] = 5.0,
    json_output: JsonOption = False,
) -> None:
    """End a process with all that belongs to it: TERM, then KILL. One that has ended stays as it is."""
    from vancectl.errors import UsageError
    from vancectl.process.supervision import stop

    if not 0 <= grace < 1e9:
        raise UsageError("the grace must be a number of seconds", remedy="0 kills at once")
    output = voice.output(as_json=json_output)
    store = _store()
    _print_end(stop(_find(store, name, session), store, grace), output)


def _store() -> ProcessStore:
    from vancectl.disk.folders import state_dir
    from vancectl.process.store import ProcessStore

    return ProcessStore(state_dir())


def _find(store: ProcessStore, name: str, session: str | None) -> ProcessRecord:
    from vancectl.errors import UsageError
    from vancectl.process.store import DEFAULT_SESSION
    from vancectl.text.names import near_names

    session = session or os.environ.get("VANCECTL_SESSION") or DEFAULT_SESSION
    record = store.get(name, session)
    if record is not None:
        return record
    near = near_names(name, [each.name for each in store.all(session)])
    meant = f"did you mean {', '.join(near)}? " if near else ""
    raise UsageError(
        f"there is no process `{name}` in the session `{session}`", remedy=f"{meant}`vancectl processes list` shows all"
    )


def _print_end(record: ProcessRecord, output: Output) -> None:
    if output.as_json:
        output.document(record.as_json())
        return
    seconds = f" after {record.seconds:g} s" if record.seconds is not None else ""
    code = f" (exit {record.exit_code})" if record.exit_code is not None else ""
    output.prose(f"{record.name} {record.status}{code}{seconds}\n")


def _print_log(record: ProcessRecord, store: ProcessStore, output: Output, *, follow: bool) -> None:
    """Bytes as they are in a pipe, harmless text on a terminal. Whether it has ended is asked before the last read."""
    import codecs
    from pathlib import Path

    from vancectl.errors import Place, UsageError
    from vancectl.process.store import OPEN
    from vancectl.process.supervision import wait_for

    path = Path(record.log or "")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        with open(path, "rb") as file:
            while True:
                ended = record.status not in OPEN
                while data := file.read(65536):
                    if output.at_terminal:
                        output.prose(decoder.decode(data))
                    else:
                        output.data(data)
                if ended or not follow:
                    return
                record = wait_for(record, store, 0.2)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"the log cannot be read: {reason}", where=Place(path)) from None
