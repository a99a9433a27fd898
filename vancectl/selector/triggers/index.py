"""Stage one: trigger phrases decide alone when exactly one recipe is hit (docs/design.md, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vancectl.inventory.recipe import Recipe
from vancectl.selector.decision import Hit
from vancectl.selector.triggers.phrase import at_whole_words, keeps_positions, span_in_original
from vancectl.text.comparison import normalise, normalise_phrase

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

# Looking for each phrase in turn is quicker than building an automaton for a single task, and for a few phrases.
AUTOMATON_MIN_PHRASES = 32

# A trigger's number, and where its phrase stands in the task as it was given.
Found = tuple[int, int, int]


class Trigger(NamedTuple):
    """One phrase of one recipe; `folded` is what is looked for in the normalised task."""

    recipe: str
    phrase: str
    folded: str
    whole_words: bool


class TriggerIndex:
    """The phrases of an inventory, ready to be looked for; for many tasks an automaton finds all in one pass."""

    def __init__(self, recipes: Iterable[Recipe], *, many_tasks: bool = False) -> None:
        self.triggers = [
            Trigger(recipe.name, phrase, folded, recipe.whole_words)
            for recipe in recipes
            for phrase, folded in zip(recipe.phrases, _folded(recipe), strict=True)
            if folded
        ]
        self._automaton = self._build() if many_tasks and len(self.triggers) >= AUTOMATON_MIN_PHRASES else None

    def hits(self, task: str) -> tuple[Hit, ...]:
        """Every phrase in the task, once, in the inventory's order."""
        triggers = self.triggers
        return tuple(
            Hit(triggers[number].recipe, triggers[number].phrase, start, end) for number, start, end in self.find(task)
        )

    def find(self, task: str) -> list[Found]:
        """The same by the triggers' numbers."""
        text = normalise(task)
        found = self._by_automaton(text) if self._automaton is not None else self._one_by_one(text)
        if not found or keeps_positions(task, text):
            return found
        return [(number, *span_in_original(task, start, end)) for number, start, end in found]

    def places(self, task: str) -> list[Hit]:
        """Every place of every phrase in the task, in its order: for a person who wants to see them."""
        text = normalise(task)
        found = [
            Hit(trigger.recipe, trigger.phrase, *span_in_original(task, start, start + len(trigger.folded)))
            for trigger in self.triggers
            for start in self._places(trigger, text)
        ]
        return sorted(found, key=lambda hit: (hit.start, hit.end))

    def _one_by_one(self, text: str) -> list[Found]:
        return [
            (number, start, start + len(trigger.folded))
            for number, trigger in enumerate(self.triggers)
            if (start := next(self._places(trigger, text), -1)) >= 0
        ]

    def _places(self, trigger: Trigger, text: str) -> Iterator[int]:
        start = text.find(trigger.folded)
        while start >= 0:
            if not trigger.whole_words or at_whole_words(text, start, start + len(trigger.folded)):
                yield start
            start = text.find(trigger.folded, start + 1)

    def _build(self) -> AhoCorasick:
        from ahocorasick_rs import AhoCorasick, MatchKind

        return AhoCorasick([trigger.folded for trigger in self.triggers], matchkind=MatchKind.Standard)

    def _by_automaton(self, text: str) -> list[Found]:
        assert self._automaton is not None
        first: dict[int, Found] = {}
        for found in self._automaton.find_matches_as_indexes(text, overlapping=True):
            number, start, end = found
            if number not in first and (not self.triggers[number].whole_words or at_whole_words(text, start, end)):
                first[number] = found
        return [first[number] for number in sorted(first)] if len(first) > 1 else list(first.values())


def _folded(recipe: Recipe) -> Sequence[str]:
    """Its phrases in the form in which they are compared; what is read from a file brings them along."""
    return recipe.folded or [normalise_phrase(phrase) for phrase in recipe.phrases]


def single_recipe(hits: Iterable[Hit]) -> str | None:
    """The recipe that all hits belong to; None without hits and with several recipes: recipes count, not phrases."""
    recipes = {hit.recipe for hit in hits}
    return recipes.pop() if len(recipes) == 1 else None
