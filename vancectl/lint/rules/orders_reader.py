"""A description that gives orders to the model which reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:rules?|instructions?|orders?|prompts?|above|previous|other)"
    r"|\b(?:always|must)\s+(?:choose|pick|select|match|answer|return)\b"
    r"|\bdo not (?:choose|pick|select) any\b"
    r"|\bignoriere\b[^.\n]{0,40}\b(?:regeln|anweisungen)|\bimmer\s+(?:wählen|nehmen)\b"
    r"|[\"']?decision[\"']?\s*:\s*[\"']?(?:MATCH|NONE)"
    r"|</?(?:inventory|task|engine-catalog)>|^\s*#+\s*(?:reply|answer|system)\b",
    re.I | re.M,
)


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.described:
        order = _ORDERS.search(recipe.description)
        if order:
            yield RULE.at(library.outline(recipe.path).field("description"), words=" ".join(order[0].split()))


RULE = LintRule(
    code="orders-reader",
    severity=Severity.WARNING,
    sentence="the description gives orders to its reader: “{words}”",
    remedy="describe the recipe instead",
    why=(
        "Descriptions are quoted to the model as data. One that gives orders, or looks like a reply, tries "
        "to be chosen for what it says about choosing."
    ),
    find=find,
)
