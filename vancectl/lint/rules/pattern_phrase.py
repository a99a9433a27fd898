"""A phrase that is written as a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

# What people bring along from tools whose phrases are patterns. No word of a language looks like these.
_PATTERNS = {
    "a regular expression": re.compile(
        r"\\[bBdDsSwW.]|\.[*+]|\(\?|[\w)]\|[\w(]|\[[^\]\s]*[-^][^\]\s]*\]|^\^|\w\$$|\w\{\d+(,\d*)?\}|^/.+/[a-z]?$"
    ),
    "a glob": re.compile(r"\*[./\w]|[./\w]\*|\{\w+(,\w+)+\}"),
    "a template": re.compile(r"\$[A-Z_]{2,}|\$\{|\{\{|\{\w*\}|<\w+>|\$\d\b"),
    "a list": re.compile(r"^[^,]+(,[^,]+){2,}$|\w\s*[;|]\s*\w"),
}


def find(library: Library) -> Iterator[Finding]:
    for each in library.phrases:
        kind = next((kind for kind, pattern in _PATTERNS.items() if pattern.search(each.phrase)), None)
        if kind is not None:
            yield RULE.at(each.place, phrase=each.phrase, kind=kind)


RULE = LintRule(
    code="pattern-phrase",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” looks like {kind}, but is looked for as it is written",
    remedy="write phrases as people say them, each as an entry of its own",
    why=(
        "Phrases are plain text: regular expressions, globs, placeholders and comma lists are matched "
        "letter by letter, which hardly any task satisfies."
    ),
    find=find,
)
