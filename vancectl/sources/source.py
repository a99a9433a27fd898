"""A source: a folder of another program's recipes, and what the tenant's settings say of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple


class Source(NamedTuple):
    """One folder of a source. A source may have several; of one name the nearest folder's file holds.

    `key` is the first part of its recipes' names. `preset` is what starts them where that is not the format's own.
    `excluded` holds patterns of names, without the key, that are left out.
    """

    key: str
    format: str
    directory: Path
    preset: str | None = None
    excluded: tuple[str, ...] = ()
    triggers: bool = False
    links: bool = False
    of_project: bool = False


class Foreign(NamedTuple):
    """What one file came to: a recipe's fields, or None and the findings that say why its program does not load it.

    `name` is the name that its program knows, the key left out. `fields["source"]` holds what starting it needs.
    """

    name: str
    fields: dict[str, Any] | None
    findings: tuple[Any, ...] = ()
