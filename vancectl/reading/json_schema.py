"""The JSON Schema (draft 2020-12) of a shape; `tools/schemas.py` makes the files of the folder `schemas` with it."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from vancectl.reading.shape import Shape


class _Plain(GenerateJsonSchema):
    """Without what only repeats a key: titles made of it. What is not given is not written down as a default."""

    def generate(self, schema: CoreSchema, mode: Any = "validation") -> JsonSchemaValue:
        return {"$schema": self.schema_dialect, **super().generate(schema, mode)}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        kind = inner.get("type")
        if isinstance(kind, str) and "enum" not in inner:
            return {**inner, "type": [kind, "null"]}
        return super().nullable_schema(schema)


def json_schema(shape: type[Shape], title: str) -> str:
    """The schema as a file holds it."""
    schema = shape.model_json_schema(schema_generator=_Plain)
    for definition in schema.get("$defs", {}).values():
        definition.pop("title", None)
    return schema_text(schema, title)


def schema_text(schema: dict[str, Any], title: str) -> str:
    return json.dumps({**schema, "title": title}, ensure_ascii=False, indent=2) + "\n"
