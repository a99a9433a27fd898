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
from vancectl.text.comparison import normalise_phrase
from vancectl.text.names import some_of


def override_findings(library: Library) -> Iterator[Finding]:
    for entry in library.entries:
        recipe = entry.recipe
        if recipe.layer.kind is LayerKind.SOURCE:
            continue  # of two folders of one program the nearer one holds, by its own rule
        for number, file in enumerate(entry.shadows):
            hidden = library.shadowed(file)
            dropped = _dropped_phrases(library, recipe, hidden) if number == 0 else []
            data = {
                "layer": file.layer.kind.value,
                "other": file.path,
                "difference": _difference(recipe, hidden, dropped),
                "dropped": dropped,
            }
            if recipe.layer.kind is LayerKind.PROJECT and file.layer.kind is LayerKind.TENANT:
                yield Finding("hides-tenant", Place(Path(recipe.path)), data)
            else:
                yield Finding("shadows", Place(Path(recipe.path)), data)
            if number == 0:
                yield from _engine_changed(library, recipe, hidden)


def _dropped_phrases(library: Library, recipe: Recipe | BrokenRecipe, hidden: Recipe | BrokenRecipe) -> list[str]:
    """The phrases that chose the hidden recipe and choose nothing now.

    A recipe that is no candidate is meant to be chosen by none; what is broken is reported as that.
    """
    if recipe.name not in library.by_name or isinstance(recipe, BrokenRecipe) or isinstance(hidden, BrokenRecipe):
        return []
    kept = set(map(normalise_phrase, recipe.phrases))
    return [phrase for phrase in hidden.phrases if normalise_phrase(phrase) not in kept]


def _difference(recipe: Recipe | BrokenRecipe, hidden: Recipe | BrokenRecipe, dropped: list[str]) -> str:
    said = difference_in_words(hidden, recipe)
    if not dropped or isinstance(hidden, BrokenRecipe):
        return said
    quoted = some_of([f"“{phrase}”" for phrase in dropped])
    gone = "is gone" if len(dropped) == 1 else "are gone"
    return f"{said}; {len(dropped)} of its {len(hidden.phrases)} trigger phrases {gone}: {quoted}"


def _engine_changed(
    library: Library, recipe: Recipe | BrokenRecipe, hidden: Recipe | BrokenRecipe
) -> Iterator[Finding]:
    """Told of the nearest shadowed file only: that is what held before the override."""
    if isinstance(recipe, Recipe) and isinstance(hidden, Recipe) and recipe.engine != hidden.engine:
        data = {"engine": recipe.engine, "before": hidden.engine, "layer": hidden.layer.kind.value}
        yield Finding("engine-changed", library.outline(recipe.path).field("engine"), data)
