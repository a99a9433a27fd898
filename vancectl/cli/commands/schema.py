"""`vancectl schema`: what a file may hold, as editors read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Voice, voiced
from vancectl.reading.schemas import SHAPES

app = typer.Typer(rich_markup_mode=None, add_completion=False)
ShapeName = StrEnum("ShapeName", {name.upper(): name for name in SHAPES})  # type: ignore[misc]


@app.command("schema")
@voiced
def show_schema(
    voice: Voice,
    shape: Annotated[ShapeName, typer.Argument(help="What is described.")],
    json_output: JsonOption = False,
) -> None:
    """Print the JSON Schema of a file or a request, for editors and callers."""
    import json

    from vancectl.reading.schemas import schema_path

    output = voice.output(as_json=json_output)
    text = schema_path(shape.value).read_text(encoding="utf-8")
    if output.as_json:
        output.text(text)
        return
    schema = json.loads(text)
    output.table(("key", "required", "what it is"), _rows(schema, schema.get("$defs", {}), ""), empty="no keys")
    output.note(f"the schema is {schema_path(shape.value)}")


def _rows(schema: Mapping[str, Any], shared: Mapping[str, Any], above: str) -> Iterator[tuple[str, str, str]]:
    """Each key with those below it: `triggers.match`, `cases[].task`, `profiles.NAME.params`."""
    for key, facts in schema.get("properties", {}).items():
        way = above + key
        yield way, "yes" if key in schema.get("required", ()) else "", facts.get("description", "")
        for suffix, inner in _below(facts, shared):
            yield from _rows(inner, shared, f"{way}{suffix}.")


def _below(facts: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The mappings in a value, each with what leads to it."""
    if "$ref" in facts:
        yield "", shared[facts["$ref"].rpartition("/")[2]]
    elif facts.get("properties"):
        yield "", facts
    for each in facts.get("anyOf", ()):
        yield from _below(each, shared)
    for key, step in (("items", "[]"), ("additionalProperties", ".NAME")):
        if isinstance(facts.get(key), dict):
            yield from ((step + suffix, inner) for suffix, inner in _below(facts[key], shared))
