"""Whether the names in cases are names here: a case for a recipe that is gone can never be right, and must say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vancectl.inventory.cascade import Cascade
from vancectl.inventory.inventory import Inventory
from vancectl.reading.finding import Finding
from vancectl.routes.case import NONE, Case


def unknown_names(cases: Iterable[Case], inventory: Inventory, cascade: Cascade) -> Iterator[Finding]:
    """`expect`, `accept` and `not` must be in the inventory; `starts` may be any recipe that can be named."""
    choosable = {recipe.name for recipe in inventory.recipes} | {NONE}
    startable = {*cascade.names, NONE}
    for case in cases:
        if absent_source(case, cascade) is not None:
            continue
        fields = [
            ("expect", (case.expect,) if case.expect is not None else (), choosable),
            ("accept", case.accept, choosable),
            ("not", case.avoid, choosable),
            ("starts", (case.starts,) if case.starts is not None else (), startable),
        ]
        for field, names, known in fields:
            for name in names:
                if name not in known:
                    data = {"field": field, "name": name, "known": tuple(known), "nearest_to": name}
                    yield Finding("case-recipe", case.place, data)


def absent_source(case: Case, cascade: Cascade) -> str | None:
    """The source that a case speaks of and that is not here: on another machine it may be right."""
    if not case.with_sources:
        return None
    here = {layer.source.key for layer in cascade.layers.sources if layer.source is not None}
    given = (case.expect, case.starts, *case.accept)
    keys = [name.partition("/")[0] for name in given if name is not None and "/" in name and name not in cascade]
    return next((key for key in keys if key not in here), None)
