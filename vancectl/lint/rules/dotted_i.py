"""A phrase with a Turkish i, which folds to another letter."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

# Of each pair, folding case without a language makes the other letter of one.
_TURKISH = {"ı": "i", "İ": "i"}


def find(library: Library) -> Iterator[Finding]:
    for each in library.phrases:
        letter = next((letter for letter in each.phrase if letter in _TURKISH), None)
        if letter is not None:
            yield RULE.at(each.place, phrase=each.phrase, letter=letter, like=_TURKISH[letter])


RULE = LintRule(
    code="dotted-i",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” holds {letter}, and in the other case its letter is that of {like}",
    remedy="list the phrase with {like} as well",
    why="Comparison knows no language: `SATIR` folds to `satir`, not to `satır` as a Turkish reader expects.",
    find=find,
)
