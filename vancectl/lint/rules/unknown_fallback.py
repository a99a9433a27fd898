"""A fallback that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.delegation.fallback import SETTING
from vancectl.inventory.cascade import UnknownRecipeError
from vancectl.lint.library import Library
from vancectl.lint.readiness import fallback
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    named = fallback(library)
    if named is None:
        return
    try:
        library.cascade.find(named.value)
    except UnknownRecipeError as error:
        yield RULE.at(named.place, key=SETTING, recipe=named.value, known=tuple(error.near), nearest_to=named.value)


RULE = LintRule(
    code="unknown-fallback",
    severity=Severity.ERROR,
    sentence="`{key}` names the recipe `{recipe}`, which is not there{nearest}",
    remedy="name another",
    why="After NONE with a trigger observed, `delegate` would fail instead of starting the fallback.",
    find=find,
)
