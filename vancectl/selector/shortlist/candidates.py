"""The candidates for a task: the whole inventory, or beyond `routing.recipeListLimit` the best of a ranking."""

from __future__ import annotations

from _thread import allocate_lock  # what `threading` is made of, without loading it
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from vancectl.inventory.inventory import DEFAULT_RECIPE, Inventory

if TYPE_CHECKING:
    from vancectl.inventory.recipe import Recipe
    from vancectl.selector.decision import Hit
    from vancectl.selector.shortlist.ranker import Ranker
    from vancectl.settings.settings import Settings


class Shortlist(NamedTuple):
    """What a model is shown for a task, and the names of the rest, those that agree best with the task first."""

    shown: Sequence[Recipe]
    left_out: tuple[str, ...] = ()


class Candidates:
    """Narrows one inventory for many tasks; the ranking is built when it is first needed."""

    def __init__(self, inventory: Inventory, settings: Callable[[], Settings]) -> None:
        self.inventory = inventory
        self._recipes = inventory.recipes
        self._settings = settings
        self._lock = allocate_lock()

    @property
    def recipes(self) -> Sequence[Recipe]:
        return self._recipes

    @property
    def names(self) -> frozenset[str]:
        return frozenset(recipe.name for recipe in self._recipes)

    @property
    def total(self) -> int:
        return len(self._recipes)

    def shortlist(self, task: str, hits: Sequence[Hit]) -> Shortlist:
        """Trigger hits and `default` are always kept, and so is the inventory's order."""
        limit: int = self._settings()["routing.recipeListLimit"]
        if len(self._recipes) <= limit:
            return Shortlist(self._recipes)
        from vancectl.selector.shortlist.ranker import shortlist

        kept = {hit.recipe for hit in hits} | {DEFAULT_RECIPE}
        always = [index for index, recipe in enumerate(self._recipes) if recipe.name in kept]
        ranking = self._ranking(task)
        chosen = shortlist(ranking, limit, always)
        kept_indices = frozenset(chosen)
        left_out = [index for index in ranking if index not in kept_indices]
        return Shortlist(
            [self._recipes[index] for index in chosen], tuple(self._recipes[index].name for index in left_out)
        )

    def _ranking(self, task: str) -> Sequence[int]:
        """Tasks may be ranked at the same time; the ranker is built once all the same."""
        with self._lock:
            ranker = self._ranker
        return ranker.rank(task)

    def nearest(self, task: str) -> list[str]:
        """Recipe names by how well they agree with the task, best first."""
        return [self._recipes[index].name for index in self._ranking(task)]

    @cached_property
    def _ranker(self) -> Ranker:
        from vancectl.selector.shortlist.ranker import LexicalRanker, RecipeText

        return LexicalRanker(
            [
                RecipeText(
                    recipe.name, recipe.title or "", recipe.description, tuple(recipe.phrases), tuple(recipe.tags)
                )
                for recipe in self._recipes
            ]
        )
