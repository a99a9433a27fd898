"""A number with a leading zero, which YAML 1.1 reads in base 8."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.fields import plain_scalars
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.recipes:
        for text, kind, place in plain_scalars(library, recipe):
            if kind == "int" and len(text) > 1 and text[0] == "0" and text.isdigit():
                yield RULE.at(place, value=text, number=int(text, 8))


RULE = LintRule(
    code="yaml-octal",
    severity=Severity.WARNING,
    sentence="`{value}` is read as the number {number}, in base 8",
    remedy="quote it if the text is meant",
    why="YAML 1.1 reads a leading zero as base 8: `007` is 7, `010` is 8.",
    find=find,
)
