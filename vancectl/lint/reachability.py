"""Which trigger phrases can decide alone, proved by the code that decides.

Whether a phrase is the only hit depends on nothing but what stands inside of it and on whether a letter touches its
edges. So four texts stand for all tasks that hold it: the phrase with a free edge or a strange letter on either side.
Where each of them also hits another recipe, every task does; where one does not, that text is the counter-example.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from vancectl.selector.decision import Hit
from vancectl.selector.triggers.index import Trigger, TriggerIndex
from vancectl.text.comparison import normalise

_FIRST_STRANGE_LETTER = 0x0250


@dataclass(frozen=True, slots=True)
class Blocked:
    """A phrase that can never be the only hit. `by` are hits of other recipes that it always brings along."""

    recipe: str
    phrase: str
    by: tuple[Hit, ...]


def blocked_phrases(index: TriggerIndex) -> Iterator[Blocked]:
    """Every phrase of an inventory that cannot decide alone, with what stands in its way."""
    letter = strange_letter(trigger.folded for trigger in index.triggers)
    for trigger in index.triggers:
        by = always_hit(index, trigger, letter)
        if by is not None:
            yield Blocked(trigger.recipe, trigger.phrase, by)


def always_hit(index: TriggerIndex, trigger: Trigger, letter: str) -> tuple[Hit, ...] | None:
    """Hits of other recipes in every task that holds a phrase; None where some task hits its recipe alone."""
    edges = ("",) if trigger.whole_words else ("", letter)
    found: list[tuple[Hit, ...]] = []
    for before, after in product(edges, edges):
        others = tuple(hit for hit in index.hits(before + trigger.folded + after) if hit.recipe != trigger.recipe)
        if not others:
            return None
        found.append(others)
    named = [{(hit.recipe, hit.phrase) for hit in others} for others in found]
    everywhere = set.intersection(*named)
    # One phrase that stands in all four says it best; else each text has a blocker of its own.
    shown = everywhere or set.union(*named)
    hits = {(hit.recipe, hit.phrase): hit for others in found for hit in others}
    return tuple(hit for key, hit in hits.items() if key in shown)


def strange_letter(phrases: Iterable[str]) -> str:
    """A letter that no phrase has, and that normalising leaves as it is."""
    used = set("".join(phrases))
    code = _FIRST_STRANGE_LETTER
    while chr(code) in used or not chr(code).isalpha() or normalise(chr(code)) != chr(code):
        code += 1
    return chr(code)


def taken_phrases(index: TriggerIndex, name: str) -> dict[str, list[str]]:
    """By recipe, the phrases that one recipe's own keep from deciding."""
    taken: dict[str, list[str]] = defaultdict(list)
    for each in blocked_phrases(index):
        if each.recipe != name and any(hit.recipe == name for hit in each.by):
            taken[each.recipe].append(each.phrase)
    return dict(taken)
