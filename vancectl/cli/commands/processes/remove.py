"""`vancectl processes remove`."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.completion import complete_process
from vancectl.cli.options import JsonOption, SessionOption
from vancectl.cli.processes import Processes, with_processes


@with_processes
def remove_processes(
    processes: Processes,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME…]", help="Ids, or names in the session.", autocompletion=complete_process),
    ] = None,
    ended: Annotated[bool, typer.Option("--ended", help="All that have ended.")] = False,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="All that ended so long ago, as in 30d or 12h.")
    ] = None,
    session: SessionOption = None,
    json_output: JsonOption = False,
) -> None:
    """Forget processes that have ended: records, logs and names. What runs is an error, and nothing is removed then."""
    from datetime import UTC, datetime

    from vancectl.decision_log.history import parse_since
    from vancectl.errors import UsageError
    from vancectl.process.supervision import current, current_all, remove
    from vancectl.text.moment import respelt, utc

    output = processes.output(as_json=json_output)
    if bool(names) == bool(ended or older_than):
        raise UsageError("name processes, or say which ones", remedy="give NAME…, --ended or --older-than 30d")
    store = processes.store
    if names:
        chosen = [current(processes.find(name, session), store) for name in names]
        running = [record.name for record in chosen if not record.ended]
        if running:
            raise UsageError(
                f"still running: {', '.join(running)}", remedy=f"`vancectl processes stop {' '.join(running)}` ends it"
            )
    else:
        before = utc(parse_since(older_than, datetime.now(UTC)).timestamp()) if older_than is not None else None
        chosen = [
            record
            for record in current_all(store.all(processes.scope(), session), store)
            if record.ended and (before is None or respelt(record.ended_at or record.started_at) < before)
        ]
    for record in chosen:
        remove(record, store)
    if output.as_json:
        output.document({"removed": [{"id": record.id, "name": record.name} for record in chosen]})
    else:
        output.prose(f"{len(chosen)} removed\n")
