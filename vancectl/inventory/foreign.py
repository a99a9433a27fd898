"""Foreign recipes: what the files of a source say, as recipes and broken recipes under names of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from vancectl.errors import Place
from vancectl.inventory.compiled import CompiledLayer
from vancectl.inventory.layer import Layer, Layers
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.reading.compiled import Stamp, stamp_of
from vancectl.reading.finding import Finding
from vancectl.sources.folder import Item, is_excluded, items, read_item
from vancectl.text.comparison import normalise_phrase
from vancectl.text.invisible import first_invisible
from vancectl.text.names import canonical
from vancectl.text.printable import UNSAFE

_NAMED = "named"
Found: TypeAlias = tuple[Item, Stamp | None, Recipe | BrokenRecipe]


class Files(NamedTuple):
    """A source's recipes by name. `seen` are all of its files, those that are no recipes included; `parsed` of them had
    to be read.
    """

    recipes: list[Found]
    seen: list[str]
    parsed: int


def foreign_name(key: str, written: str) -> str:
    """The canonical name of what a program calls `written`; the parts of its own names become folders."""
    return canonical(f"{key}/{written.replace(':', '/')}")


def foreign_files(layer: Layer, compiled: CompiledLayer) -> Files:
    """The recipes of a source's folder by name, and what its program would not load."""
    source = layer.source
    assert source is not None
    found: list[Found] = []
    seen: list[str] = []
    parsed = 0
    for item in items(source):
        seen.append(item.file)
        stamp = stamp_of(item.status) if item.status is not None else None
        recipe = compiled.foreign(item.file, stamp, item.path) if stamp is not None else None
        if recipe is None:
            parsed += 1
            recipe = _read(layer, item)
            if stamp is not None:
                compiled.put(item.file, stamp, recipe)
        if isinstance(recipe, BrokenRecipe):
            if not recipe.findings:
                continue  # none of the program's
            if not recipe.name:
                name = foreign_name(source.key, recipe.finding.data.get(_NAMED) or item.file)
                recipe = recipe._replace(name=name)
        if not (source.excluded and is_excluded(source, recipe.name.removeprefix(f"{source.key}/"))):
            found.append((item, stamp, recipe))
    if source.format == "opencode-agent":
        found = _refused(found)
    return Files(_settled(source.key, found), seen, parsed)


def untrusted_files(layers: Layers) -> Iterator[tuple[str, str]]:
    """Name and path of each recipe that is left out, since it lies in a project that the tenant does not trust."""
    for layer in layers.untrusted:
        for item, _, recipe in foreign_files(layer, CompiledLayer(layer, enabled=False)).recipes:
            if isinstance(recipe, Recipe):
                yield recipe.name, item.path


def _refused(found: list[Found]) -> list[Found]:
    """opencode loads none of its agents where the tools of one are no mapping."""
    wrong = next(
        (
            recipe
            for *_, recipe in found
            if isinstance(recipe, BrokenRecipe) and recipe.finding.data.get("field") == "tools"
        ),
        None,
    )
    if wrong is None:
        return found
    data = {"program": "opencode", "other": Path(wrong.path).name}
    return [
        (
            item,
            stamp,
            BrokenRecipe(
                recipe.name, recipe.layer, recipe.path, (Finding("source-refused", Place(Path(recipe.path)), data),)
            )
            if isinstance(recipe, Recipe)
            else recipe,
        )
        for item, stamp, recipe in found
    ]


def _read(layer: Layer, item: Item) -> Recipe | BrokenRecipe:
    """A broken recipe without findings is a file that is none of the program's."""
    source = layer.source
    assert source is not None
    read = read_item(source, item)
    if read is None:
        return BrokenRecipe("", layer, item.path, ())
    name = foreign_name(source.key, read.name)
    if read.fields is None:
        findings = tuple(each._replace(data={**each.data, _NAMED: read.name}) for each in read.findings)
        return BrokenRecipe(name, layer, item.path, findings)
    fault = _fault(name, item)
    if fault is not None:
        return BrokenRecipe(name, layer, item.path, (fault,))
    fields = {**read.fields, "source": {**read.fields["source"], "as": name}}
    recipe = Recipe(name, layer, item.path, fields, tuple(read.findings))
    return recipe._replace(folded=[normalise_phrase(phrase) for phrase in recipe.phrases])


def _fault(name: str, item: Item) -> Finding | None:
    parts = name.split("/")
    if not all(parts) or ".." in parts:
        return Finding("empty-name", Place(Path(item.path)))
    if first_invisible(name) or any(ord(character) in UNSAFE for character in name):
        return Finding("bad-name", Place(Path(item.path)))
    return None


def _settled(key: str, found: list[Found]) -> list[Found]:
    """Each name once: of two that become one, the one that is written so keeps it; two that are written alike break."""
    counts = Counter(recipe.name for _, _, recipe in found)
    if len(counts) == len(found):
        return found
    good: dict[str, list[str]] = {}
    for _, _, recipe in found:
        if isinstance(recipe, Recipe):
            good.setdefault(recipe.name, []).append(recipe.fields["source"]["name"])
    settled: list[Found] = []
    taken: set[str] = set()
    for item, stamp, each in found:
        recipe, name = each, each.name
        if isinstance(recipe, BrokenRecipe):
            # It is none to its program, so it takes no name from one that is.
            if name in good or name in taken:
                recipe = recipe._replace(name=foreign_name(key, item.file))
        elif counts[name] > 1 and len(good[name]) > 1:
            written = recipe.fields["source"]["name"]
            if good[name].count(written) > 1:
                recipe = _broken(recipe, "name-twice", name, foreign_name(key, item.file) if name in taken else name)
            elif foreign_name(key, written) != f"{key}/{written.replace(':', '/')}":
                recipe = _broken(recipe, "name-taken", name, foreign_name(key, item.file))
        taken.add(recipe.name)
        settled.append((item, stamp, recipe))
    return settled


def _broken(recipe: Recipe, code: str, name: str, shown_as: str) -> BrokenRecipe:
    return BrokenRecipe(shown_as, recipe.layer, recipe.path, (Finding(code, Place(Path(recipe.path)), {"name": name}),))
