"""`vancectl schema`: what a file may hold, as editors read it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

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
    output.table(
        ("key", "required", "what it is"),
        (
            (key, "yes" if key in schema.get("required", ()) else "", facts.get("description", ""))
            for key, facts in schema["properties"].items()
        ),
        empty="no keys",
    )
    output.note(f"the schema is {schema_path(shape.value)}")
