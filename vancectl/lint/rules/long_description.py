"""A description that makes each question to the model long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

MOST_CHARACTERS = 1_500
# Of a recipe of another program: as much as a question to the model shows, where the settings do not say otherwise.
MOST_SHOWN = 1_000


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        foreign = recipe.source is not None
        most = MOST_SHOWN if foreign else MOST_CHARACTERS
        if len(recipe.description) > most:
            place = Place(Path(recipe.path)) if foreign else library.outline(recipe.path).field("description")
            yield RULE.at(place, count=len(recipe.description), most=most)


RULE = LintRule(
    code="long-description",
    severity=Severity.WARNING,
    sentence="the description has {count:,} characters, and each question to the model holds them all",
    remedy="keep it under {most:,}",
    why="All descriptions go into each question: a long one costs on every call and buries the others.",
    find=find,
)
