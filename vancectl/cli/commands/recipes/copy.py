"""`vancectl recipes copy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vancectl.cli.completion import complete_recipe
from vancectl.cli.options import JsonOption, Target, ToOption
from vancectl.cli.scope import Scope, scoped


@scoped
def copy_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_recipe)],
    to: ToOption = Target.PROJECT,
    new_name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Another name, so that it takes no place.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Copy a recipe into a nearer layer, to change it there. A file that is there stays as it is."""
    from vancectl import __version__
    from vancectl.cli.runs.written import create_recipe
    from vancectl.cli.task import read_text
    from vancectl.errors import Place, UsageError
    from vancectl.inventory.cascade import BrokenRecipeError
    from vancectl.inventory.draft import copied_text
    from vancectl.inventory.recipe import BrokenRecipe

    entry = scope.cascade.find(name)
    if isinstance(entry.recipe, BrokenRecipe):
        raise BrokenRecipeError(entry.recipe)
    if entry.recipe.source is not None:
        raise UsageError(
            f"`{entry.name}` belongs to another program",
            where=Place(Path(entry.recipe.path)),
            remedy=f"`vancectl recipes adopt {entry.name}` writes a recipe that takes its place",
        )
    text = copied_text(read_text(Path(entry.recipe.path)), entry.name, entry.recipe.layer.kind.value, __version__)
    create_recipe(scope, new_name or entry.name, to, text, scope.output(as_json=json_output))
