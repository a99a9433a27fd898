"""Recipes of other programs: what is worth knowing of them, though their words are not ours to judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.inventory.foreign import untrusted_files
from vancectl.lint.library import Library
from vancectl.reading.finding import Finding

# As many characters of a description as a question to the model shows, where the settings do not say otherwise.
MOST = 1_000


def foreign_findings(library: Library) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        if recipe.source is None:
            continue
        place = Place(Path(recipe.path))
        if recipe.source.get("derived"):
            yield Finding("derived-description", place, {"name": recipe.name})
        if len(recipe.description) > MOST:
            yield Finding("long-description", place, {"count": len(recipe.description), "most": MOST})
    for name, path in untrusted_files(library.cascade.layers):
        yield Finding("untrusted-source", Place(Path(path)), {"name": name})
