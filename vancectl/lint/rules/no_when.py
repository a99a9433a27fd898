"""A description that does not say when to take the recipe. A thin one has been reported as that."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vancectl.lint.descriptions import LEAST_WORDS, count_words
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.selector.shortlist.terms import FUNCTION_TERMS, terms

# What tells when: English and German words that speak of the task or its asker, or set limits.
_WHEN = re.compile(
    r"\b(when|whenever|if|use[ds]?|using|take it|take this|choose|chosen|pick|for|asks?|wants?|needs?|not|never|unless|"
    r"instead|only|wenn|falls|sobald|nutze|nimm|verwende|für|will|wollen|soll|braucht|nicht|kein\w*|statt|nur)\b",
    re.I,
)


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.described:
        text = recipe.description
        if count_words(text) >= LEAST_WORDS and _speaks_english_or_german(text) and not _WHEN.search(text):
            yield RULE.at(library.outline(recipe.path).field("description"))


def _speaks_english_or_german(text: str) -> bool:
    return any(term in FUNCTION_TERMS for term in terms(text))


RULE = LintRule(
    code="no-when",
    severity=Severity.WARNING,
    sentence="the description says what the recipe does, but not when to take it",
    remedy="add a sentence such as “Take it when …; not for …”",
    why=(
        "What a recipe does is half of it; the model must also know for which tasks, and for which not. "
        "Only English and German texts are judged."
    ),
    find=find,
)
