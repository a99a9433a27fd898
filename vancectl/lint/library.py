"""A library as the rules see it: the cascade's recipes, the engines there are, and where things stand in the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from vancectl.inventory.cascade import Cascade, Entry, RecipeFile
from vancectl.inventory.inventory import Inventory, take_inventory
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.lint.outline import Outline
from vancectl.selector.triggers.index import TriggerIndex


@dataclass
class Library:
    """One cascade, read for a whole check. `engines` is None where the catalog cannot be read."""

    cascade: Cascade
    engines: tuple[str, ...] | None = None
    _outlines: dict[Path, Outline] = field(default_factory=dict)
    _shadowed: dict[str, Recipe | BrokenRecipe] = field(default_factory=dict)

    @cached_property
    def entries(self) -> list[Entry]:
        return list(self.cascade.entries())

    @cached_property
    def inventory(self) -> Inventory:
        return take_inventory(self.cascade)

    @cached_property
    def recipes(self) -> list[Recipe]:
        """The usable recipes in force that are ours to write, those that are never selected included."""
        return [
            entry.recipe for entry in self.entries if isinstance(entry.recipe, Recipe) and entry.recipe.source is None
        ]

    @cached_property
    def by_name(self) -> Mapping[str, Recipe]:
        return {recipe.name: recipe for recipe in self.inventory.recipes}

    @cached_property
    def index(self) -> TriggerIndex:
        """The phrases of the inventory, looked for by the code that decides."""
        return TriggerIndex(self.inventory.recipes, many_tasks=True)

    def outline(self, file: str | Path) -> Outline:
        path = Path(file)
        if path not in self._outlines:
            self._outlines[path] = Outline(path)
        return self._outlines[path]

    def shadowed(self, file: RecipeFile) -> Recipe | BrokenRecipe:
        """What a shadowed file says; one that the scan found broken, such as a link out of its layer, is not read."""
        from vancectl.inventory.schema import load_recipe

        if file.layer.source is not None:
            return self.cascade.of_source(file)
        if file.path not in self._shadowed:
            broken = any(finding.breaks for finding in file.findings)
            self._shadowed[file.path] = (
                BrokenRecipe(file.name, file.layer, file.path, file.findings)
                if broken
                else load_recipe(file.name, file.layer, file.path)
            )
        return self._shadowed[file.path]
