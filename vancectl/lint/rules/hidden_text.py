"""Invisible characters in a phrase or a description."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.hidden import first_hidden
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        for phrase in recipe.phrases:
            hidden = first_hidden(phrase)
            if hidden is not None:
                place = library.phrase_place(recipe, phrase)
                yield RULE.at(place, where=f"the phrase “{phrase}”", character=f"U+{ord(hidden):04X}")
    for recipe in library.described:
        hidden = first_hidden(recipe.description)
        if hidden is not None:
            place = library.outline(recipe.path).field("description")
            yield RULE.at(place, where="the description", character=f"U+{ord(hidden):04X}")


RULE = LintRule(
    code="hidden-text",
    severity=Severity.WARNING,
    sentence="{where} holds the invisible character {character}",
    remedy="remove it",
    why=(
        "Invisible characters can carry text that people do not see. They are left out of comparisons and "
        "of the model's prompt. Joiners and selectors that belong to an emoji or a script are in order."
    ),
    find=find,
)
