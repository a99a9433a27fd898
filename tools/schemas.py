"""Writes the JSON Schemas of `vancectl/schemas` anew: python tools/schemas.py."""

from __future__ import annotations

from importlib import import_module

from vancectl.reading.json_schema import json_schema, schema_text
from vancectl.reading.schemas import SHAPES, schema_path


def texts() -> dict[str, str]:
    """What each file must hold, by the shape's name."""
    found = {}
    for name, place in SHAPES.items():
        module, _, shape = place.partition(":")
        declared, title = getattr(import_module(module), shape), f"vancectl {name}"
        found[name] = json_schema(declared, title) if isinstance(declared, type) else schema_text(declared(), title)
    return found


if __name__ == "__main__":
    for name, text in texts().items():
        schema_path(name).write_text(text, encoding="utf-8")
