"""Groups of commands whose modules are imported when a command is called: a start pays for the one that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperGroup


class Lazy(NamedTuple):
    """Where a command is found, as `module:name` (a function, or a Typer app), and its line in the overview."""

    place: str
    summary: str


class LazyGroup(TyperGroup):
    """A subclass has the table of its commands; its help needs none of their modules."""

    table: ClassVar[Mapping[str, Lazy]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.table)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """An unknown command is refused with what is near to it, here or in a group below."""
        name = args[0]
        if name not in self.table:
            from vancectl.text.names import did_you_mean
            from vancectl.text.printable import visible

            ctx.fail(f"No such command '{visible(name)}'. {did_you_mean(self._near(ctx, name)).capitalize()}".strip())
        return super().resolve_command(ctx, args)

    def _near(self, ctx: Any, name: str) -> list[str]:
        from vancectl.text.names import NEAR_COUNT, near_names

        options = [option for each in self.get_params(ctx) for option in each.opts if option == f"--{name.lower()}"]
        groups = [(word, self.get_command(ctx, word)) for word in self.table]
        below = [f"{word} {name}" for word, group in groups if isinstance(group, LazyGroup) and name in group.table]
        return [*options, *near_names(name, self.table), *below][:NEAR_COUNT]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name].place.partition(":")
        found = getattr(import_module(module), name)
        if not isinstance(found, typer.Typer):
            function, found = found, typer.Typer(rich_markup_mode=None, add_completion=False)
            found.command(cmd_name)(function)
        command = typer.main.get_command(found)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in self.table.items()])
