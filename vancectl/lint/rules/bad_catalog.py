"""A catalog that cannot be used; what is wrong with one that can is of the readers."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.errors import CatalogError
from vancectl.lint.library import Library
from vancectl.lint.readiness import place_of
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    if isinstance(library.catalog, CatalogError):
        error = library.catalog
        yield RULE.at(place_of(error), problem=error.what(), advice=error.remedy)


RULE = LintRule(
    code="bad-catalog",
    severity=Severity.ERROR,
    sentence="the catalog cannot be used: {problem}",
    remedy="{advice}",
    why="Without a catalog the model does not know what the engines are for.",
    find=find,
)
