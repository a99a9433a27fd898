"""A phrase that is in the description of another recipe."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

_NAME = re.compile(r"[\w/-]+")


def find(library: Library) -> Iterator[Finding]:
    for other in library.inventory.recipes:
        if other.source is not None:
            continue  # its words are another program's
        named = set(_NAME.findall(other.description.lower()))
        for hit in library.index.hits(other.description):
            # A description that names the other recipe speaks of it, to say what it is itself not for.
            if hit.recipe != other.name and hit.recipe not in named:
                place = library.phrase_place(library.by_name[hit.recipe], hit.phrase)
                yield RULE.at(place, phrase=hit.phrase, other=other.name)


RULE = LintRule(
    code="in-description",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” is in the description of `{other}`, so tasks for that may hit it",
    remedy="use words that only this recipe's tasks have",
    why=(
        "The other recipe's own words hold this phrase, so tasks for it will, too. A description that "
        "names this recipe, to say what it is itself not for, is left alone."
    ),
    find=find,
)
