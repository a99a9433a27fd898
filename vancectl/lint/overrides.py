"""What takes the place of what, and what an override changes that its author may not have meant to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from vancectl.inventory.cascade import RecipeFile
from vancectl.inventory.difference import difference_in_words
from vancectl.inventory.layer import LayerKind
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.lint.library import Library
from vancectl.text.comparison import normalise_phrase
from vancectl.text.names import some_of


class Override(NamedTuple):
    """A recipe in force and one that it hides; `dropped` are the phrases that chose the latter and choose nothing now.

    `nearest`: without the override, the hidden one would be in force.
    """

    recipe: Recipe | BrokenRecipe
    hidden: Recipe | BrokenRecipe
    file: RecipeFile
    nearest: bool
    dropped: list[str]

    @property
    def hides_tenant(self) -> bool:
        return self.recipe.layer.kind is LayerKind.PROJECT and self.file.layer.kind is LayerKind.TENANT

    def data(self) -> dict[str, Any]:
        return {
            "layer": self.file.layer.kind.value,
            "other": self.file.path,
            "difference": self._difference(),
            "dropped": self.dropped,
        }

    def _difference(self) -> str:
        said = difference_in_words(self.hidden, self.recipe)
        if not self.dropped or isinstance(self.hidden, BrokenRecipe):
            return said
        quoted = some_of([f"“{phrase}”" for phrase in self.dropped])
        gone = "is gone" if len(self.dropped) == 1 else "are gone"
        return f"{said}; {len(self.dropped)} of its {len(self.hidden.phrases)} trigger phrases {gone}: {quoted}"


def overrides(library: Library) -> Iterator[Override]:
    for entry in library.entries:
        recipe = entry.recipe
        if recipe.layer.kind is LayerKind.SOURCE:
            continue  # of two folders of one program the nearer one holds, by its own rule
        for number, file in enumerate(entry.shadows):
            hidden = library.shadowed(file)
            nearest = number == 0
            yield Override(recipe, hidden, file, nearest, _dropped(library, recipe, hidden) if nearest else [])


def _dropped(library: Library, recipe: Recipe | BrokenRecipe, hidden: Recipe | BrokenRecipe) -> list[str]:
    """A recipe that is no candidate is meant to be chosen by none; what is broken is reported as that."""
    if recipe.name not in library.by_name or isinstance(recipe, BrokenRecipe) or isinstance(hidden, BrokenRecipe):
        return []
    kept = set(map(normalise_phrase, recipe.phrases))
    return [phrase for phrase in hidden.phrases if normalise_phrase(phrase) not in kept]
