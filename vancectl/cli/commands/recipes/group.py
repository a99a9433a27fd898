"""`vancectl recipes`: the table of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from vancectl.cli.group import Lazy, LazyGroup

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE = "vancectl.cli.commands.recipes"
RECIPES: Mapping[str, Lazy] = {
    "list": Lazy(f"{_HERE}.list:list_recipes", "List the recipes in force, broken ones with their fault."),
    "show": Lazy(
        f"{_HERE}.show:show_recipe",
        "Show a recipe as it would be applied, its file, its layer, and what it shadows.",
    ),
    "path": Lazy(
        f"{_HERE}.path:show_path",
        "Show the directories of the cascade, nearest first, existing or not.",
    ),
    "lint": Lazy(
        f"{_HERE}.lint:lint_recipes",
        "Check recipes, settings and catalog, and report what will go wrong.",
    ),
    "shadowed": Lazy(
        f"{_HERE}.shadowed:shadowed_recipes",
        "Show which recipes hide others of their name, and how they differ.",
    ),
    "map": Lazy(
        f"{_HERE}.map:map_recipes",
        "Draw which recipes share triggers, and which descriptions lie close together.",
    ),
    "new": Lazy(f"{_HERE}.new:new_recipe", "Write a new recipe to begin with."),
    "copy": Lazy(
        f"{_HERE}.copy:copy_recipe",
        "Copy a recipe into a nearer layer, to change it there.",
    ),
    "adopt": Lazy(
        f"{_HERE}.adopt:adopt_recipe",
        "Write a recipe in the place of another program's: with triggers of yours, and still started by that program.",
    ),
    "edit": Lazy(
        f"{_HERE}.edit:edit_recipe",
        "Open a recipe in $VISUAL or $EDITOR; what cannot be used is not saved.",
    ),
    "diff": Lazy(
        f"{_HERE}.diff:diff_recipes",
        "Compare two states of a library: recipes, shadowing, triggers, and what tasks get.",
    ),
}


class Recipes(LazyGroup):
    table = RECIPES


app = typer.Typer(cls=Recipes, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def recipes() -> None:
    """Recipes: list and show them, check them, write new ones."""
