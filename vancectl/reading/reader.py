"""Reads a document into a shape, and makes findings of pydantic's errors: place, words and remedy as everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from vancectl.reading.document import Document, Node, kind_of
from vancectl.reading.finding import Finding
from vancectl.reading.shape import Members, Shape, Written

_S = TypeVar("_S", bound=Shape)


def read_shape(shape: type[_S], document: Document) -> _S | None:
    """What the document says; None where it breaks the shape. What is to be said of it is in its findings."""
    if document.root is None:
        return None
    known = len(document.findings)
    try:
        return shape.model_validate(Written(document, document.root, document.root, ""))
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            _report(document, fault)
    finally:
        document.findings[known:] = sorted(document.findings[known:], key=_order)
    return None


def _report(document: Document, fault: Mapping[str, Any]) -> None:
    """One error. What was asked for where the reading had to end is not missing."""
    given = fault["input"]
    if fault["type"] == "missing":
        if not document.exhausted:
            document.add("missing-field", _whole(document, given), field=_way(fault["loc"]))
    elif isinstance(given, Written):
        data = {"field": given.way, **fault.get("ctx", {})}
        if fault["type"] == "wrong-type":
            data["found"] = kind_of(given.node)
        document.add(fault["type"], given.node, **data)
    else:
        raise TypeError(fault["type"])  # a type of a field let something pass that pydantic itself refuses


def _whole(document: Document, given: Any) -> Node:
    return given.whole.key if isinstance(given, Members) else document.root


def _way(loc: tuple[int | str, ...]) -> str:
    return ".".join(map(str, loc))


def _order(finding: Finding) -> tuple[bool, bool, int, int]:
    """As in the file; what is missing, and what has no place, comes last."""
    return finding.place.line == 0, finding.code == "missing-field", finding.place.line, finding.place.column
