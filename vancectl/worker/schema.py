"""Judges JSON schemas, and answers by them, in a child with limits (vancectl.programs.bounded)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SHOWN = 5


def fault(schema: dict[str, Any]) -> str | None:
    """Why the schema cannot be used; None where it can. Nothing is fetched, whatever it refers to."""
    dialect = schema.get("$schema")
    choose: Any = validator_for  # its stubs know neither a default of None nor a format checker
    validator = choose(schema, default=None)
    if validator is None and dialect is not None:
        return f"at $schema: the dialect {dialect!r} is not known here"
    validator = validator or choose({})
    try:
        validator.check_schema(schema, format_checker=validator.FORMAT_CHECKER)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "its top"
        return f"at {where}: {error.message}"
    for reference in _references(schema):
        if not reference.startswith("#"):
            return f"it refers to what is not in it: {reference}"
    try:
        problems(schema, {})  # what fails for the smallest object would fail for every answer, after it was paid for
    except Unresolvable as error:
        return f"it refers to what is not in it: {error}"
    if '"$id"' not in json.dumps(schema):  # a part with a name of its own is where its references begin
        resolver = Registry().with_resource("", Resource.from_contents(schema, DRAFT202012)).resolver("")
        for reference in _references(schema):
            try:
                resolver.lookup(reference)
            except Unresolvable as error:
                return f"it refers to what is not in it: {error}"
    return None


def problems(schema: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """What in the document does not satisfy the schema, the first few."""
    # A registry of its own: nothing is fetched.
    validator = validator_for(schema)(schema, registry=Registry())
    found = []
    for error in validator.iter_errors(document):
        found.append(f"{error.json_path}: {error.message}")
        if len(found) == _SHOWN:
            break
    return found


def _references(part: Any) -> Iterator[str]:
    waiting = [part]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield from (part[key] for key in _REFERENCES if isinstance(part.get(key), str))
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
