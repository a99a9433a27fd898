"""`vancectl recipes adopt`."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.completion import complete_recipe
from vancectl.cli.options import JsonOption, Target, ToOption
from vancectl.cli.scope import Scope, scoped


@scoped
def adopt_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_recipe)],
    to: ToOption = Target.TENANT,
    json_output: JsonOption = False,
) -> None:
    """Write a recipe in the place of another program's: with triggers of yours, and still started by that program."""
    from vancectl.cli.runs.written import create_recipe
    from vancectl.errors import UsageError
    from vancectl.inventory.draft import adopted_text

    recipe = scope.cascade.load(name)
    if recipe.source is None:
        raise UsageError(
            f"`{recipe.name}` is a recipe already",
            remedy=f"`vancectl recipes copy {recipe.name}` copies it into a layer",
        )
    create_recipe(scope, recipe.name, to, adopted_text(recipe), scope.output(as_json=json_output))
