"""`vancectl recipes list`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vancectl.inventory.cascade import Cascade, Entry


_MARK = "!"  # before an engine that cannot be started here


class LayerChoice(StrEnum):
    """Layers by their kind."""

    PROJECT = "project"
    TENANT = "tenant"
    BUNDLED = "bundled"
    DIRECTORY = "directory"
    SOURCE = "source"


@scoped
def list_recipes(
    scope: Scope,
    everything: Annotated[bool, typer.Option("--all", help="Also internal, unlisted and `_…` recipes.")] = False,
    layer: Annotated[LayerChoice | None, typer.Option("--layer", help="Only what this layer provides.")] = None,
    json_output: JsonOption = False,
) -> None:
    """List the recipes in force, broken ones with their fault."""
    from vancectl.inventory.listing import render
    from vancectl.inventory.recipe import BrokenRecipe

    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    if output.as_json and layer is None:
        output.rendered_array(_marked(scope, _elements(scope.cascade, everything)))
        return
    entries = [
        entry
        for entry in scope.cascade.entries()
        if _is_shown(entry, everything) and (layer is None or entry.recipe.layer.kind.value == layer.value)
    ]
    if output.as_json:
        output.rendered_array(_marked(scope, (render(entry.recipe, entry.shadowed_paths) for entry in entries)))
        return
    hindered = _Hindrances(scope)
    columns = ["name", "engine", "layer", "shadows", "triggers", "description"]
    rows = [_cells(entry, hindered) for entry in entries]
    if not any(entry.shadows for entry in entries):  # the room is better used where nothing is shadowed
        rows = [row[:3] + row[4:] for row in rows]
        columns.remove("shadows")
    output.table(
        columns,
        rows,
        empty="no recipes; `vancectl recipes path` shows where they belong",
        one_line=True,
    )
    for entry in entries:
        if isinstance(entry.recipe, BrokenRecipe):
            output.warn(entry.recipe.fault)  # in full: the table has no room for file, line and remedy
    for reason, engines in hindered.reasons().items():
        output.progress(f"{_MARK} cannot be started here ({', '.join(engines)}): {reason}")


def _elements(cascade: Cascade, everything: bool) -> Iterator[str]:
    """The list's elements as JSON, out of what is kept where that will do."""
    from vancectl.inventory.cascade import Entry
    from vancectl.inventory.inventory import routable
    from vancectl.inventory.listing import finish, render

    for found in cascade.listings():
        if isinstance(found, Entry):
            if _is_shown(found, everything):
                yield render(found.recipe, found.shadowed_paths)
        elif everything or routable(found[0]):
            yield finish(found[1], ())


def _is_shown(entry: Entry, everything: bool) -> bool:
    """Broken recipes are always shown: whatever they are, someone should mend them."""
    from vancectl.inventory.inventory import routable
    from vancectl.inventory.recipe import BrokenRecipe

    recipe = entry.recipe
    return everything or isinstance(recipe, BrokenRecipe) or (routable(recipe.name) and recipe.shown)


class _Hindrances:
    """Which engines cannot be started here, and why; each is asked about once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._found: dict[str, str | None] = {}

    def of(self, engine: str | None) -> str | None:
        from vancectl.delegation.hindrance import engine_hindrance
        from vancectl.errors import VancectlError

        if engine is None:
            return None
        if engine not in self._found:
            try:
                self._found[engine] = engine_hindrance(self._scope.settings, engine)
            except VancectlError as error:
                self._found[engine] = error.what()
        return self._found[engine]

    def reasons(self) -> dict[str, list[str]]:
        engines: dict[str, list[str]] = {}
        for engine, reason in self._found.items():
            if reason is not None:
                engines.setdefault(reason.replace(f" for the engine `{engine}`", ""), []).append(engine)
        return engines


def _marked(scope: Scope, elements: Iterator[str]) -> Iterator[str]:
    from vancectl.inventory.listing import engine_of, with_hindrance

    hindered = _Hindrances(scope)
    return (with_hindrance(element, hindered.of(engine_of(element))) for element in elements)


def _cells(entry: Entry, hindered: _Hindrances) -> tuple[str, ...]:
    from vancectl.inventory.recipe import BrokenRecipe
    from vancectl.text.printable import plain_line

    recipe = entry.recipe
    layer = recipe.layer.kind.value
    shadows = ", ".join(file.layer.kind.value for file in entry.shadows)
    if isinstance(recipe, BrokenRecipe):
        return entry.name, "", layer, shadows, "", f"broken: {recipe.finding.sentence()}"
    phrases = ", ".join(map(plain_line, recipe.phrases))
    engine = recipe.engine if hindered.of(recipe.engine) is None else f"{_MARK} {recipe.engine}"
    return entry.name, engine, layer, shadows, phrases, plain_line(recipe.description)
