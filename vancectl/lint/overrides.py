"""What shadows what, and what an override changes that nobody may have meant to change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.inventory.difference import difference_in_words
from vancectl.inventory.layer import LayerKind
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.lint.library import Library
from vancectl.reading.finding import Finding


def override_findings(library: Library) -> Iterator[Finding]:
    for entry in library.entries:
        recipe = entry.recipe
        for number, file in enumerate(entry.shadows):
            hidden = library.shadowed(file)
            data = {
                "layer": file.layer.kind.value,
                "other": file.path,
                "difference": difference_in_words(hidden, recipe),
            }
            if recipe.layer.kind is LayerKind.PROJECT and file.layer.kind is LayerKind.TENANT:
                yield Finding("hides-tenant", Place(Path(recipe.path)), data)
            else:
                yield Finding("shadows", Place(Path(recipe.path)), data)
            if number == 0:
                yield from _engine_changed(library, recipe, hidden)


def _engine_changed(
    library: Library, recipe: Recipe | BrokenRecipe, hidden: Recipe | BrokenRecipe
) -> Iterator[Finding]:
    """Told of the nearest shadowed file only: that is what held before the override."""
    if isinstance(recipe, Recipe) and isinstance(hidden, Recipe) and recipe.engine != hidden.engine:
        data = {"engine": recipe.engine, "before": hidden.engine, "layer": hidden.layer.kind.value}
        yield Finding("engine-changed", library.outline(recipe.path).field("engine"), data)
