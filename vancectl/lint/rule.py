"""A rule of lint: one object in one file of `lint/rules`, with what finds the places that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from vancectl.errors import Place
from vancectl.lint.library import Library
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule(Rule):
    """`find` looks at a whole library; what several rules look at is computed once, on the library or beside it."""

    find: Callable[[Library], Iterator[Finding]]

    def at(self, place: Place, **data: Any) -> Finding:
        """The finding at a place, with what fills its texts."""
        return Finding(self.code, place, data, self)
