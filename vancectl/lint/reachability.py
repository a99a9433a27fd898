"""Which trigger phrases can decide alone, proved by the code that decides.

Whether a phrase is the only hit depends on nothing but what stands inside of it and on whether a letter touches its
edges. So four texts stand for all tasks that hold it: the phrase with a free edge or a strange letter on either side.
Where each of them also hits another recipe, every task does; where one does not, that text is the counter-example.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from vancectl.inventory.layer import LayerKind
from vancectl.inventory.recipe import Recipe
from vancectl.lint.library import Library
from vancectl.reading.finding import Finding
from vancectl.selector.decision import Hit
from vancectl.selector.triggers.index import Trigger, TriggerIndex
from vancectl.text.comparison import normalise, normalise_phrase

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


def trigger_findings(library: Library) -> Iterator[Finding]:
    """Phrases that can never be the only hit, and recipes all of whose phrases are such."""
    blocked = {(each.recipe, each.phrase): each for each in blocked_phrases(library.index)}
    for each in blocked.values():
        yield _never_alone(library, each)
    for recipe in library.inventory.recipes:
        phrases = [phrase for phrase in recipe.phrases if normalise_phrase(phrase)]
        if phrases and all((recipe.name, phrase) in blocked for phrase in phrases):
            yield Finding("dead-recipe", library.outline(recipe.path).field("triggers", "keywords"))
        yield from _redundant(library, recipe)


def _never_alone(library: Library, blocked: Blocked) -> Finding:
    """Told at the phrase; where that is bundled and what blocks it is not, at the latter, which can be changed."""
    recipe = library.by_name[blocked.recipe]
    place = library.outline(recipe.path).item(("triggers", "keywords"), blocked.phrase)
    if recipe.layer.kind is LayerKind.BUNDLED:
        for hit in blocked.by:
            other = library.by_name[hit.recipe]
            if other.layer.kind is not LayerKind.BUNDLED:
                place = library.outline(other.path).item(("triggers", "keywords"), hit.phrase)
                break
    data = {
        "recipe": blocked.recipe,
        "phrase": blocked.phrase,
        "blockers": _in_words(blocked.by),
        "blockedBy": [{"recipe": hit.recipe, "phrase": hit.phrase} for hit in blocked.by],
    }
    return Finding("never-alone", place, data)


def _in_words(hits: Sequence[Hit]) -> str:
    return ", ".join(f"“{hit.phrase}” of `{hit.recipe}`" for hit in hits)


def _redundant(library: Library, recipe: Recipe) -> Iterator[Finding]:
    """Phrases that never hit without another one of the same recipe, those included that are compared like it."""
    first: dict[str, str] = {}
    for phrase, place in library.outline(recipe.path).items(("triggers", "keywords")):
        folded = normalise_phrase(phrase)
        if folded and folded in first:
            yield Finding("redundant-phrase", place, {"phrase": phrase, "other": first[folded]})
        first.setdefault(folded, phrase)
    triggers = TriggerIndex([recipe]).triggers
    letter = strange_letter(trigger.folded for trigger in triggers)
    # As if each phrase were a recipe of its own: what then always hits along with it makes it superfluous.
    alone = TriggerIndex([])
    alone.triggers = [trigger._replace(recipe=str(number)) for number, trigger in enumerate(triggers)]
    gone: set[str] = set()
    for number, trigger in enumerate(alone.triggers):
        by = always_hit(alone, trigger, letter)
        # Of two that fold to the same, the first stays.
        same = {str(each) for each in range(number, len(triggers)) if triggers[each].folded == trigger.folded}
        others = [hit for hit in by or () if hit.recipe not in same and hit.recipe not in gone]
        if others:
            gone.add(trigger.recipe)
            place = library.outline(recipe.path).item(("triggers", "keywords"), trigger.phrase)
            yield Finding("redundant-phrase", place, {"phrase": trigger.phrase, "other": others[0].phrase})
