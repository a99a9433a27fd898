"""What stands in after NONE: each row of both tables, as a rule and as what is really started."""

from __future__ import annotations

import json

import pytest

from tests.messages_server import MessagesServer, match, none
from tests.workspace import Workspace
from vancectl.delegation.fallback import Fallback, choose_fallback
from vancectl.model.reason import Reason
from vancectl.selector.decision import Decision, Hit, Stage, Verdict

DEFAULT = Fallback("default", "default-recipe")


def decision(verdict: Verdict, *, hit: bool, reason: Reason = Reason.MODEL_NONE) -> Decision:
    matched = (Hit("marvin", "use marvin", 0, 10),) if hit else ()
    return Decision(verdict, reason, "because", Stage.MODEL, matched=matched)


@pytest.mark.parametrize(
    ("hit", "fallback_on_none", "setting", "expected"),
    [
        (False, False, "v", None),
        (True, False, "v", None),
        (True, False, "", None),
        (False, True, "v", DEFAULT),
        (False, True, "", DEFAULT),
        (True, True, "v", Fallback("v", "routing.fallback.recipe")),
        (True, True, "", None),
    ],
)
def test_after_none(hit: bool, fallback_on_none: bool, setting: str, expected: Fallback | None) -> None:
    found = choose_fallback(decision(Verdict.NONE, hit=hit), fallback_on_none=fallback_on_none, setting=setting)
    assert found == expected


@pytest.mark.parametrize("hit", [True, False])
def test_nothing_stands_in_for_a_match(hit: bool) -> None:
    found = choose_fallback(decision(Verdict.MATCH, hit=hit), fallback_on_none=True, setting="v")
    assert found is None


def test_nothing_stands_in_for_a_blank_task() -> None:
    blank = decision(Verdict.NONE, hit=False, reason=Reason.EMPTY_TASK)
    assert choose_fallback(blank, fallback_on_none=True, setting="v") is None


# At the prompt: two recipes that share a phrase, so that the phrase alone does not decide.

SHARED = "fix tests"
UNHEARD_OF = "paint the fence"


def workspace(ws: Workspace) -> None:
    for name in ("one", "two"):
        ws.recipe(f"P/recipes/{name}.yaml", triggers=[SHARED])
    ws.recipe("P/recipes/mine.yaml")
    ws.settings(spawn__command=["cat"])


def says(ws: Workspace, **answer: object) -> None:
    """Answer every question so, in place of a model."""
    ws.write("P/answer", json.dumps({"decision": "NONE", "recipe": None, "rationale": "Nothing fits.", **answer}))
    ws.program("oracle", f"cat >/dev/null; cat '{ws.path('P/answer')}'")
    ws.settings(selector__backend="command", selector__command=["oracle"])


@pytest.mark.parametrize(
    ("task", "options", "setting", "recipe", "source"),
    [
        (UNHEARD_OF, [], None, "default", "default-recipe"),
        (UNHEARD_OF, [], "mine", "default", "default-recipe"),
        (UNHEARD_OF, [], "", "default", "default-recipe"),
        (SHARED, [], None, "slart-and-run", "routing.fallback.recipe"),
        (SHARED, [], "mine", "mine", "routing.fallback.recipe"),
        (SHARED, [], "", None, None),
        (UNHEARD_OF, ["--no-fallback"], None, None, None),
        (SHARED, ["--no-fallback"], "mine", None, None),
    ],
    ids=[
        "no-trigger-gives-default", "no-trigger-does-not-read-the-setting", "no-trigger-with-the-setting-off",
        "trigger-gives-slart-and-run", "trigger-gives-the-setting", "trigger-with-the-setting-off",
        "no-trigger-without-fallback", "trigger-without-fallback",
    ],
)  # fmt: skip
def test_what_is_started_after_none(
    ws: Workspace, task: str, options: list[str], setting: str | None, recipe: str | None, source: str | None
) -> None:
    workspace(ws)
    says(ws, decision="NONE")
    if setting is not None:
        ws.settings(routing__fallback__recipe=setting)
    document = ws.run("delegate", *options, task).expect().json
    assert (document["decision"], document["recipe"], document["engine"]) == ("NONE", None, None)
    assert (document["stage"], document["triggerObserved"]) == ("model", task == SHARED)
    if recipe is None:
        assert "fallback" not in document
        assert "process" not in document
    else:
        fallback = document["fallback"]
        assert (fallback["recipe"], fallback["source"]) == (recipe, source)
        assert document["process"]["reply"]["appliedRecipe"]["recipe"] == recipe
        assert document["process"]["reply"]["task"] == task


@pytest.mark.parametrize("value", [None, '""', "''"], ids=["nothing", "double-quotes", "single-quotes"])
def test_an_empty_value_in_the_file_switches_the_fallback_off(ws: Workspace, value: str | None) -> None:
    workspace(ws)
    ws.write("T/settings.yaml", f"selector: {{backend: 'off'}}\nrouting:\n  fallback:\n    recipe: {value or ''}\n")
    document = ws.run("delegate", SHARED).expect().json
    assert (document["triggerObserved"], "fallback" in document) == (True, False)


def test_with_a_real_model(ws: Workspace, messages: MessagesServer) -> None:
    workspace(ws)
    ws.model(messages)
    messages.reply(none("Nothing fits."), match("two", "It is about tests."))
    first = ws.run("delegate", SHARED).expect().json
    assert (first["rationale"], first["fallback"]["recipe"]) == ("Nothing fits.", "slart-and-run")
    second = ws.run("delegate", SHARED).expect().json
    assert (second["recipe"], "fallback" in second) == ("two", False)
    assert second["process"]["reply"]["appliedRecipe"]["recipe"] == "two"


def test_a_model_that_cannot_be_asked_is_none_too(ws: Workspace) -> None:
    workspace(ws)
    document = ws.run("delegate", UNHEARD_OF).expect().json
    assert (document["decision"], document["stage"], document["reason"]) == ("NONE", "none", "no-key")
    assert document["fallback"]["recipe"] == "default"


def test_params_and_profile_go_to_the_fallback(ws: Workspace) -> None:
    workspace(ws)
    ws.recipe("P/recipes/default.yaml", params={"n": 1}, profiles={"web": {"params": {"m": 2}}})
    document = ws.run("delegate", "--param", "n=3", "--profile", "web", UNHEARD_OF).expect().json
    assert document["process"]["reply"]["appliedRecipe"]["params"] == {"n": 3, "m": 2}


@pytest.mark.parametrize(
    ("task", "broken", "told"),
    [
        (SHARED, "", "`routing.fallback.recipe` in --set names the recipe `gone`, which does not exist"),
        (UNHEARD_OF, "engine: ford\n", "the recipe `default` is broken"),
    ],
    ids=["missing", "broken"],
)
def test_a_fallback_that_cannot_be_used_keeps_the_decision(ws: Workspace, task: str, broken: str, told: str) -> None:
    workspace(ws)
    says(ws)
    if broken:
        ws.write("P/recipes/default.yaml", broken)
    failed = ws.run("delegate", "--name", "a", "--set", "routing.fallback.recipe=gone", task).expect(2)
    assert (failed.json["decision"], failed.json["rationale"]) == ("NONE", "Nothing fits.")
    assert told in failed.json["error"]
    assert f"error: {'' if not broken else ws.path('P/recipes/default.yaml')}" in failed.stderr
    assert "process" not in failed.json


def test_without_any_recipe_there_is_no_fallback_either(ws: Workspace) -> None:
    ws.write("P/none/.keep", "")
    failed = ws.run("delegate", "--recipes", "none", "fix tests").expect(2)
    assert (failed.json["decision"], failed.json["reason"]) == ("NONE", "no-recipes")
    assert failed.json["error"] == "there is no recipe `default`"
