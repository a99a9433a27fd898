"""`vancectl recipes shadowed`: which files are hidden by nearer ones, and what that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.completion import complete_recipe
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vancectl.cli.render.output import Part
    from vancectl.inventory.cascade import Entry, RecipeFile
    from vancectl.inventory.difference import Difference


@scoped
def shadowed_recipes(
    scope: Scope,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", autocompletion=complete_recipe)] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON, as in a pipe.")] = False,
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


def changes_in_words(entry: Entry, file: RecipeFile) -> list[str]:
    """A line for each field that an entry changes in a file that it hides."""
    found = differences_to(entry, file)
    if found is None:
        return ["one of the two is broken"]
    return [each.in_words() for each in found] or ["both say the same"]


def shadow_rows(entry: Entry) -> Iterator[dict[str, Any]]:
    """One row for each hidden file, the nearest first. `differences` is null where one of the two is broken."""
    for file in entry.shadows:
        found = differences_to(entry, file)
        yield {
            "name": entry.name,
            "layer": entry.recipe.layer.kind.value,
            "path": entry.recipe.path,
            "hides": {"layer": file.layer.kind.value, "path": file.path},
            "differences": None if found is None else [each.as_json() for each in found],
        }


def differences_to(entry: Entry, file: RecipeFile) -> list[Difference] | None:
    """What an entry changes in one of the files that it hides; None where one of the two is broken."""
    from vancectl.inventory.difference import differences
    from vancectl.inventory.recipe import BrokenRecipe
    from vancectl.inventory.schema import load_recipe

    if any(finding.breaks for finding in file.findings):
        return None
    hidden = load_recipe(file.name, file.layer, file.path)
    if isinstance(hidden, BrokenRecipe) or isinstance(entry.recipe, BrokenRecipe):
        return None
    return differences(hidden, entry.recipe)
