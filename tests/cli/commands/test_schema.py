"""`vancectl schema`: JSON Schemas that are valid, current, and agree with what the reader says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.workspace import REPOSITORY, Workspace
from tools.schemas import texts
from vancectl.delegation.request import parse_request
from vancectl.errors import VancectlError
from vancectl.inventory.layer import Layer, LayerKind
from vancectl.inventory.recipe import Recipe
from vancectl.inventory.schema import validate
from vancectl.mcp.tools import find_tool
from vancectl.plan.plan import read_plan
from vancectl.reading.document import Document
from vancectl.reading.schemas import SHAPES, schema_path
from vancectl.routes.case import read_cases
from vancectl.settings.settings import load_settings


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


@pytest.mark.parametrize(
    ("shape", "key"),
    [("recipe", "profiles.NAME.modes"), ("settings", "spawn.engines.NAME.stdin"), ("cases", "cases[].stage"),
     ("plan", "children[].expand.items")],
)  # fmt: skip
def test_a_terminal_shows_each_key_with_those_below_it(ws: Workspace, shape: str, key: str) -> None:
    assert f"\n{key} " in ws.run("schema", shape, tty=True, columns=200, env={"NO_COLOR": "1"}).expect().stdout


def test_an_unknown_shape_is_refused_with_those_that_there_are(ws: Workspace) -> None:
    assert "'recipe'" in ws.run("schema", "recipes").expect(2).stderr


def validator(shape: str) -> Any:
    return jsonschema.Draft202012Validator(json.loads(schema_path(shape).read_text(encoding="utf-8")))


def bundled(shape: str, folder: str) -> list[Any]:
    paths = sorted((REPOSITORY / folder).glob("*.yaml"))
    assert paths
    return [pytest.param(shape, path, id=f"{shape} {path.stem}") for path in paths]


@pytest.mark.parametrize(
    ("shape", "path"),
    [
        *bundled("recipe", "defaults/recipes"),
        *bundled("cases", ".vance"),
        pytest.param("settings", REPOSITORY / "defaults/settings.yaml"),
    ],
)
def test_what_comes_with_the_repository_is_valid(shape: str, path: Any) -> None:
    validator(shape).validate(yaml.safe_load(path.read_text(encoding="utf-8")))


R = {"description": "x", "engine": "ford"}
C = {"task": "x", "expect": "NONE"}
Q = {"name": "x", "task": "x"}
ACCEPTED: list[tuple[str, Any, bool]] = [
    ("recipe", R, True),
    ("recipe", {"description": 7, "engine": "ford", "title": None, "tags": [2024, True]}, True),
    ("recipe", {**R, "own": {"key": 1}}, True),
    ("recipe", {"description": "x"}, False),
    ("recipe", {"description": None, "engine": "ford"}, False),
    ("recipe", {**R, "tags": "one"}, False),
    ("recipe", {**R, "listed": "maybe"}, False),
    ("recipe", {**R, "triggers": {"match": "regex"}}, False),
    ("recipe", {**R, "profiles": {"a": None, "b": {"params": {}}}}, True),
    ("recipe", {**R, "profiles": {"a": []}}, False),
    ("cases", {"cases": [C, None], "sources": True}, True),
    ("cases", {"cases": [{**C, "not": "a", "accept": ["b", 7], "repeat": 2, "id": 7, "stage": "none"}]}, True),
    ("cases", {}, False),
    ("cases", {"cases": [{"expect": "x"}]}, False),
    ("cases", {"cases": [{**C, "expct": "x"}]}, False),
    ("cases", {"cases": [{**C, "expect": None}]}, False),
    ("cases", {"cases": [{**C, "not": []}]}, False),
    ("cases", {"cases": [{**C, "repeat": 0}]}, False),
    ("cases", {"cases": [{**C, "stage": "guess"}]}, False),
    ("cases", {"cases": [C], "more": 1}, False),
    ("settings", {}, True),
    ("settings", {"spawn": None, "selector": {"model": 1.5, "backend": "off", "timeout": None}, "trust": ["/a"]}, True),
    ("settings", {"spawn": {"command": ["a", 1, ["b"]], "engines": {"ford": {"stdin": "task"}, "x": None}}}, True),
    ("settings", {"selector.model": "x", "routing": {"fallback.recipe": ""}, "sources": "auto"}, True),
    ("settings", {"sources": {"own": {"format": "goose", "path": "/a"}}, "trust": {"folders": ["/a"]}}, True),
    ("settings", {"spwan": {}}, False),
    ("settings", {"spawn": {"comand": []}}, False),
    ("settings", {"spawn": {"command": "a b"}}, False),
    ("settings", {"spawn": {"maxDepth": 0}}, False),
    ("settings", {"spawn": {"engines": {"ford": {"comand": []}}}}, False),
    ("settings", {"selector": {"backend": "openai"}}, False),
    ("settings", {"sources": {"own": {"format": "none"}}}, False),
    ("request", Q, True),
    ("request", {**Q, "recipe": None, "params": {"n": [1]}, "wait": False, "timeoutSeconds": 1.5, "goal": "x"}, True),
    ("request", {"task": "x"}, False),
    ("request", {**Q, "tsk": "x"}, False),
    ("request", {**Q, "params": []}, False),
    ("request", {**Q, "wait": "yes"}, False),
    ("request", {**Q, "timeoutSeconds": 0}, False),
    ("request", {**Q, "expand": {}}, False),
    (
        "plan",
        {"session": 7, "children": [{"task": "x"}, {"expand": {"items": [1], "childTemplate": {"task": "x"}}}]},
        True,
    ),
    ("plan", {"children": [{"expand": {"items": "x.csv", "childTemplate": {"recipe": "x"}}}]}, True),
    ("plan", {}, False),
    ("plan", {"children": [7]}, False),
    ("plan", {"children": [{"tsk": "x"}]}, False),
    ("plan", {"children": [{"expand": {"items": [1]}}]}, False),
    ("plan", {"children": [{"expand": {"items": 7, "childTemplate": {"task": "x"}}}]}, False),
]


def is_read(shape: str, path: Path) -> bool:
    """Whether the reader takes the file, with nothing to say against it."""
    text = path.read_text()
    try:
        match shape:
            case "recipe":
                return isinstance(validate(Document.read(path), "x", Layer(LayerKind.PROJECT, path.parent)), Recipe)
            case "cases":
                return not read_cases([path]).findings
            case "plan":
                return bool(read_plan(path))
            case "request":
                return bool(parse_request(text))
            case _:
                return load_settings("t") is not None
    except VancectlError:
        return False


@pytest.mark.parametrize(("shape", "value", "valid"), ACCEPTED)
def test_a_schema_accepts_what_the_reader_accepts(
    shape: str, value: Any, valid: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert validator(shape).is_valid(value) == valid
    monkeypatch.setenv("VANCECTL_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("VANCECTL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "tenants" / "t").mkdir(parents=True)
    path = tmp_path / "tenants" / "t" / "settings.yaml"
    path.write_text(json.dumps(value))  # JSON is YAML
    path.with_name("x.csv").write_text("id\n1\n")
    assert is_read(shape, path) == valid


def test_the_tool_that_clients_are_offered_takes_fields_of_a_request() -> None:
    fields = json.loads(schema_path("request").read_text(encoding="utf-8"))["properties"]
    tool = find_tool("delegate")
    assert tool is not None
    for key, facts in tool.properties.items():
        assert facts["type"] in fields[key]["type"], key
