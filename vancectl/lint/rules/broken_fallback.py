"""A fallback that is broken."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.delegation.fallback import SETTING
from vancectl.inventory.cascade import UnknownRecipeError
from vancectl.inventory.recipe import BrokenRecipe
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
        recipe = library.cascade.find(named.value).recipe
    except UnknownRecipeError:
        return
    if isinstance(recipe, BrokenRecipe):
        yield RULE.at(named.place, key=SETTING, recipe=named.value)


RULE = LintRule(
    code="broken-fallback",
    severity=Severity.ERROR,
    sentence="`{key}` names the recipe `{recipe}`, which is broken",
    remedy="fix the recipe",
    why="After NONE with a trigger observed, `delegate` would fail instead of starting the fallback.",
    find=find,
)
