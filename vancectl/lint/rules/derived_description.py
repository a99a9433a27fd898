"""A recipe of another program that has no description of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        if recipe.source is not None and recipe.source.get("derived"):
            yield RULE.at(Place(Path(recipe.path)), name=recipe.name)


RULE = LintRule(
    code="derived-description",
    severity=Severity.NOTE,
    sentence="`{name}` has no description; its first words take its place",
    remedy="`vancectl recipes adopt {name}` writes one",
    why="A model chooses by descriptions; first words are a guess at one.",
    find=find,
)
