"""A phrase so short that it is hit by accident."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.phrases import is_short
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for each in library.phrases:
        if is_short(each):
            yield RULE.at(each.place, phrase=each.phrase)


RULE = LintRule(
    code="short-phrase",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” is so short that it is hit by accident",
    remedy="use two or more words",
    why=(
        "Below four letters (below two with `match: word`) a phrase is in many words by chance. "
        "Phrases with marks such as `c++`, and scripts that need one character for a word, are left alone."
    ),
    find=find,
)
