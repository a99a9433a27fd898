"""`vancectl schema`: JSON Schemas that are valid, current, and agree with what the reader says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from tests.workspace import REPOSITORY, Workspace
from tools.schemas import texts
from vancectl.reading.schemas import SHAPES, schema_path


@pytest.mark.parametrize("shape", SHAPES)
def test_the_file_is_what_the_model_says(shape: str) -> None:
    current = schema_path(shape).read_text(encoding="utf-8") == texts()[shape]
    assert current, "run `python tools/schemas.py`"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_schema_is_valid_and_printed_as_it_is(ws: Workspace, shape: str) -> None:
    schema = ws.run("schema", shape, "--json").expect(0).json
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert ws.run("schema", shape).expect(0).json == schema


@pytest.mark.parametrize("shape", SHAPES)
def test_each_key_is_described(shape: str) -> None:
    schema = json.loads(schema_path(shape).read_text(encoding="utf-8"))
    for definition in (schema, *schema.get("$defs", {}).values()):
        for key, facts in definition.get("properties", {}).items():
            assert facts.get("description"), key


def test_an_unknown_shape_is_refused_with_those_that_there_are(ws: Workspace) -> None:
    assert "'recipe'" in ws.run("schema", "recipes").expect(2).stderr


def validator(shape: str) -> Any:
    return jsonschema.Draft202012Validator(json.loads(schema_path(shape).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "defaults" / "recipes").glob("*.yaml")), ids=lambda path: path.stem
)
def test_bundled_recipes_are_valid(path: Any) -> None:
    validator("recipe").validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ({"description": "x", "engine": "ford"}, True),
        ({"description": 7, "engine": "ford", "title": None, "tags": [2024, True]}, True),
        ({"description": "x", "engine": "ford", "own": {"key": 1}}, True),
        ({"description": "x"}, False),
        ({"description": None, "engine": "ford"}, False),
        ({"description": "x", "engine": "ford", "tags": "one"}, False),
        ({"description": "x", "engine": "ford", "listed": "maybe"}, False),
        ({"description": "x", "engine": "ford", "triggers": {"match": "regex"}}, False),
        ({"description": "x", "engine": "ford", "profiles": {"a": None, "b": {"params": {}}}}, True),
        ({"description": "x", "engine": "ford", "profiles": {"a": []}}, False),
    ],
)
def test_the_schema_of_a_recipe_accepts_what_the_reader_accepts(value: Any, valid: bool) -> None:
    assert validator("recipe").is_valid(value) == valid
