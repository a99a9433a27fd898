"""An engine that is not in the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    if library.engines is None:
        return
    for recipe in library.recipes:
        if recipe.engine not in library.engines:
            place = library.outline(recipe.path).field("engine")
            yield RULE.at(place, engine=recipe.engine, known=library.engines, nearest_to=recipe.engine)


RULE = LintRule(
    code="unknown-engine",
    severity=Severity.WARNING,
    sentence="the engine `{engine}` is not in the catalog{nearest}",
    remedy="see `vancectl catalog show`",
    why="Nothing says when such an engine is to be taken, and the spawn command may not know it.",
    find=find,
)
