"""The compiled inventory: what a layer's files said when they were last read, in one file of the cache a layer."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import Any

from vancectl.inventory.layer import Layer
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.reading.compiled import (
    PlainFinding,
    Stamp,
    findings_of,
    header_of,
    load,
    place_of_kept,
    plain_findings,
    save,
    too_young,
)

# Stamp, fields, findings, the part of a list's JSON that is known beforehand, and the phrases in the form in which they
# are compared; no fields for a broken recipe.
_Compiled = tuple[Stamp, dict[str, Any] | None, list[PlainFinding], str, list[str]]


class CompiledLayer:
    """One layer's compiled recipes by file name below the layer."""

    def __init__(self, layer: Layer, *, enabled: bool = True) -> None:
        self._layer = layer
        self._path = _path_of(layer) if enabled else None
        self._header = header_of(layer.kind.value, str(layer.directory), layer.source)
        self._entries: dict[str, _Compiled] = _load(self._path, self._header) if self._path else {}
        self._changed = False

    def get(self, file: str, stamp: Stamp, name: str, path: str) -> Recipe | BrokenRecipe | None:
        """The recipe as it was read before; None where the file has to be read."""
        entry = self._entries.get(file)
        if entry is None or entry[0] != stamp:
            return None
        _, fields, findings, listing, folded = entry
        if fields is None:
            return BrokenRecipe(name, self._layer, path, findings_of(findings, path))
        return Recipe(name, self._layer, path, fields, findings_of(findings, path) if findings else (), listing, folded)

    def foreign(self, file: str, stamp: Stamp, path: str) -> Recipe | BrokenRecipe | None:
        """The same for a recipe of another program, which names itself in its fields; a broken one has no name here."""
        entry = self._entries.get(file)
        if entry is None or entry[0] != stamp:
            return None
        _, fields, findings, listing, folded = entry
        if fields is None:
            return BrokenRecipe("", self._layer, path, findings_of(findings, path))
        found = findings_of(findings, path) if findings else ()
        return Recipe(fields["source"]["as"], self._layer, path, fields, found, listing, folded)

    def listing(self, file: str, stamp: Stamp) -> str:
        """The kept JSON of a recipe that lists show; empty where there is none, or more must be known of it."""
        entry = self._entries.get(file)
        if entry is None or entry[0] != stamp:
            return ""
        fields = entry[1]
        return entry[3] if fields is not None and "internal" not in fields and "listed" not in fields else ""

    def put(self, file: str, stamp: Stamp, recipe: Recipe | BrokenRecipe) -> None:
        """Remembers what was read, unless the file is too young; `stamp` is from before the reading."""
        if too_young(stamp):
            return
        if isinstance(recipe, Recipe):
            from vancectl.inventory.listing import kept_part

            self._entries[file] = (
                stamp,
                recipe.fields,
                plain_findings(recipe.warnings),
                kept_part(recipe),
                list(recipe.folded),
            )
        else:
            self._entries[file] = (stamp, None, plain_findings(recipe.findings), "", [])
        self._changed = True

    def outdated(self, count: int) -> bool:
        """Whether there is something to save, where the layer has `count` files."""
        return self._path is not None and (self._changed or len(self._entries) > count)

    def save(self, present: Set[str]) -> None:
        """Writes the entries of the files that are there."""
        if self._path is None:
            return
        entries = {file: entry for file, entry in self._entries.items() if file in present}
        save(self._path, self._header, entries)
        self._changed = False


def _path_of(layer: Layer) -> Path | None:
    whose = f"{layer.kind.value}:{layer.directory}"
    return place_of_kept("inventory", whose + (repr(layer.source) if layer.source is not None else ""))


def _load(path: Path, header: bytes) -> dict[str, _Compiled]:
    entries = load(path, header)
    return entries if isinstance(entries, dict) else {}
