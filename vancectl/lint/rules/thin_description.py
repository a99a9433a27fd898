"""A description of so few words that a model cannot choose by it."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.descriptions import LEAST_WORDS, count_words
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.described:
        words = count_words(recipe.description)
        if words < LEAST_WORDS:
            yield RULE.at(library.outline(recipe.path).field("description"), count=words, least=LEAST_WORDS)


RULE = LintRule(
    code="thin-description",
    severity=Severity.WARNING,
    sentence="the description has {count} words; a model cannot choose by so few",
    remedy="say in {least} words or more what it does, when to take it, and what it is not for",
    why="The description is all that the model reads of a recipe besides name and engine.",
    find=find,
)
