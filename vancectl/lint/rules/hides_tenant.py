"""A recipe of the project that hides one of the tenant."""

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
        if each.hides_tenant:
            yield RULE.at(Place(Path(each.recipe.path)), **each.data())


RULE = LintRule(
    code="hides-tenant",
    severity=Severity.WARNING,
    sentence="the project hides the tenant's recipe {other}; {difference}",
    remedy="rename it unless that is meant",
    why="The tenant's recipe may carry rules of the house; a project that hides it changes them.",
    find=find,
)
