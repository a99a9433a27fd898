"""What cannot be started where it stands is known before its name is taken."""

from __future__ import annotations

import json

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer, none
from tests.workspace import Workspace

# What a decision says of where a recipe comes from.
BUNDLED = {"layer": "bundled", "shadows": []}

SHARED = "fix tests"


@pytest.fixture
def shared(ws: Workspace, messages: MessagesServer) -> Workspace:
    for name in ("one", "two"):
        ws.recipe(f"P/recipes/{name}.yaml", triggers=[SHARED])
    ws.model(messages)
    return ws


def test_default_takes_the_place_of_the_bundled_fallback_where_that_cannot_run(
    shared: Workspace, messages: MessagesServer
) -> None:
    messages.reply(none("Nothing fits."), scripted.text("Done."))
    answer = shared.run("delegate", "--name", "a", SHARED).expect()
    assert answer.json["fallback"] == {"recipe": "default", "source": "default-recipe", **BUNDLED}
    assert answer.json["process"]["reply"] == "Done.\n"
    (warning,) = [each for each in answer.json["warnings"] if "slart-and-run" in each]
    assert "cannot be started here" in warning
    assert warning in answer.stderr


def test_a_dry_run_shows_the_same(shared: Workspace, messages: MessagesServer) -> None:
    messages.reply(none("Nothing fits."))
    answer = shared.run("delegate", "--dry-run", SHARED).expect().json
    assert answer["fallback"]["recipe"] == "default"
    assert any("slart-and-run" in each for each in answer["warnings"])


def test_a_fallback_that_somebody_chose_is_not_replaced(shared: Workspace, messages: MessagesServer) -> None:
    shared.settings({"routing.fallback.recipe": "slart-and-run"})
    messages.reply(none("Nothing fits."), none("Nothing fits."))
    failed = shared.run("delegate", "--name", "a", SHARED).expect(2)
    assert failed.json["fallback"]["recipe"] == "slart-and-run"
    assert "process" not in failed.json
    shared.run("delegate", "--name", "a", "--set", 'spawn.command=["true"]', SHARED).expect()  # the name is free


@pytest.mark.parametrize("written", ["Ford", "FORD", " ford "])
def test_an_engine_s_name_is_folded_everywhere(ws: Workspace, written: str) -> None:
    ws.recipe("P/recipes/upper.yaml", engine=written)
    for key in ("ford", "Ford"):
        own = {key: {"command": ["echo", "own"]}}
        ws.write("T/settings.yaml", json.dumps({"spawn": {"command": ["echo", "general"], "engines": own}}))
        answer = ws.run("delegate", "--recipe", "upper", "x").expect().json
        assert (answer["engine"], answer["process"]["reply"]) == ("ford", "own\n")
    ws.write("T/settings.yaml", json.dumps({"spawn": {"command": ["echo", "general"]}}))
    answer = ws.run("delegate", "--recipe", "upper", "--set", 'spawn.engines.FORD.command=["echo", "set"]', "x")
    assert answer.expect().json["process"]["reply"] == "set\n"


def test_an_engine_that_is_set_twice_is_refused(ws: Workspace) -> None:
    engines = {"ford": {"command": ["echo", "a"]}, "Ford": {"command": ["echo", "b"]}}
    ws.write("T/settings.yaml", json.dumps({"spawn": {"engines": engines}}))
    assert "each once" in ws.run("settings", "show").expect(2).stderr


@pytest.mark.parametrize("written", ["Ford", " FORD "])
def test_the_worker_runs_an_engine_however_it_is_written(ws: Workspace, messages: MessagesServer, written: str) -> None:
    ws.recipe("P/recipes/upper.yaml", engine=written)
    ws.model(messages)
    messages.reply(scripted.text("Done."))
    assert ws.run("delegate", "--recipe", "upper", "x").expect().json["process"]["reply"] == "Done.\n"


PROMPT = "lang=[{{ lang }}] model=[{{ model }}] tier=[{{ tier }}]"
RENDERED = "lang=[de] model=[claude-haiku-5-5] tier=[fast]"
GERMAN = {"LANG": "de_DE.UTF-8"}


def test_a_prompt_is_rendered_once_for_all_who_read_it(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/r.yaml", promptPrefix=PROMPT, params={"model": "default:fast"})
    for command in (["cat", "{system_file}"], ["head", "-1", "{prompt_file}"]):
        ws.settings({"spawn.command": command, "spawn.stdin": "none"})
        process = ws.run("delegate", "--recipe", "r", "x", env=GERMAN).expect().json["process"]
        assert process["reply"].strip() == RENDERED
    plan = ws.run("delegate", "--dry-run", "--recipe", "r", "x", env=GERMAN).expect().json["plan"]
    assert plan["payload"]["systemPrompt"] == RENDERED
    assert plan["payload"]["appliedRecipe"]["promptPrefix"] == PROMPT
    ws.model(messages)
    messages.reply(scripted.text("Done."))
    ws.run("delegate", "--set", "spawn.preset=worker", "--recipe", "r", "x", env=GERMAN).expect()
    assert RENDERED in json.dumps(messages.requests[0].body["system"])


@pytest.mark.parametrize("prompt", ["Use ${{ secrets.TOKEN }}", "Dear {{ user_name }}"])
@pytest.mark.parametrize("stdin", ["payload", "task", "prompt", "none"])
def test_a_rehearsal_fails_as_the_start_does(ws: Workspace, prompt: str, stdin: str) -> None:
    ws.recipe("P/recipes/r.yaml", promptPrefix=prompt)
    ws.settings({"spawn.command": ["true"], "spawn.stdin": stdin})
    said = [ws.run("delegate", *more, "--recipe", "r", "x").expect(2).stderr for more in ([], ["--dry-run"])]
    assert said[0] == said[1]
    assert "names what is not there" in said[0]


# Where it is said before anyone starts anything.


NO_AGENT = "the program `no-such-agent` is not on the PATH"
NO_COMMAND = "no spawn command is configured"


@pytest.mark.parametrize(
    ("settings", "engine", "reason"),
    [
        ({}, "ford", None),
        ({}, "marvin", NO_COMMAND),
        ({}, "zaphod", NO_COMMAND),
        ({"spawn.command": ["no-such-agent"]}, "ford", NO_AGENT),
        ({"spawn.command": ["cat"]}, "marvin", None),
        ({"spawn.engines": {"marvin": {"command": ["no-such-agent"]}}}, "marvin", NO_AGENT),
        ({"spawn.engines": {"marvin": {"command": ["no-such-agent"]}}}, "ford", None),
        ({"spawn.engines": {"marvin": {"preset": "claude"}}}, "marvin", "the program `claude` is not on the PATH"),
        ({"spawn.preset": "no-such"}, "ford", "there is no preset `no-such`"),
        ({"spawn.preset": "none"}, "ford", NO_COMMAND),
        ({"spawn.command": ["cat", "{tsak}"]}, "ford", "holds the unknown placeholder `{tsak}`"),
    ],
)
def test_lists_and_decisions_say_what_cannot_be_started(
    ws: Workspace, messages: MessagesServer, settings: dict[str, object], engine: str, reason: str | None
) -> None:
    ws.recipe("P/recipes/mine.yaml", "Mine, for what is mine.", engine=engine, triggers=["do mine"])
    ws.recipe("P/recipes/other.yaml", triggers=["do mine"])
    if settings:
        ws.settings(settings)
    (mine,) = [row for row in ws.run("recipes", "list", "--json").expect().json if row["name"] == "mine"]
    assert (reason or "") in mine.get("hindrance", "")
    assert ("hindrance" in mine) == (reason is not None)
    (again,) = [r for r in ws.run("recipes", "list", "--layer", "project").expect().json if r["name"] == "mine"]
    assert again == mine
    shown = ws.run("recipes", "list", tty=True, columns=200).expect()
    assert (f"! {engine}" in shown.stdout) == (reason is not None)
    assert (reason or "") in shown.stderr.replace(" for the engine `marvin`", "")
    ws.model(messages)
    messages.reply(scripted.match("mine"))
    decided = ws.run("select", "--explain", "do mine").expect()
    told = [text for text in decided.json["warnings"] if text.startswith("`mine` cannot be started here: ")]
    assert ([reason in text for text in told] if reason else told) == [True] * (reason is not None)
    assert decided.stderr == "".join(f"warning: {text}\n" for text in told)
    ws.write("P/recipes/other.yaml", "description: Another.\nengine: ford\n")
    explained = ws.run("select", "--explain", "do mine").expect()
    assert [text for text in explained.json["warnings"] if "cannot be started" in text] == told


def test_a_list_is_made_with_broken_settings(ws: Workspace) -> None:
    ws.recipe("P/recipes/mine.yaml")
    ws.write("T/settings.yaml", "spwan: {}\n")
    (mine,) = [row for row in ws.run("recipes", "list").expect().json if row["name"] == "mine"]
    assert mine["hindrance"] == "there is no setting `spwan`"


def test_a_missing_key_hinders_no_engine(ws: Workspace) -> None:
    ws.recipe("P/recipes/mine.yaml", triggers=["do mine"])
    assert "hindrance" not in ws.run("recipes", "list", "--layer", "project").expect().json[0]
    assert ws.run("select", "--explain", "do mine").expect().json["warnings"] == []


# A broken catalog.


def test_a_broken_catalog_is_said_wherever_it_counts(ws: Workspace, messages: MessagesServer) -> None:
    engine = "{purpose: p, when_to_use: w, not_for: n}"
    ws.write("B/catalog/engines.yaml", f"engines:\n  ford: {engine}\n")
    ws.run("catalog", "reload").expect()
    ws.write("B/catalog/engines.yaml", "engines: 5\n")
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.recipe("P/recipes/other.yaml", triggers=["fix them"])
    ws.model(messages)
    messages.reply(scripted.match("good"))
    for args in (["delegate", "--dry-run", "fix tests"], ["select", "fix tests and fix them"]):
        done = ws.run(*args).expect()
        (warning,) = [text for text in done.json["warnings"] if "catalog is broken" in text]
        assert warning.startswith(
            f"the engine catalog is broken, the last good one is in force: {ws.path('B/catalog')}"
        )
        assert done.stderr.count(warning) == 1


def test_the_last_good_catalog_is_that_of_its_file(ws: Workspace) -> None:
    engine = "{purpose: p, when_to_use: w, not_for: n}"
    ws.write("B/catalog/engines.yaml", f"engines:\n  ford: {engine}\n")
    ws.run("catalog", "reload").expect()
    ws.write("H/others/catalog/engines.yaml", "engines: 5\n")
    ws.write("H/others/settings.yaml", ws.path("B/settings.yaml").read_text())
    failed = ws.run("catalog", "show", env={"VANCECTL_DEFAULTS_DIR": str(ws.home / "others")}).expect(2)
    assert "the engine catalog is broken" in failed.stderr
    assert failed.stdout == ""
    ws.write("B/catalog/engines.yaml", "engines: 5\n")
    assert [row["name"] for row in ws.run("catalog", "show", "--json").expect().json] == ["ford"]
