"""`vancectl recipes new`."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.completion import complete_engine
from vancectl.cli.options import JsonOption, Target, ToOption
from vancectl.cli.scope import Scope, scoped


@scoped
def new_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The recipe's name; `/` makes folders.")],
    to: ToOption = Target.PROJECT,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it does, and when.")] = "",
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="Its engine.", autocompletion=complete_engine)
    ] = "ford",
    trigger: Annotated[
        list[str] | None, typer.Option("--trigger", metavar="PHRASE", help="A trigger phrase (repeatable).")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Write a new recipe to begin with. A file that is there stays as it is."""
    from vancectl.cli.runs.written import create_recipe
    from vancectl.inventory.catalog import load_catalog
    from vancectl.inventory.draft import first_text

    found = load_catalog().find(engine)
    text = first_text(description, found.name, trigger or [])
    create_recipe(scope, name, to, text, scope.output(as_json=json_output))
