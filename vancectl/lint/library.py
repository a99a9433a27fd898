"""A library as the rules see it: the cascade's recipes, the engines there are, and where things stand in the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from vancectl.errors import CatalogError, Place, SettingsError
from vancectl.inventory.cascade import Cascade, Entry, RecipeFile
from vancectl.inventory.catalog import EngineCatalog, load_catalog
from vancectl.inventory.inventory import Inventory, take_inventory
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.lint.descriptions import Likest, find_likest
from vancectl.lint.outline import Outline
from vancectl.lint.phrases import WrittenPhrase
from vancectl.lint.reachability import Blocked, blocked_phrases
from vancectl.lint.wordlist import WordList
from vancectl.routes.case import Case
from vancectl.selector.triggers.index import TriggerIndex
from vancectl.settings.settings import Settings
from vancectl.text.comparison import normalise_phrase


@dataclass
class Library:
    """One cascade, read for a whole check. What several rules look at is computed here once.

    `words` are those of a language, where a list of them is installed; `cases` are held against the phrases.
    """

    cascade: Cascade
    load_settings: Callable[[], Settings]
    load_catalog: Callable[[], EngineCatalog] = load_catalog
    words: WordList | None = None
    cases: Sequence[Case] = ()
    _outlines: dict[Path, Outline] = field(default_factory=dict)
    _shadowed: dict[str, Recipe | BrokenRecipe] = field(default_factory=dict)

    @cached_property
    def entries(self) -> list[Entry]:
        return list(self.cascade.entries())

    @cached_property
    def settings(self) -> Settings | SettingsError:
        try:
            return self.load_settings()
        except SettingsError as error:
            return error

    @cached_property
    def catalog(self) -> EngineCatalog | CatalogError:
        try:
            return self.load_catalog()
        except CatalogError as error:
            return error

    @property
    def engines(self) -> tuple[str, ...] | None:
        """Their names; None where the catalog cannot be read."""
        return None if isinstance(self.catalog, CatalogError) else tuple(self.catalog.names)

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

    @cached_property
    def described(self) -> list[Recipe]:
        """Those of the inventory whose descriptions are ours to write."""
        return [recipe for recipe in self.inventory.recipes if recipe.source is None]

    @cached_property
    def phrases(self) -> list[WrittenPhrase]:
        """Every phrase of the inventory in which there is something to compare."""
        return [
            WrittenPhrase(recipe, phrase, folded, self.phrase_place(recipe, phrase))
            for recipe in self.inventory.recipes
            for phrase in recipe.phrases
            if (folded := normalise_phrase(phrase))
        ]

    @cached_property
    def blocked(self) -> Mapping[tuple[str, str], Blocked]:
        """The phrases that can never be the only hit, by recipe and phrase."""
        return {(each.recipe, each.phrase): each for each in blocked_phrases(self.index)}

    @cached_property
    def likest(self) -> Mapping[str, Likest]:
        """By name, the recipes whose description is too much like that of another one."""
        places = [self.outline(recipe.path).field("description") for recipe in self.described]
        return find_likest(self.described, places)

    def phrase_place(self, recipe: Recipe, phrase: str) -> Place:
        return self.outline(recipe.path).item(("triggers", "keywords"), phrase)

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
