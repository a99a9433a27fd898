"""A recipe that takes the place of another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.lint.library import Library
from vancectl.lint.overrides import overrides
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for each in overrides(library):
        if not each.hides_tenant:
            yield RULE.at(Place(Path(each.recipe.path)), **each.data())


RULE = LintRule(
    code="shadows",
    severity=Severity.NOTE,
    sentence="takes the place of the {layer} recipe {other}; {difference}",
    remedy="`vancectl recipes show` has more",
    why="An override takes the place of a whole recipe; nothing is merged. This is only a note.",
    find=find,
)
