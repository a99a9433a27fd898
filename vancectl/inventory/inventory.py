"""The inventory: the recipes that the selector may choose, in the stable order that prompts rely on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from vancectl.inventory.cascade import Cascade
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.reading.finding import Finding


class Inventory(NamedTuple):
    """The candidates, the broken recipes that cannot be among them, and the folders that cannot be read.

    Order: bundled, then tenant, then project additions, each by name; an override keeps the place of what it
    overrides (docs/design.md, section 4). `shadows` are the files that a name's winner hides, for those that hide any;
    `tenant` is the name of one that a project chose, and the file that names it.
    """

    recipes: tuple[Recipe, ...]
    broken: tuple[BrokenRecipe, ...] = ()
    unread: tuple[Finding, ...] = ()
    shadows: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    tenant: tuple[str, str] | None = None

    @property
    def faults(self) -> list[str]:
        """What is missing and why, each fault in one line and once."""
        broken = [f"broken recipe left out: {each.fault}" for each in self.broken]
        return [*broken, *(each.line() for each in self.unread)]


# Started after NONE, never left out of a shortlist, and what every other recipe must stand out from.
DEFAULT_RECIPE = "default"
# Holds the model and the prompt of the selector itself: an override that forgets `internal` is still no candidate.
SELECTOR_RECIPE = "recipe-selector"


def routable(name: str) -> bool:
    """Whether the selector may choose a name: generated, on-demand and internal ones begin with `_`."""
    return not name.startswith("_") and name != SELECTOR_RECIPE


def take_inventory(cascade: Cascade) -> Inventory:
    """The cascade's winners less `_…`, internal and broken ones."""
    recipes, broken = [], []
    shadows: dict[str, tuple[str, ...]] = {}
    unread = tuple(folder.findings[0] for folder in cascade.unread)
    for entry in cascade.entries():
        recipe = entry.recipe
        if not routable(entry.name):
            continue
        if isinstance(recipe, BrokenRecipe):
            if recipe.finding not in unread:  # said once for all names that the folder may hold
                broken.append(recipe)
        elif not recipe.internal:
            recipes.append(recipe)
            if entry.shadows:
                shadows[recipe.name] = entry.shadowed_paths
    return Inventory(tuple(recipes), tuple(broken), unread, shadows, cascade.layers.tenant_of_project)
