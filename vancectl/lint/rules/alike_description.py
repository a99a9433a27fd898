"""Two descriptions between which no reader could choose."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for likest in library.likest.values():
        if not likest.same:
            yield RULE.at(likest.place, other=likest.other, likeness=likest.likeness)


RULE = LintRule(
    code="alike-description",
    severity=Severity.WARNING,
    sentence="the description is so much like that of `{other}` ({likeness:.0%}) that no reader could choose",
    remedy="say in each what the other is for",
    why=(
        "Measured as the cosine of both texts' words, rare words weighing more. From 85 per cent on two "
        "descriptions differ in hardly a word that matters."
    ),
    find=find,
)
