"""A fallback that generates a recipe first: two steps, or one and an event."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace

YAML = "description: Paints. Take it to paint.\nengine: ford\npromptPrefix: Paint.\n"
ANSWER = f"name: painter\n```yaml\n{YAML}```"
# A program of one's own in place of the worker: it stores the file and names it.
GENERATOR = """#!python
import json, os, sys
payload = json.load(sys.stdin)
if payload["appliedRecipe"]["recipe"] != "maker":
    print("ran", payload["appliedRecipe"]["recipe"], payload["appliedRecipe"]["params"])
    sys.exit()
folder = ".vance/recipes/_slart/" + os.environ["VANCECTL_PROCESS_ID"]
os.makedirs(folder)
open(folder + "/made.yaml", "w").write("description: d\\nengine: ford\\nparams: {a: 1}\\n")
print("working", file=sys.stderr)
"""


def none_after_a_trigger(ws: Workspace, fallback: str) -> None:
    """Two phrases are hit, and the model says NONE: the fallback of the setting."""
    ws.recipe("P/recipes/one.yaml", triggers=["paint"])
    ws.recipe("P/recipes/two.yaml", triggers=["the fence"])
    ws.settings({"routing.fallback.recipe": fallback})


def with_program(ws: Workspace, script: str = GENERATOR, **settings: object) -> None:
    none_after_a_trigger(ws, "maker")
    ws.recipe("P/recipes/maker.yaml", params={"generates": "recipe"})
    ws.program("agent", script)
    ws.program("oracle", """echo '{"decision": "NONE", "recipe": null, "rationale": "Nothing."}'""")
    ws.settings({"spawn.command": ["agent"], "selector.backend": "command", "selector.command": ["oracle"], **settings})


def delegate(ws: Workspace, *args: str, status: int = 0, **options: Any) -> Result:
    return ws.run("delegate", "--name", "a", *args, "paint the fence", **options).expect(status)


def test_the_bundled_author_with_the_worker(ws: Workspace, messages: MessagesServer) -> None:
    none_after_a_trigger(ws, "slartibartfast")
    ws.model(messages)
    messages.reply(scripted.none(), scripted.text(ANSWER), scripted.text("Painted."))
    answer = delegate(ws).json
    name = answer["fallback"]["generatedRecipe"]
    assert (answer["decision"], answer["recipe"]) == ("NONE", None)
    assert answer["fallback"] == {
        "recipe": "slartibartfast", "source": "routing.fallback.recipe", "generatedRecipe": name,
        "layer": "bundled", "shadows": [],
    }  # fmt: skip
    assert name == f"_slart/{answer['generator']['id']}/painter"
    assert answer["generator"]["name"].startswith("a-")
    process = answer["process"]
    assert [process[key] for key in ("name", "recipe", "status", "reply")] == ["a", name, "DONE", "Painted.\n"]
    assert messages.requests[2].body["system"].endswith("\n\nPaint.")
    assert delegate(ws).json["process"]["status"] == "already_exists"


def test_a_program_of_one_s_own(ws: Workspace) -> None:
    with_program(ws)
    answer = delegate(ws, "--param", "b=2").json
    name = f"_slart/{answer['generator']['id']}/made"
    assert answer["fallback"]["generatedRecipe"] == name
    assert answer["process"]["reply"] == f"ran {name} {{'a': 1, 'generates': 'recipe', 'b': 2}}\n".replace(
        "'generates': 'recipe', ", ""
    )


def test_without_waiting_for_the_second_step(ws: Workspace) -> None:
    with_program(ws)
    answer = delegate(ws, "--no-wait").json
    assert answer["process"]["recipe"] == answer["fallback"]["generatedRecipe"]
    assert ws.run("processes", "wait", "a").expect().json["status"] == "DONE"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 7", "no recipe was generated: the spawn command ended with status 7"),
        ("cat >/dev/null; echo done", "no recipe was generated: `maker` ended well, but named none"),
        ("""echo '{"generatedRecipe": "python"}'""", "ended well, but named none"),
        ("""echo '{"generatedRecipe": "_slart/x/gone"}'""", "ended well, but named none"),
        ("exec sleep 60", "no recipe was generated: the spawn command was ended after 0.5 seconds"),
    ],
    ids=["fails", "names-none", "names-another", "names-what-is-not-there", "takes-too-long"],
)
def test_a_generator_that_gives_none(ws: Workspace, script: str, told: str) -> None:
    with_program(ws, script, **{"routing.fallback.generateTimeout": 0.5 if "sleep" in script else 30})
    begun = time.monotonic()
    failed = delegate(ws, status=3)
    assert time.monotonic() - begun < 10
    assert failed.json["decision"] == "NONE"
    assert told in failed.json["error"]
    assert "process" not in failed.json
    assert [each["recipe"] for each in ws.run("processes", "list").expect().json] == ["maker"]
    ws.settings({"spawn.command": ["true"], "routing.fallback.recipe": "one"})
    assert delegate(ws).json["process"]["status"] == "DONE"  # the name is free


def test_a_broken_recipe_is_not_started(ws: Workspace) -> None:
    with_program(ws, GENERATOR.replace("description: d", "description: [d]"))
    failed = delegate(ws, status=2)
    assert "is broken" in failed.json["error"]
    assert "process" not in failed.json


def test_pending(ws: Workspace) -> None:
    with_program(
        ws,
        GENERATOR
        + """
print(json.dumps({"generatedRecipe": folder.removeprefix(".vance/recipes/") + "/made", "path": folder}))
""",
    )
    ws.program("told", "cat >event.part; mv event.part event")
    answer = delegate(ws, "--async-fallback", "--on-exit", "told").json
    assert (answer["decision"], answer["outcome"]) == ("NONE", "PENDING")
    assert answer["fallback"] == {
        "recipe": "maker",
        "source": "routing.fallback.recipe",
        "layer": "project",
        "shadows": [],
    }
    process = answer["process"]
    assert process["status"] == "RUNNING"
    limit = time.monotonic() + 10
    while not ws.path("P/event").exists():
        assert time.monotonic() < limit, "the event has come"
        time.sleep(0.02)
    event = json.loads(ws.path("P/event").read_text())
    assert event["event"] == "end"
    assert event["process"]["id"] == process["id"]
    assert (event["process"]["status"], event["process"]["exitCode"]) == ("DONE", 0)
    assert event["generatedRecipe"] == f"_slart/{process['id']}/made"
    request = {"name": "b", "recipe": event["generatedRecipe"]}
    started = ws.run("delegate", "--request", "-", stdin=json.dumps(request)).expect().json["process"]
    assert started["reply"].startswith("ran _slart/")


def test_who_is_named_generates_and_no_more(ws: Workspace) -> None:
    with_program(ws)
    answer = ws.run("delegate", "--recipe", "maker", "x").expect().json
    assert "fallback" not in answer
    assert answer["process"]["recipe"] == "maker"
    assert len(ws.run("processes", "list").expect().json) == 1
