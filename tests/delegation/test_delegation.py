"""From a request to a process: who decides, what is started, and what is said when that fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.messages_server import MessagesServer, match
from tests.workspace import Workspace

# What a decision says of where a recipe comes from.
BUNDLED = {"layer": "bundled", "shadows": []}


def says(ws: Workspace, **answer: object) -> None:
    """Answer every question so, in place of a model; `asked` shows that it was."""
    ws.write("P/answer", json.dumps({"decision": "NONE", "recipe": None, "rationale": "Nothing fits.", **answer}))
    ws.program("oracle", f"cat >'{ws.path('P/asked')}'; cat '{ws.path('P/answer')}'")
    ws.settings(selector__backend="command", selector__command=["oracle"])


def delegated(ws: Workspace, *args: str) -> dict[str, Any]:
    """The output of a delegation that starts `cat`, which gives back what it was started with."""
    ws.settings(spawn__command=["cat"])
    document = ws.run("delegate", *args).expect().json
    assert isinstance(document, dict)
    return document


NO_ANSWER: dict[str, object] = {}
NONE = {"decision": "NONE", "recipe": None, "rationale": "Nothing fits."}
MARVIN = {"decision": "MATCH", "recipe": "marvin", "rationale": "It wants depth."}
CREATOR = {"decision": "MATCH", "recipe": "creator", "rationale": "It wants a document."}
MINDMAP = "mach eine Mindmap über Python, Java, Scala"


@pytest.mark.parametrize(
    ("args", "answer", "decision", "recipe", "stage", "started"),
    [
        (["--recipe", "essay", "…"], NO_ANSWER, "MATCH", "essay", "explicit", "essay"),
        (["--engine", "ford", "…"], NO_ANSWER, "MATCH", "ford", "explicit", "ford"),
        (["schreib mir was Schönes"], CREATOR, "MATCH", "creator", "model", "creator"),
        (["schreib mir was Schönes"], NONE, "NONE", None, "model", "default"),
        (["nutze Marvin um das zu klären"], NO_ANSWER, "MATCH", "marvin", "trigger", "marvin"),
        (["ein Gedicht über Marvin"], MARVIN, "MATCH", "marvin", "model", "marvin"),
        (["ein Gedicht über Marvin"], NONE, "NONE", None, "model", "default"),
        ([MINDMAP], CREATOR, "MATCH", "creator", "model", "creator"),
        ([MINDMAP], NONE, "NONE", None, "model", "default"),
        (["ich brauche eine tiefgehende Analyse"], NO_ANSWER, "MATCH", "marvin", "trigger", "marvin"),
        (["nutze Marvin und nutze Vogon"], MARVIN, "MATCH", "marvin", "model", "marvin"),
        (["nutze Marvin und nutze Vogon"], NONE, "NONE", None, "model", "slart-and-run"),
        (["--recipe", "essay", "--engine", "marvin", "…"], NO_ANSWER, "MATCH", "essay", "explicit", "essay"),
    ],
    ids=[
        "recipe", "engine", "no-trigger-match", "no-trigger-none", "engine-asked-for-by-phrase",
        "engine-s-name-as-content", "engine-s-name-as-content-none", "mindmap-match", "mindmap-none", "single-trigger",
        "several-triggers-match", "several-triggers-none", "recipe-and-engine",
    ],
)  # fmt: skip
def test_the_mode_matrix(
    ws: Workspace, args: list[str], answer: dict[str, object], decision: str, recipe: str | None, stage: str,
    started: str,
) -> None:  # fmt: skip
    says(ws, **answer)
    document = delegated(ws, *args)
    assert (document["decision"], document["recipe"], document["stage"]) == (decision, recipe, stage)
    assert document["process"]["reply"]["appliedRecipe"]["recipe"] == started
    assert document["process"]["reply"]["task"] == args[-1]
    assert ("fallback" in document) == (decision == "NONE")
    assert ws.path("P/asked").exists() == (stage == "model")


def minimal(ws: Workspace) -> None:
    """A bundled layer of a few recipes, so that most engines have no recipe of their own."""
    ws.recipe("B/recipes/default.yaml", engine="ford")
    ws.recipe("B/recipes/essay.yaml", engine="ford", triggers=["write an essay"])
    ws.recipe("B/recipes/vogon.yaml", engine="vogon")


@pytest.mark.parametrize(
    ("args", "decision", "recipe", "engine", "reason"),
    [
        (["--recipe", "essay"], "MATCH", "essay", "ford", "explicit-recipe"),
        (["--recipe", " Essay "], "MATCH", "essay", "ford", "explicit-recipe"),
        (["--engine", "vogon"], "MATCH", "vogon", "vogon", "explicit-engine"),
        (["--engine", "marvin"], "MATCH", None, "marvin", "explicit-engine"),
        (["--recipe", "auto", "--engine", "vogon"], "MATCH", "vogon", "vogon", "explicit-engine"),
        (["--recipe", "auto", "--engine", "marvin"], "MATCH", None, "marvin", "explicit-engine"),
        (["--recipe", "essay", "--engine", "marvin"], "MATCH", "essay", "ford", "explicit-recipe"),
        (["write an essay"], "MATCH", "essay", "ford", "single-trigger"),
        (["--recipe", "auto", "write an essay"], "MATCH", "essay", "ford", "single-trigger"),
        (["--recipe", " AUTO ", "write an essay"], "MATCH", "essay", "ford", "single-trigger"),
        (["--recipe", "", "--engine", "", "write an essay"], "MATCH", "essay", "ford", "single-trigger"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_who_decides(
    ws: Workspace, args: list[str], decision: str, recipe: str | None, engine: str, reason: str
) -> None:
    minimal(ws)
    document = delegated(ws, *args)
    assert (document["decision"], document["recipe"], document["engine"]) == (decision, recipe, engine)
    assert document["reason"] == reason
    applied = document["process"]["reply"]["appliedRecipe"]
    assert (applied["recipe"], applied["engine"]) == (recipe, engine)
    assert (document["process"]["recipe"], document["process"]["engine"]) == (recipe, engine)


def test_recipe_and_engine_is_a_warning(ws: Workspace) -> None:
    minimal(ws)
    ws.settings(spawn__command=["cat"])
    done = ws.run("delegate", "--recipe", "essay", "--engine", "marvin").expect()
    warning = "recipe and engine are both given: the recipe `essay` wins"
    assert (done.json["warnings"], done.stderr) == ([warning], f"warning: {warning}\n")


@pytest.mark.parametrize(
    ("name", "near"),
    [("esay", "did you mean `essay`?"), ("defalt", "did you mean `default`?"), ("quite-another-thing", "")],
)
def test_an_unknown_recipe(ws: Workspace, name: str, near: str) -> None:
    minimal(ws)
    failed = ws.run("delegate", "--recipe", name, "x").expect(2)
    assert failed.stdout == ""
    assert failed.stderr.startswith(f"error: there is no recipe `{name}`\n  help: {near or '`vancectl recipes list`'}")
    assert failed.stderr.endswith("shows all; leave the recipe out to let the selector choose\n")


def test_up_to_five_near_names(ws: Workspace) -> None:
    minimal(ws)
    for name in "abcdefgh":
        ws.recipe(f"P/recipes/essay-{name}.yaml")
    failed = ws.run("delegate", "--recipe", "essay-x", "x").expect(2)
    assert "did you mean `essay-a`, `essay-b`, `essay-c`, `essay-d` or `essay-e`? " in failed.stderr


def test_an_unknown_engine(ws: Workspace) -> None:
    failed = ws.run("delegate", "--engine", "marvyn", "x").expect(2)
    assert failed.stdout == ""
    assert failed.stderr.startswith(
        "error: there is no engine `marvyn`\n  help: did you mean `marvin`? the engines are "
    )


def test_a_broken_recipe_by_name_names_file_and_line(ws: Workspace) -> None:
    path = ws.write("P/recipes/good.yaml", "description: x\nengine: [ford]\n")
    failed = ws.run("delegate", "--recipe", "good", "x").expect(2)
    assert (failed.stdout, failed.stderr.startswith(f"error: {path}:2:9: the recipe `good` is broken: ")) == ("", True)


@pytest.mark.parametrize(
    ("path", "name", "started"),
    [
        ("P/recipes/_user/notes.yaml", "notes", "_user/notes"),
        ("P/recipes/_slart/r1/made.yaml", "_slart/r1/made", "_slart/r1/made"),
        ("P/recipes/hidden.yaml", "hidden", "hidden"),
        ("T/recipes/house-style.yaml", "House Style", "house-style"),
    ],
    ids=["user", "generated", "internal", "canonical"],
)
def test_recipes_that_are_only_named(ws: Workspace, path: str, name: str, started: str) -> None:
    ws.recipe(path, internal=started == "hidden")
    assert delegated(ws, "--recipe", name, "x")["process"]["reply"]["appliedRecipe"]["recipe"] == started


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a_blank_task_starts_nothing(ws: Workspace, messages: MessagesServer, blank: str) -> None:
    ws.model(messages)
    ws.settings(spawn__command=["touch", "started"])
    document = ws.run("delegate", blank).expect().json
    assert (document["decision"], document["reason"]) == ("NONE", "empty-task")
    assert document["rationale"] == "empty task description"
    assert not document.keys() & {"fallback", "process"}
    assert (messages.requests, ws.path("P/started").exists()) == ([], False)


# The output.


def test_the_keys_of_the_output_in_their_order(ws: Workspace) -> None:
    says(ws, **NONE)
    document = delegated(ws, "paint the fence")
    keys = [
        "version", "decision", "recipe", "engine", "layer", "shadows", "rationale", "stage", "reason",
        "triggerObserved", "matched", "candidates", "warnings", "model", "fallback", "process",
    ]  # fmt: skip
    assert list(document) == keys
    process = ["id", "name", "session", "status", "recipe", "engine", "pid", "exitCode", "log", "startedAt", "endedAt"]
    assert list(document["process"])[: len(process)] == process


def test_a_matched_trigger_is_shown_where_it_stands(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["Fix  Tests"])
    document = delegated(ws, "please FIX tests now")
    assert document["matched"] == [{"recipe": "good", "phrase": "Fix  Tests", "start": 7, "end": 16}]


def test_the_model_s_evidence_is_in_the_output(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    messages.reply(match("essay", "It wants an essay."))
    document = delegated(ws, "--model", "some-model", "paint the fence")
    assert (document["recipe"], document["rationale"]) == ("essay", "It wants an essay.")
    assert (document["model"]["backend"], document["model"]["model"]) == ("anthropic", "some-model")
    assert messages.requests[0].body["model"] == "some-model"


# Starts that fail.


def test_a_start_that_fails_keeps_decision_and_fallback(ws: Workspace) -> None:
    says(ws, **NONE)
    ws.settings(spawn__command=["no-such-agent"])
    failed = ws.run("delegate", "nutze Marvin und nutze Vogon").expect(3)
    assert (failed.json["decision"], failed.json["rationale"]) == ("NONE", "Nothing fits.")
    assert failed.json["fallback"] == {"recipe": "slart-and-run", "source": "routing.fallback.recipe", **BUNDLED}
    assert failed.json["error"] == "the program `no-such-agent` is not on the PATH"
    assert "process" not in failed.json


@pytest.mark.parametrize("options", [[], ["--no-wait"], ["--engine", "vogon"]], ids=["wait", "no-wait", "engine"])
def test_without_a_spawn_command_the_decision_is_still_told(ws: Workspace, options: list[str]) -> None:
    ws.settings(spawn__preset="none")
    failed = ws.run("delegate", *options, "use marvin for this").expect(2)
    engine = "vogon" if options == ["--engine", "vogon"] else "marvin"
    assert (failed.json["decision"], failed.json["recipe"]) == ("MATCH", engine)
    assert failed.json["error"] == "no spawn command is configured, so nothing can be started"
    assert failed.stderr == (
        "error: no spawn command is configured, so nothing can be started\n"
        f"  help: set spawn.command (or spawn.engines.{engine}.command) in the tenant's settings.yaml, for example "
        'spawn: {command: [claude, -p, --, "{task}"], stdin: none}; `vancectl settings show` names the file\n'
    )
    assert not (ws.state / "processes.sqlite3").exists()


def test_the_example_of_the_error_works_as_it_is(ws: Workspace) -> None:
    failed = ws.run("delegate", "--set", "spawn.preset=none", "use marvin for this").expect(2)
    example = failed.stderr.partition("for example ")[2].partition("; `vancectl")[0]
    ws.write("T/settings.yaml", example + "\n")
    ws.program("claude", 'printf "[%s]" "$@"; cat')
    done = ws.run("delegate", "use marvin for this").expect()
    assert (done.json["process"]["reply"], done.stderr) == ("[-p][--][use marvin for this]", "")


def test_one_engine_without_a_command(ws: Workspace) -> None:
    ws.settings({"spawn.preset": "none", "spawn.engines": {"vogon": {"command": ["cat"]}}})
    ws.run("delegate", "--recipe", "vogon", "x").expect()
    assert "spawn.engines.ford.command" in ws.run("delegate", "--recipe", "ford", "x").expect(2).stderr


# Dry runs.


def test_a_dry_run_starts_nothing(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], params={"n": 1})
    ws.settings(spawn__command=["touch", "{recipe}"])
    document = ws.run("delegate", "--dry-run", "--name", "a", "--param", "n=2", "fix tests").expect().json
    assert document["plan"]["argv"] == ["touch", "good"]
    assert document["plan"]["payload"]["name"] == "a"
    assert document["plan"]["payload"]["appliedRecipe"]["params"] == {"n": 2}
    assert "process" not in document
    assert not ws.path("P/good").exists()
    assert not (ws.state / "processes.sqlite3").exists()


def test_the_plan_is_what_is_then_started(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], promptPrefix="Be brief.", profiles={"web": {}})
    ws.settings(spawn__command=["tee", "payload"])
    args = ["delegate", "--name", "a", "--profile", "web", "--title", "T", "--steer", "Go.", "fix tests"]
    plan = ws.run(*args, "--dry-run").expect().json["plan"]
    ws.run(*args).expect()
    assert json.loads(ws.path("P/payload").read_text()) == plan["payload"]


def test_a_dry_run_of_none_has_a_fallback_and_a_plan(ws: Workspace) -> None:
    says(ws, **NONE)
    ws.settings(spawn__command=["cat"])
    document = ws.run("delegate", "--dry-run", "paint the fence").expect().json
    assert document["fallback"] == {"recipe": "default", "source": "default-recipe", **BUNDLED}
    assert document["plan"]["payload"]["appliedRecipe"]["recipe"] == "default"


def test_a_dry_run_of_a_bare_none_has_no_plan(ws: Workspace) -> None:
    says(ws, **NONE)
    document = ws.run("delegate", "--dry-run", "--no-fallback", "paint the fence").expect().json
    assert not document.keys() & {"fallback", "plan", "process", "error"}


def test_a_dry_run_needs_no_spawn_command(ws: Workspace) -> None:
    ws.settings(spawn__preset="none")
    done = ws.run("delegate", "--dry-run", "use marvin for this").expect()
    assert (done.json["decision"], done.json["recipe"]) == ("MATCH", "marvin")
    assert done.json["plan"]["argv"] is None
    assert done.json["plan"]["payload"]["task"] == "use marvin for this"
    assert done.json["plan"]["payload"]["appliedRecipe"]["recipe"] == "marvin"
    assert "error" not in done.json
    assert done.stderr == "warning: no spawn command is configured, so nothing can be started\n"


def test_a_dry_run_ignores_that_the_name_is_taken(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["true"])
    ws.run("delegate", "--name", "a", "fix tests").expect()
    document = ws.run("delegate", "--dry-run", "--name", "a", "fix tests").expect().json
    assert ("plan" in document, "process" in document) == (True, False)


# Strictness.


@pytest.mark.parametrize(
    ("options", "status", "started"),
    [([], 0, True), (["--strict"], 4, False), (["--strict", "--no-fallback"], 4, False)],
)
def test_strict_starts_nothing_in_place_of_a_model(
    ws: Workspace, options: list[str], status: int, started: bool
) -> None:
    ws.settings(spawn__command=["touch", "started"])
    done = ws.run("delegate", *options, "paint the fence").expect(status)
    assert (done.json["decision"], done.json["reason"]) == ("NONE", "no-key")
    assert ("fallback" in done.json, ws.path("P/started").exists()) == (started, started)


def test_strict_takes_a_model_s_none_for_an_answer(ws: Workspace) -> None:
    says(ws, **NONE)
    ws.settings(spawn__command=["cat"])
    document = ws.run("delegate", "--strict", "paint the fence").expect().json
    assert document["process"]["reply"]["appliedRecipe"]["recipe"] == "default"


@pytest.mark.parametrize("args", [["use marvin for this"], ["--recipe", "ford", "x"], ["--engine", "ford", "x"]])
def test_strict_needs_no_model_where_none_is_needed(ws: Workspace, args: list[str]) -> None:
    ws.settings(spawn__command=["true"])
    ws.run("delegate", "--strict", *args).expect()


def test_a_broken_neighbour_is_said_and_left_out(ws: Workspace) -> None:
    path = ws.write("P/recipes/bad.yaml", "engine: [\n")
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["true"])
    done = ws.run("delegate", "fix tests").expect()
    assert done.json["recipe"] == "good"
    assert f"warning: broken recipe left out: {path}" in done.stderr
