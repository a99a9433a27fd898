"""`vancectl settings`: the table of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from vancectl.cli.group import Lazy, LazyGroup

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE = "vancectl.cli.commands.settings"
SETTINGS: Mapping[str, Lazy] = {
    "show": Lazy(f"{_HERE}.show:show_settings", "Show the settings in force with the source of each."),
    "keys": Lazy(f"{_HERE}.keys:list_keys", "List every key with what it means, what it may hold and its default."),
    "set": Lazy(f"{_HERE}.set:set_value", "Set a key in the tenant's file; comments there stay."),
    "unset": Lazy(f"{_HERE}.set:unset_value", "Take a key out of the tenant's file, so that its default holds again."),
    "path": Lazy(f"{_HERE}.path:show_path", "Print the files that settings come from, the tenant's first."),
    "edit": Lazy(f"{_HERE}.edit:edit_settings", "Open the tenant's file in the editor, and check it afterwards."),
}


class Settings(LazyGroup):
    table = SETTINGS


app = typer.Typer(cls=Settings, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def settings() -> None:
    """Settings: bundled < tenant < environment < options."""
