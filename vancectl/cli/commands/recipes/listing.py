"""`vancectl recipes`: what lies in the layers, what is in force, and where it comes from."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.completion import complete_recipe
from vancectl.cli.group import Lazy, LazyGroup
from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vancectl.cli.render.output import Output
    from vancectl.inventory.cascade import Cascade, Entry
    from vancectl.inventory.layer import Layers
    from vancectl.inventory.recipe import BrokenRecipe, Recipe

RECIPES: Mapping[str, Lazy] = {
    "list": Lazy(
        "vancectl.cli.commands.recipes.listing:list_recipes", "List the recipes in force, broken ones with their fault."
    ),
    "show": Lazy(
        "vancectl.cli.commands.recipes.listing:show_recipe",
        "Show a recipe as it would be applied, its file, its layer, and what it shadows.",
    ),
    "path": Lazy(
        "vancectl.cli.commands.recipes.listing:show_path",
        "Show the directories of the cascade, nearest first, existing or not.",
    ),
    "lint": Lazy(
        "vancectl.cli.commands.recipes.lint:lint_recipes",
        "Check recipes, settings and catalog, and report what will go wrong.",
    ),
    "shadowed": Lazy(
        "vancectl.cli.commands.recipes.shadowed:shadowed_recipes",
        "Show which recipes hide others of their name, and how they differ.",
    ),
    "map": Lazy(
        "vancectl.cli.commands.recipes.map:map_recipes",
        "Draw which recipes share triggers, and which descriptions lie close together.",
    ),
    "new": Lazy("vancectl.cli.commands.recipes.authoring:new_recipe", "Write a new recipe to begin with."),
    "copy": Lazy(
        "vancectl.cli.commands.recipes.authoring:copy_recipe",
        "Copy a recipe into a nearer layer, to change it there.",
    ),
    "adopt": Lazy(
        "vancectl.cli.commands.recipes.authoring:adopt_recipe",
        "Write a recipe in the place of another program's: with triggers of yours, and still started by that program.",
    ),
    "edit": Lazy(
        "vancectl.cli.commands.recipes.authoring:edit_recipe",
        "Open a recipe in $VISUAL or $EDITOR; what cannot be used is not saved.",
    ),
    "diff": Lazy(
        "vancectl.cli.commands.recipes.diff:diff_recipes",
        "Compare two states of a library: recipes, shadowing, triggers, and what tasks get.",
    ),
}


_MARK = "!"  # before an engine that cannot be started here


class Recipes(LazyGroup):
    table = RECIPES


app = typer.Typer(cls=Recipes, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def recipes() -> None:
    """Recipes: list and show them, check them, write new ones."""


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
        output.rendered_array(_marked(scope, (render(entry.recipe, _shadows(entry)) for entry in entries)))
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


@scoped
def show_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_recipe)],
    profile: Annotated[str | None, typer.Option("--profile", metavar="NAME", help="Apply this profile.")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="KEY=VALUE", help="Apply this param (repeatable).")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print the file as it is.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Show a recipe as it would be applied, its file, its layer, and what it shadows."""
    from vancectl.cli.assignments import parse_params
    from vancectl.cli.render.shadows import changes_in_words
    from vancectl.delegation.applied import apply_recipe
    from vancectl.inventory.listing import element

    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    entry = scope.cascade.find(name)
    if raw:
        _print_file(entry.recipe, output)
        return
    recipe = scope.cascade.load(name)
    for finding in recipe.warnings:
        output.warn(finding.line())
    applied = apply_recipe(recipe, parse_params(param or []), profile)
    for warning in applied.warnings:
        output.warn(warning)
    shadows = [{"layer": file.layer.kind.value, "path": str(file.path)} for file in entry.shadows]
    row = element(entry.recipe, _shadows(entry))
    document: dict[str, Any] = {**row, "shadows": shadows, "applied": applied.as_json()}
    start = _start_of(scope, recipe)
    if start is not None:
        document["start"] = start
    if output.as_json:
        output.document(document)
        return
    output.facts(
        [
            ("name", row["name"]),
            ("title", row["title"] or ""),
            ("engine", row["engine"]),
            ("source", f"{recipe.source['name']} ({recipe.source['format']})" if recipe.source is not None else ""),
            ("start", " ".join(start or ())),
            ("layer", row["layer"]),
            ("file", row["path"]),
            ("shadows", "\n".join(f"{shadow['layer']}: {shadow['path']}" for shadow in shadows)),
            ("changes", "\n".join(changes_in_words(entry, entry.shadows[0])) if entry.shadows else ""),
            ("description", row["description"].strip()),
            ("triggers", ", ".join(row["triggers"])),
            ("profile", applied.profile or ""),
            ("profiles", ", ".join(recipe.profiles)),
            ("params", "\n".join(f"{key} = {value}" for key, value in applied.params.items())),
            ("overridden", ", ".join(applied.overridden)),
            ("prompt", str(applied.fields.get("promptPrefix", "")).strip()),
        ]
    )


def _layer_in_words(row: dict[str, Any], layers: Layers) -> str:
    from vancectl.cli.render.decision import tenant_in_words

    if row["tenant"]:
        return f"tenant {tenant_in_words(layers)}"
    source = row.get("source")
    if source is None:
        return str(row["layer"])
    return f"source {source['key']} ({source['format']})" + ("" if source["trusted"] else ", not trusted")


def _start_of(scope: Scope, recipe: Recipe) -> list[str] | None:
    """The command that starts a recipe with its own program, its placeholders not filled in; None for one of ours."""
    from vancectl.delegation.foreign import foreign_start
    from vancectl.process.command import find_source_template

    foreign = foreign_start(recipe, scope.cascade, {})
    if foreign is None or not foreign.preset:
        return None
    return find_source_template(scope.settings, foreign.preset, foreign.key, foreign.passed_on).parts()


@scoped
def show_path(
    scope: Scope,
    json_output: JsonOption = False,
) -> None:
    """Show the directories of the cascade, nearest first, existing or not."""
    from vancectl.inventory.layer import LayerKind

    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    layers = scope.layers
    rows: list[dict[str, Any]] = [
        {
            "layer": layer.kind.value,
            "path": str(layer.directory),
            "exists": os.path.isdir(layer.directory),
            "tenant": layers.tenant if layer.kind is LayerKind.TENANT else None,
            "tenantSource": layers.tenant_source.value if layer.kind is LayerKind.TENANT else None,
            "tenantOrigin": layers.tenant_origin or None if layer.kind is LayerKind.TENANT else None,
        }
        for layer in layers.nearest_first
    ]
    rows += [
        {**dict.fromkeys(rows[0]), "layer": layer.kind.value, "path": str(layer.directory), "exists": True,
         "source": {"key": layer.source.key, "format": layer.source.format, "trusted": layer in layers.sources}}
        for layer in (*layers.sources, *layers.untrusted)
        if layer.source is not None
    ]  # fmt: skip
    if output.as_json:
        output.array(rows)
        return
    output.table(
        ("path", "layer", "exists"),
        ((row["path"], _layer_in_words(row, layers), _yes(row["exists"])) for row in rows),
        empty="no layers",
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _elements(cascade: Cascade, everything: bool) -> Iterator[str]:
    """The list's elements as JSON, out of what is kept where that will do."""
    from vancectl.inventory.cascade import Entry
    from vancectl.inventory.inventory import routable
    from vancectl.inventory.listing import finish, render

    for found in cascade.listings():
        if isinstance(found, Entry):
            if _is_shown(found, everything):
                yield render(found.recipe, _shadows(found))
        elif everything or routable(found[0]):
            yield finish(found[1], ())


def _is_shown(entry: Entry, everything: bool) -> bool:
    """Broken recipes are always shown: whatever they are, someone should mend them."""
    from vancectl.inventory.inventory import routable
    from vancectl.inventory.recipe import BrokenRecipe

    recipe = entry.recipe
    return everything or isinstance(recipe, BrokenRecipe) or (routable(recipe.name) and recipe.shown)


def _shadows(entry: Entry) -> list[str]:
    return [file.path for file in entry.shadows]


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


def _print_file(recipe: Recipe | BrokenRecipe, output: Output) -> None:
    """Byte for byte into a pipe; harmless on a terminal. A file that is none of its layer's is not shown."""
    from vancectl.cli.task import read_text
    from vancectl.errors import Place, UsageError
    from vancectl.inventory.cascade import BrokenRecipeError
    from vancectl.inventory.recipe import BrokenRecipe

    if isinstance(recipe, BrokenRecipe) and not recipe.has_text:
        raise BrokenRecipeError(recipe)
    if output.at_terminal:
        output.prose(read_text(Path(recipe.path)).replace("\r\n", "\n"))
        return
    try:
        data = Path(recipe.path).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"cannot be read: {reason}", where=Place(Path(recipe.path)), remedy="make it readable"
        ) from None
    output.data(data)
