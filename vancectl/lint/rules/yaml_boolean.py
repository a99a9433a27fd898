"""A word that YAML 1.1 reads as true or false; `true` and `false` themselves are meant."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.fields import plain_scalars
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

_BOOLEANS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.recipes:
        for text, kind, place in plain_scalars(library, recipe):
            if kind == "bool" and text.lower() in _BOOLEANS:
                yield RULE.at(place, value=text, kind=_BOOLEANS[text.lower()])


RULE = LintRule(
    code="yaml-boolean",
    severity=Severity.WARNING,
    sentence="`{value}` is read as {kind}",
    remedy="write {kind}, or quote it if the text is meant",
    why=(
        "YAML 1.1 reads yes, no, on and off as true and false: `country: no` is not Norway. `true` and "
        "`false` are taken as meant, and so is anything in quotes."
    ),
    find=find,
)
