"""A recipe with another engine than the one whose place it takes."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.inventory.recipe import Recipe
from vancectl.lint.library import Library
from vancectl.lint.overrides import overrides
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for each in overrides(library):
        recipe, hidden = each.recipe, each.hidden
        # The nearest one that is hidden is what held before.
        if not (each.nearest and isinstance(recipe, Recipe) and isinstance(hidden, Recipe)):
            continue
        if recipe.engine != hidden.engine:
            place = library.outline(recipe.path).field("engine")
            yield RULE.at(place, engine=recipe.engine, before=hidden.engine, layer=hidden.layer.kind.value)


RULE = LintRule(
    code="engine-changed",
    severity=Severity.WARNING,
    sentence="the engine is `{engine}`, but `{before}` in the {layer} recipe whose place it takes",
    remedy="give the recipe a name of its own if it does something else",
    why="A caller that names the recipe gets another kind of worker than before.",
    find=find,
)
