"""A recipe none of whose phrases can decide alone."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.text.comparison import normalise_phrase


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        phrases = [phrase for phrase in recipe.phrases if normalise_phrase(phrase)]
        if phrases and all((recipe.name, phrase) in library.blocked for phrase in phrases):
            yield RULE.at(library.outline(recipe.path).field("triggers", "keywords"))


RULE = LintRule(
    code="dead-recipe",
    severity=Severity.WARNING,
    sentence="none of its phrases can decide alone",
    remedy="give it a phrase that no other recipe has a part of",
    why="Each of its phrases is blocked, so triggers never choose this recipe; only the model does.",
    find=find,
)
