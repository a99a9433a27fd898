"""What a recipe changes in the ones that it hides, for people and as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vancectl.inventory.cascade import Entry, RecipeFile
    from vancectl.inventory.difference import Difference


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
