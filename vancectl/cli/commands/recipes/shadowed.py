"""`vancectl recipes shadowed`: which files are hidden by nearer ones, and what that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.completion import complete_recipe
from vancectl.cli.options import JsonOption
from vancectl.cli.render.shadows import changes_in_words, shadow_rows
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vancectl.cli.render.output import Part


@scoped
def shadowed_recipes(
    scope: Scope,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", autocompletion=complete_recipe)] = None,
    json_output: JsonOption = False,
) -> None:
    """Show which recipes hide others of their name, and how they differ."""
    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    entries = [scope.cascade.find(name)] if name is not None else list(scope.cascade.entries())
    if output.as_json:
        output.array(row for entry in entries for row in shadow_rows(entry))
        return
    lines: list[Sequence[Part]] = []
    for entry in entries:
        for file in entry.shadows:
            lines.append([(entry.name, "bold"), (f"  {entry.recipe.layer.kind.value}: {entry.recipe.path}", "")])
            lines.append([(f"  hides {file.layer.kind.value}: {file.path}", "dim")])
            lines.extend([(f"  {change}", "")] for change in changes_in_words(entry, file))
    output.styled(lines or [[("nothing is shadowed", "")]])
