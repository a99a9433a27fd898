"""`vancectl recipes show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.completion import complete_recipe
from vancectl.cli.options import FieldOption, JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.inventory.recipe import BrokenRecipe, Recipe


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
    field: FieldOption = None,
) -> None:
    """Show a recipe as it would be applied, its file, its layer, and what it shadows."""
    from vancectl.cli.assignments import parse_params
    from vancectl.cli.render.shadows import changes_in_words
    from vancectl.delegation.applied import apply_recipe
    from vancectl.inventory.listing import element

    output = scope.output(as_json=json_output, field=field)
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
    row = element(entry.recipe, entry.shadowed_paths)
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


def _start_of(scope: Scope, recipe: Recipe) -> list[str] | None:
    """The command that starts a recipe with its own program, its placeholders not filled in; None for one of ours."""
    from vancectl.delegation.foreign import foreign_start
    from vancectl.process.command import find_source_template

    foreign = foreign_start(recipe, scope.cascade, {})
    if foreign is None or not foreign.preset:
        return None
    return find_source_template(scope.settings, foreign.preset, foreign.key, foreign.passed_on).parts()


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
