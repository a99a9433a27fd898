"""The inventory: the recipes that the selector may choose, in the stable order that prompts rely on."""

from __future__ import annotations

from dataclasses import dataclass

from vancectl.inventory.cascade import Cascade
from vancectl.inventory.recipe import BrokenRecipe, Recipe


@dataclass(frozen=True, slots=True)
class Inventory:
    """The candidates, and the broken recipes that cannot be among them.

    Order: bundled, then tenant, then project additions, each by name; an override keeps the place of what it
    overrides (design, section 4).
    """

    recipes: tuple[Recipe, ...]
    broken: tuple[BrokenRecipe, ...] = ()


def routable(name: str) -> bool:
    """Whether the selector may choose a name: generated, on-demand and internal ones begin with `_`."""
    return not name.startswith("_")


def take_inventory(cascade: Cascade) -> Inventory:
    """The cascade's winners less `_…`, internal and broken ones."""
    recipes, broken = [], []
    for name in filter(routable, cascade.names):
        recipe = cascade.find(name).recipe
        if isinstance(recipe, BrokenRecipe):
            broken.append(recipe)
        elif not recipe.internal:
            recipes.append(recipe)
    return Inventory(tuple(recipes), tuple(broken))
