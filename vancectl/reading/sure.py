"""Whether what JSON said surely fits a shape, by the JSON Schema that was made of it.

A start that is given a request asks this first, since the models cost more than all the rest of it. It knows little of
JSON Schema and says yes only where there can be no doubt; whatever it is not sure of, the model reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vancectl.reading.schemas import schema_path


def surely_fits(document: Mapping[str, Any], shape: str) -> bool:
    """Whether the model would take each member as it is."""
    schema = json.loads(schema_path(shape).read_text(encoding="utf-8"))
    known = schema["properties"]
    return all(key in known and _fits(value, known[key]) for key, value in document.items())


def _fits(value: Any, facts: Mapping[str, Any]) -> bool:
    if facts.keys() == {"description"}:
        return True  # anything
    kinds = set(facts.get("type", ())) - {"null"}
    if value is None:
        return "null" in facts.get("type", ())
    if isinstance(value, str):
        return "string" in kinds
    if isinstance(value, bool):
        return kinds == {"boolean"}
    if isinstance(value, int | float):
        return kinds == {"number"}  # where text is meant as well, a number of JSON is none
    if isinstance(value, dict):
        return kinds == {"object"} and not facts.keys() - {"description", "type"}
    return kinds == {"array"} and all(isinstance(item, str) for item in value)
