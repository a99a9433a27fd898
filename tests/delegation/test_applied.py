"""Recipe, profile and the caller's params become one applied recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.workspace import Workspace
from vancectl.cli.assignments import parse_params
from vancectl.delegation.applied import AppliedRecipe, apply_engine, apply_recipe
from vancectl.inventory.layer import Layer, LayerKind
from vancectl.inventory.recipe import Recipe


def recipe(**fields: Any) -> Recipe:
    layer = Layer(LayerKind.PROJECT, Path("recipes"))
    return Recipe("good", layer, "recipes/good.yaml", {"description": "d", "engine": "ford", **fields})


def applied(fields: dict[str, Any], profile: str | None = None, **params: Any) -> AppliedRecipe:
    return apply_recipe(recipe(**fields), params, profile)


PROFILES = {"default": {"params": {"a": "default"}}, "web": {"params": {"a": "web"}}}


@pytest.mark.parametrize(
    ("fields", "profile", "caller", "params", "overridden"),
    [
        ({}, None, {}, {}, ()),
        ({"params": {"a": 1, "b": 2}}, None, {}, {"a": 1, "b": 2}, ()),
        ({"params": {"a": 1, "b": 2}}, None, {"b": 3}, {"a": 1, "b": 3}, ("b",)),
        ({"params": {"a": 1}}, None, {"a": 1}, {"a": 1}, ()),
        ({"params": {"a": 1}}, None, {"c": 1}, {"a": 1, "c": 1}, ()),
        ({"params": {"a": {"x": 1, "y": 2}}}, None, {"a": {"x": 3}}, {"a": {"x": 3}}, ("a",)),
        ({"params": {"a": 1}}, None, {"a": None}, {"a": None}, ("a",)),
        ({"params": {"a": 1, "b": 2}, "profiles": PROFILES}, "web", {}, {"a": "web", "b": 2}, ()),
        ({"params": {"a": 1, "b": 2}, "profiles": PROFILES}, "web", {"a": 9, "b": 8}, {"a": 9, "b": 8}, ("a", "b")),
        ({"params": {"a": 1}, "profiles": PROFILES}, None, {}, {"a": "default"}, ()),
        ({"params": {"a": 1}, "profiles": PROFILES}, "cli", {}, {"a": "default"}, ()),
        ({"params": {"a": 1}, "profiles": {"web": {}}}, "web", {}, {"a": 1}, ()),
        ({"params": {"a": 1}, "profiles": {"web": {"params": {"a": 2}}}}, None, {}, {"a": 1}, ()),
        ({"params": {"a": 1}, "profiles": {"web": {"params": {"a": 2}}}}, "WEB", {}, {"a": 1}, ()),
    ],
    ids=[
        "nothing", "recipe", "caller-over-recipe", "same-value", "new-key", "whole-value", "null",
        "profile-over-recipe", "caller-over-profile", "default-profile", "default-for-unknown",
        "empty-profile", "profile-not-asked-for", "profile-is-exact",
    ],
)  # fmt: skip
def test_params(
    fields: dict[str, Any], profile: str | None, caller: dict[str, Any], params: dict[str, Any], overridden: tuple[str]
) -> None:
    found = applied(fields, profile, **caller)
    assert (found.params, found.overridden) == (params, overridden)


@pytest.mark.parametrize(
    ("profiles", "asked", "chosen", "warning"),
    [
        (PROFILES, "web", "web", ()),
        (PROFILES, None, "default", ()),
        (PROFILES, "cli", "default", ("the recipe `good` has no profile `cli`; `default` is used",)),
        ({"web": {}}, "cli", None, ("the recipe `good` has no profile `cli`; none is used",)),
        ({}, "cli", None, ("the recipe `good` has no profile `cli`; none is used",)),
        ({}, "default", None, ("the recipe `good` has no profile `default`; none is used",)),
        ({}, None, None, ()),
    ],
)
def test_which_profile(profiles: dict[str, Any], asked: str | None, chosen: str | None, warning: tuple[str]) -> None:
    found = applied({"profiles": profiles}, asked)
    assert (found.profile, found.warnings) == (chosen, warning)


def test_a_locked_recipe_drops_the_caller_s_params() -> None:
    found = applied({"locked": True, "params": {"a": 1}, "profiles": PROFILES}, "web", a=2, b=3)
    assert found.params == {"a": "web"}
    assert found.overridden == ()
    assert found.warnings == ("the recipe `good` is locked: the params a, b are dropped",)
    assert applied({"locked": True, "params": {"a": 1}}).warnings == ()


@pytest.mark.parametrize(
    ("prefix", "append", "prompt"),
    [
        ("Be brief.\n", "Be kind.\n", "Be brief.\n\nBe kind.\n"),
        (None, "Be kind.", "Be kind."),
        ("Be brief.\n", None, "Be brief.\n"),
        ("Be brief.", "", "Be brief."),
        ("", "Be kind.", "Be kind."),
    ],
)
def test_a_profile_appends_to_the_prompt(prefix: str | None, append: str | None, prompt: str) -> None:
    fields: dict[str, Any] = {"profiles": {"web": {} if append is None else {"promptPrefixAppend": append}}}
    if prefix is not None:
        fields["promptPrefix"] = prefix
    assert applied(fields, "web").fields["promptPrefix"] == prompt


@pytest.mark.parametrize(
    "key",
    ["allowedToolsAdd", "allowedToolsRemove", "allowedToolsDefer", "allowedToolsKeep", "allowedToolsDropFirst"],
)
def test_a_profile_adds_to_the_tool_lists(key: str) -> None:
    fields = {key: ["a", "b"], "profiles": {"web": {key: ["b", "c"]}, "cli": {}}}
    assert applied(fields, "web").fields[key] == ["a", "b", "c"]
    assert applied(fields, "cli").fields[key] == ["a", "b"]
    assert applied({"profiles": {"web": {key: ["c"]}}}, "web").fields[key] == ["c"]


def test_a_profile_lays_its_modes_over_the_recipe_s() -> None:
    modes = {"plan": {"tools": 1}, "act": {"tools": 2}}
    fields = {"modes": modes, "profiles": {"web": {"modes": {"act": {"tools": 3}, "ask": {}}}}}
    assert applied(fields, "web").fields["modes"] == {"plan": {"tools": 1}, "act": {"tools": 3}, "ask": {}}
    assert applied(fields).fields["modes"] == modes


def test_a_profile_brings_its_session() -> None:
    fields = {"profiles": {"web": {"session": {"keep": True}}}}
    assert applied(fields, "web").fields["session"] == {"keep": True}
    assert "session" not in applied(fields).fields


def test_what_a_spawn_command_gets_of_a_recipe() -> None:
    fields = {
        "title": "Good", "tags": ["x"], "listed": False, "internal": True, "locked": True, "params": {"a": 1},
        "triggers": {"keywords": ["fix"]}, "profiles": PROFILES, "guard": {"k": [1]}, "ownKey": {"kept": True},
    }  # fmt: skip
    assert applied(fields, "web").as_json() == {
        "recipe": "good", "engine": "ford", "layer": "project", "path": "recipes/good.yaml", "profile": "web",
        "params": {"a": "web"}, "overridden": [], "description": "d", "title": "Good", "tags": ["x"], "locked": True,
        "guard": {"k": [1]}, "ownKey": {"kept": True},
    }  # fmt: skip


def test_unknown_keys_of_a_recipe_cannot_claim_another_origin() -> None:
    lies = {"recipe": "other", "layer": "bundled", "path": "/elsewhere", "profile": "p", "overridden": ["x"]}
    found = applied(lies).as_json()
    assert [found[key] for key in lies] == ["good", "project", "recipes/good.yaml", None, []]


def test_applying_leaves_the_recipe_as_it_is() -> None:
    fields = {"params": {"a": 1}, "modes": {"m": 1}, "allowedToolsAdd": ["a"], "profiles": {
        "web": {"params": {"a": 2}, "modes": {"m": 2}, "allowedToolsAdd": ["b"], "promptPrefixAppend": "x"},
    }}  # fmt: skip
    given = recipe(**fields)
    apply_recipe(given, {"a": 3}, "web")
    assert apply_recipe(given, {}).as_json() == apply_recipe(recipe(**fields), {}).as_json()


def test_an_engine_without_a_recipe() -> None:
    found = apply_engine("ford", {"a": 1})
    assert found.as_json() == {
        "recipe": None, "engine": "ford", "layer": None, "path": None, "profile": None, "params": {"a": 1},
        "overridden": [],
    }  # fmt: skip


# At the prompt.


def test_a_recipe_with_everything_at_the_prompt(ws: Workspace) -> None:
    ws.recipe(
        "P/recipes/good.yaml", triggers=["fix tests"], params={"model": "small", "n": 1}, promptPrefix="Be brief.",
        profiles={"web": {"params": {"n": 2}, "promptPrefixAppend": "Be kind.", "allowedToolsAdd": ["browser"]}},
    )  # fmt: skip
    ws.settings(spawn__command=["cat"])
    done = ws.run(
        "delegate", "--profile", "web", "--param", "model=big=er", "--param", "deep=[1, true]", "--param", "t=a b",
        "fix tests",
    ).expect()  # fmt: skip
    found = done.json["process"]["reply"]["appliedRecipe"]
    assert found["params"] == {"model": "big=er", "n": 2, "deep": [1, True], "t": "a b"}
    assert (found["profile"], found["overridden"]) == ("web", ["model"])
    assert (found["promptPrefix"], found["allowedToolsAdd"]) == ("Be brief.\n\nBe kind.", ["browser"])


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        (["--param", "a=1"], "the recipe `good` is locked: the params a are dropped"),
        (["--profile", "web"], "the recipe `good` has no profile `web`; none is used"),
    ],
)
def test_warnings_stand_in_the_decision_and_on_stderr(ws: Workspace, options: list[str], warning: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], locked=True)
    ws.settings(spawn__command=["cat"])
    done = ws.run("delegate", *options, "fix tests").expect()
    assert (done.json["warnings"], done.stderr) == ([warning], f"warning: {warning}\n")
    assert done.json["process"]["reply"]["appliedRecipe"]["params"] == {}


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("a=1", 1), ("a=true", True), ("a=null", None), ("a=1.0", 1.0), ("a=[1]", [1]), ('a="1"', "1"), ("a=", ""),
        ("a= x ", " x "), ("a=NaN", "NaN"), ("a=-Infinity", "-Infinity"), ("a=[NaN]", "[NaN]"), ("a=1e999", "1e999"),
        ("a={", "{"), ("a=b=c,d e", "b=c,d e"), (" a =1", 1), ("a=" + "[" * 5000, "[" * 5000),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_param_s_value_is_json_where_it_can_be(assignment: str, value: object) -> None:
    found = parse_params([assignment])["a"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("assignment", ["a", "", "=1", " =1"])
def test_no_assignment(ws: Workspace, assignment: str) -> None:
    failed = ws.run("delegate", "--param", assignment, "fix tests").expect(2)
    assert failed.stdout == ""
    assert f"error: `--param {assignment}` is no assignment\n  help: write --param KEY=VALUE\n" in failed.stderr
