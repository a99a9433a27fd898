"""Values that keep the text their author wrote: `007`, `1.10` and `no` are printed so, and count as 7, 1.1 and false.

YAML makes numbers and truth values of what an item of a plan means as text. What a template prints is the text; what it
compares, or asks with `if`, is the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from vancectl.errors import Place, UsageError
from vancectl.reading.document import Document, Node
from vancectl.text.strict_json import MAX_DEPTH, to_json

_LITERAL = re.compile(r"true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


class WrittenInt(int):
    """A whole number, or a truth value as 0 or 1."""

    written: str

    def __str__(self) -> str:
        return self.written


class WrittenFloat(float):
    written: str

    def __str__(self) -> str:
        return self.written


class WrittenNull(str):
    """YAML's null: false, and printed as it stands."""

    __slots__ = ()

    @property
    def written(self) -> str:
        return str.__str__(self)

    def __bool__(self) -> bool:
        return False


def as_written(value: Any, text: str) -> Any:
    """`value` with its text; a value that is its text already stays as it is."""
    if value is None:
        return WrittenNull(text)
    if not isinstance(value, int | float):
        return value
    kept: WrittenInt | WrittenFloat = WrittenFloat(value) if isinstance(value, float) else WrittenInt(value)
    kept.written = text
    return kept


def read_node(document: Document, node: Node, level: int = 0) -> Any:
    """A YAML value with its texts. Raises UsageError where it nests without end."""
    if level > MAX_DEPTH:
        place = Place(document.path, node.start_mark.line + 1)
        raise UsageError(
            f"it nests deeper than {MAX_DEPTH} levels, or holds itself", where=place, remedy="make it flat"
        )
    if document.exhausted:
        return None
    if node.id == "scalar":
        return as_written(document.plain(node), node.value)
    if node.id == "sequence":
        return [read_node(document, item, level + 1) for item in node.value]
    return {key: read_node(document, value, level + 1) for key, _, value in document.pairs(node)}


def print_value(value: Any) -> Any:
    """What a template prints: text as it is, numbers as they were written, all else as JSON."""
    return _json(value) if value is None or isinstance(value, bool | Mapping | list | tuple) else value


def _json(value: Any) -> str:
    written = getattr(value, "written", None)
    if written is not None:
        return str(written) if _LITERAL.fullmatch(written) else json.dumps(written, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{to_json(str(key))}: {_json(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_json, value)) + "]"
    return to_json(value) if value is None or isinstance(value, bool | int | float | str) else to_json(str(value))
