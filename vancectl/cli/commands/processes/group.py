"""`vancectl processes`: the table of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from vancectl.cli.group import Lazy, LazyGroup

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE = "vancectl.cli.commands.processes"
PROCESSES: Mapping[str, Lazy] = {
    "list": Lazy(f"{_HERE}.list:list_processes", "List the project's processes in the order of their start."),
    "show": Lazy(
        f"{_HERE}.show:show_process",
        "Show a process: its status, what was started, and the decision that led to it.",
    ),
    "logs": Lazy(f"{_HERE}.logs:show_logs", "Print what a process has written so far."),
    "wait": Lazy(f"{_HERE}.wait:wait_process", "Wait until a process has ended, and print it."),
    "stop": Lazy(f"{_HERE}.stop:stop_processes", "End processes with all that belongs to them: TERM, then KILL."),
    "remove": Lazy(f"{_HERE}.remove:remove_processes", "Forget processes that have ended: records, logs and names."),
}


class Processes(LazyGroup):
    table = PROCESSES


app = typer.Typer(cls=Processes, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def processes() -> None:
    """Processes: list, show, read, await, stop and remove what was started."""
