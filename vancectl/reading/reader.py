"""Reads a document or a request into a shape, and makes findings of pydantic's errors: place, words and remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from vancectl.reading.document import Document
from vancectl.reading.finding import Finding
from vancectl.reading.shape import Shape
from vancectl.reading.value import Members, Value, Written

_S = TypeVar("_S", bound=Shape)
_T = TypeVar("_T")


def read_shape(shape: type[_S], document: Document) -> _S | None:
    """What the document says; None where it breaks the shape. What is to be said of it is in its findings."""
    return _in_order(Written(document, document.root), shape.model_validate) if document.root is not None else None


def read_value(shape: type[_S], value: Value) -> _S | None:
    """The same of one value; findings are added to its own, in the order in which the shape has its fields."""
    return _read(value, shape.model_validate)


def _read(value: Value, read: Callable[[Value], _T]) -> _T | None:
    try:
        return read(value)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            _add(fault)
    return None


def _in_order(value: Value, read: Callable[[Value], _T]) -> _T | None:
    known = len(value.findings)
    found = _read(value, read)
    value.findings[known:] = sorted(value.findings[known:], key=_order)
    return found


def _each(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    known = len(value.findings)
    read = _in_order(value, handler)
    return None if any(finding.breaks for finding in value.findings[known:]) else read


# The annotation of an item that does not spoil its list: where it is wrong, findings say so, and it is None.
EACH = WrapValidator(_each)


def _add(fault: Mapping[str, Any]) -> None:
    """One error. What was asked for where the reading had to end is not missing."""
    given = fault["input"]
    code = fault["type"]
    if code == "missing":
        whole = given.whole if isinstance(given, Members) else given.above
        if not whole.exhausted:
            whole.add("missing-field", at_key=True, field=whole.below(fault["loc"][-1]))
    elif isinstance(given, Value):
        data = {"field": given.way, **fault.get("ctx", {})}
        if code == "wrong-type":
            data.setdefault("found", given.kind())
        given.add(code, **data)
    else:
        raise TypeError(code)  # a type of a field let something pass that pydantic itself refuses


def _order(finding: Finding) -> tuple[bool, bool, int, int]:
    """As in the file; what is missing, and what has no place, comes last."""
    missing = finding.code in {"missing-field", "case-claims-nothing"}
    return finding.place.line == 0, missing, finding.place.line, finding.place.column
