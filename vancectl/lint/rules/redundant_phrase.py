"""A phrase that never hits without another one of the same recipe."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.inventory.recipe import Recipe
from vancectl.lint.library import Library
from vancectl.lint.reachability import always_hit, strange_letter
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.selector.triggers.index import TriggerIndex
from vancectl.text.comparison import normalise_phrase


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        yield from _compared_alike(library, recipe)
        yield from _contained(library, recipe)


def _compared_alike(library: Library, recipe: Recipe) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for phrase, place in library.outline(recipe.path).items(("triggers", "keywords")):
        folded = normalise_phrase(phrase)
        if folded and folded in first:
            yield RULE.at(place, phrase=phrase, other=first[folded])
        first.setdefault(folded, phrase)


def _contained(library: Library, recipe: Recipe) -> Iterator[Finding]:
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
            yield RULE.at(library.phrase_place(recipe, trigger.phrase), phrase=trigger.phrase, other=others[0].phrase)


RULE = LintRule(
    code="redundant-phrase",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” adds nothing to “{other}”, which is in it",
    remedy="remove one of them",
    why=(
        "Where a phrase is contained in another one of the same recipe, the longer one hits only where the "
        "shorter one does, too. Case, blanks, quotes, dashes and what no one sees do not count in the "
        "comparison."
    ),
    find=find,
)
