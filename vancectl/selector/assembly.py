"""Puts the selector together from settings, the recipe `recipe-selector`, the engine catalog and the inventory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from vancectl.errors import CatalogError
from vancectl.folders import defaults_dir
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.catalog import load_catalog
from vancectl.inventory.inventory import Inventory
from vancectl.inventory.layer import Layer, LayerKind
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.inventory.schema import load_recipe
from vancectl.selector.decision import Hit, Reason
from vancectl.selector.model import Model, ModelError, resolve_model
from vancectl.selector.prompt import Prompt
from vancectl.selector.selector import Selector
from vancectl.selector.semantic import Semantic
from vancectl.settings import Settings

if TYPE_CHECKING:
    from vancectl.selector.shortlist import Ranker

SELECTOR_RECIPE = "recipe-selector"
DEFAULT_RECIPE = "default"
MAX_TOKENS = 4096


def assemble_selector(
    cascade: Cascade, inventory: Inventory, settings: Callable[[], Settings], model: str | None = None
) -> Selector:
    """A selector whose costly parts are built when a task first needs them. `model` is the caller's wish, if any."""
    shortlist = Shortlist(inventory, settings)

    def build() -> Semantic:
        return _semantic(cascade, inventory, settings(), shortlist, model)

    return Selector(inventory, build, shortlist.nearest)


class Shortlist:
    """The candidates for a task: the whole inventory, or beyond `routing.recipeListLimit` the best of a ranking."""

    def __init__(self, inventory: Inventory, settings: Callable[[], Settings]) -> None:
        self._recipes = inventory.recipes
        self._settings = settings

    def __call__(self, task: str, hits: Sequence[Hit]) -> Sequence[Recipe]:
        """Trigger hits and `default` are always kept, and so is the inventory's order."""
        limit: int = self._settings()["routing.recipeListLimit"]
        if len(self._recipes) <= limit:
            return self._recipes
        from vancectl.selector.shortlist import shortlist

        kept = {hit.recipe for hit in hits} | {DEFAULT_RECIPE}
        always = [index for index, recipe in enumerate(self._recipes) if recipe.name in kept]
        return [self._recipes[index] for index in shortlist(self._ranker.rank(task), limit, always)]

    def nearest(self, task: str) -> list[str]:
        """Recipe names by how well they agree with the task, best first."""
        return [self._recipes[index].name for index in self._ranker.rank(task)]

    @cached_property
    def _ranker(self) -> Ranker:
        from vancectl.selector.shortlist import LexicalRanker, RecipeText

        return LexicalRanker(
            [
                RecipeText(
                    recipe.name, recipe.title or "", recipe.description, tuple(recipe.phrases), tuple(recipe.tags)
                )
                for recipe in self._recipes
            ]
        )


def _semantic(
    cascade: Cascade, inventory: Inventory, settings: Settings, shortlist: Shortlist, wanted: str | None
) -> Semantic:
    """Raises ModelError where there is no model to ask, or no prompt or catalog to ask with."""
    recipe = _selector_recipe(cascade)
    model = _model(settings, recipe, wanted)
    prompt = _prompt(recipe, inventory, shortlist)
    return Semantic(model, prompt, settings["selector.timeout"], settings["selector.maxAttempts"])


def assemble_prompt(cascade: Cascade, inventory: Inventory, settings: Callable[[], Settings]) -> Prompt:
    """The prompt alone, for a look at its size; needs no key. Raises ModelError where it lacks a part."""
    return _prompt(_selector_recipe(cascade), inventory, Shortlist(inventory, settings))


def _prompt(recipe: Recipe, inventory: Inventory, shortlist: Shortlist) -> Prompt:
    try:
        catalog = load_catalog()
    except CatalogError as error:
        raise ModelError(Reason.NO_MODEL, f"{error.what()} ({error.where}); {error.remedy}") from None
    return Prompt(str(recipe.fields.get("promptPrefix", "")), catalog, shortlist, len(inventory.recipes))


def _selector_recipe(cascade: Cascade) -> Recipe:
    """The cascade's `recipe-selector`; where `--recipes` replaced the cascade, the bundled one."""
    if SELECTOR_RECIPE in cascade.names:
        recipe = cascade.find(SELECTOR_RECIPE).recipe
    else:
        layer = Layer(LayerKind.BUNDLED, defaults_dir() / "recipes")
        recipe = load_recipe(SELECTOR_RECIPE, layer, layer.directory / f"{SELECTOR_RECIPE}.yaml")
    if isinstance(recipe, BrokenRecipe):
        raise ModelError(Reason.NO_MODEL, f"the recipe `{SELECTOR_RECIPE}` is broken: {recipe.fault}")
    return recipe


def _model(settings: Settings, recipe: Recipe, wanted: str | None) -> Model:
    from vancectl.selector.llm import KEY_VARIABLES, AnthropicModel, find_credential

    backend = settings["selector.backend"]
    if backend == "off":
        raise ModelError(Reason.MODEL_OFF, "no model is asked, since selector.backend is `off`")
    if backend == "command":
        from vancectl.selector.program import ProgramModel

        argv = settings["selector.command"]
        if not argv:
            raise ModelError(Reason.NO_MODEL, "selector.backend is `command`, but selector.command names no program")
        return ProgramModel(argv)
    if find_credential() is None:
        raise ModelError(
            Reason.NO_KEY,
            f"no model to ask: set {KEY_VARIABLES[0]}, or selector.backend to `command` with a selector.command",
        )
    chosen = wanted or os.environ.get("VANCECTL_MODEL") or settings["selector.model"] or recipe.params.get("model")
    if not isinstance(chosen, str):
        raise ModelError(
            Reason.NO_MODEL, f"no model is named; set selector.model or params.model of `{SELECTOR_RECIPE}`"
        )
    tokens = recipe.params.get("maxTokens", MAX_TOKENS)
    return AnthropicModel(
        resolve_model(chosen, settings["models"]), tokens if isinstance(tokens, int) and tokens > 0 else MAX_TOKENS
    )
