"""Stage one: trigger phrases decide alone when exactly one recipe is hit (specification, routing 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vancectl.inventory.recipe import Recipe
from vancectl.selector.decision import Hit
from vancectl.selector.phrase import at_whole_words, normalise, normalise_phrase, span_in_original


@dataclass(frozen=True, slots=True)
class Trigger:
    """One phrase of one recipe; `folded` is what is looked for in the normalised task."""

    recipe: str
    phrase: str
    folded: str
    whole_words: bool


class TriggerIndex:
    """The phrases of an inventory, ready to be looked for in many tasks."""

    def __init__(self, recipes: Iterable[Recipe]) -> None:
        self.triggers = [
            Trigger(recipe.name, phrase, folded, recipe.whole_words)
            for recipe in recipes
            for phrase in recipe.phrases
            if (folded := normalise_phrase(phrase))
        ]

    def hits(self, task: str) -> tuple[Hit, ...]:
        """Every phrase in the task, once, in the inventory's order."""
        text = normalise(task)
        return tuple(
            Hit(trigger.recipe, trigger.phrase, *span_in_original(task, start, start + len(trigger.folded)))
            for trigger, start in self._found(text)
        )

    def _found(self, text: str) -> Iterator[tuple[Trigger, int]]:
        for trigger in self.triggers:
            start = text.find(trigger.folded)
            while start >= 0:
                if not trigger.whole_words or at_whole_words(text, start, start + len(trigger.folded)):
                    yield trigger, start
                    break
                start = text.find(trigger.folded, start + 1)


def single_recipe(hits: Iterable[Hit]) -> str | None:
    """The recipe that all hits belong to; None without hits and with several recipes: recipes count, not phrases."""
    recipes = {hit.recipe for hit in hits}
    return recipes.pop() if len(recipes) == 1 else None
