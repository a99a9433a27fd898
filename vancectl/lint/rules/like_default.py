"""A description in which nothing tells the recipe from `default`."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.inventory.inventory import DEFAULT_RECIPE
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.selector.shortlist.terms import FUNCTION_TERMS, terms


def find(library: Library) -> Iterator[Finding]:
    default = next((recipe for recipe in library.described if recipe.name == DEFAULT_RECIPE), None)
    if default is None:
        return
    known = {*terms(default.description), *FUNCTION_TERMS}
    for recipe in library.described:
        # One that is like another has been reported as that.
        if recipe is not default and recipe.name not in library.likest and not set(terms(recipe.description)) - known:
            yield RULE.at(library.outline(recipe.path).field("description"))


RULE = LintRule(
    code="like-default",
    severity=Severity.WARNING,
    sentence="the description cannot be told from that of `default`: it has no word of its own",
    remedy="name what only this recipe does",
    why="A task that fits would fit `default` as well, which is started anyway when nothing matches.",
    find=find,
)
