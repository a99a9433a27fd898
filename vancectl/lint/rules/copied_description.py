"""Two recipes with the same description."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for likest in library.likest.values():
        if likest.same:
            yield RULE.at(likest.place, other=likest.other, likeness=likest.likeness)


RULE = LintRule(
    code="copied-description",
    severity=Severity.WARNING,
    sentence="the description is the same as that of `{other}`",
    remedy="say how the two differ",
    why="Of two recipes with the same description the model can only guess.",
    find=find,
)
