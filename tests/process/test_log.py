"""What a process writes: its reply is its standard output alone, its log holds both streams, and has an end."""

from __future__ import annotations

import json
import os
import signal
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import Workspace

MODES = pytest.mark.parametrize("mode", [[], ["--no-wait"]], ids=["wait", "no-wait"])


def run(ws: Workspace, script: str, *args: str, status: int = 0) -> dict[str, Any]:
    """The process as it stands once it has ended."""
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", script.replace("{", "{{").replace("}", "}}")], "spawn.stdin": "none"})
    ws.run("delegate", "--recipe", "good", "--name", "a", *args).expect(0 if "--no-wait" in args else status)
    ws.run("processes", "wait", "a").expect(1 if status else 0)
    return dict(ws.run("processes", "show", "a").expect().json)


@MODES
@pytest.mark.parametrize(
    ("script", "reply", "log"),
    [
        ("echo banner >&2; sleep 0.1; echo answer", "answer\n", "banner\nanswer\n"),
        ("""echo note >&2; sleep 0.1; echo '{"a": 1}'""", {"a": 1}, 'note\n{"a": 1}\n'),
        ("echo only this >&2", None, "only this\n"),
        ("echo only that", "only that\n", "only that\n"),
    ],
)
def test_streams_stand_apart(ws: Workspace, mode: list[str], script: str, reply: object, log: str) -> None:
    process = run(ws, script, *mode)
    assert process.get("reply") == reply
    assert ws.run("processes", "logs", "a").expect().stdout == log
    assert Path(process["log"]).read_text() == log
    assert stat.S_IMODE(Path(process["log"]).stat().st_mode) == 0o600


def test_children_of_a_plan_reply_with_their_standard_output(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", "echo talk >&2; echo answer"], "spawn.stdin": "none"})
    ws.write("P/plan.yaml", "children: [{name: a, recipe: good, task: x}]")
    (answer,) = ws.run("plan", "plan.yaml").expect().json["answers"]
    assert answer["process"]["reply"] == "answer\n"


def test_standard_error_is_passed_on_as_it_comes_without_secrets(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    env = {"ANTHROPIC_API_KEY": "a-long-secret"}
    ws.settings({"spawn.command": ["sh", "-c", "echo a-long-secret >&2"], "spawn.stdin": "none"})
    assert ws.run("delegate", "--recipe", "good", "x", env=env).expect().stderr == "***\n"


@MODES
def test_a_log_has_a_limit(ws: Workspace, mode: list[str]) -> None:
    script = "yes | head -c 300000; echo x >&2; touch ended"
    process = run(ws, script, "--set", "limits.logBytes=100000", *mode)
    assert (process["status"], process["logTruncated"]) == ("DONE", True)
    assert ws.path("P/ended").exists(), "the program did not go on"
    assert Path(process["log"]).stat().st_size == 100000
    assert process["reply"] == "y\n" * 50000
    (listed,) = ws.run("processes", "list").expect().json
    assert listed["logTruncated"] is True


@MODES
def test_a_log_just_within_its_limit_is_whole(ws: Workspace, mode: list[str]) -> None:
    process = run(ws, "yes | head -c 100000", "--set", "limits.logBytes=100000", *mode)
    assert ("logTruncated" in process, len(process["reply"])) == (False, 100000)


def test_the_log_of_what_is_waited_for_can_be_read_meanwhile(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    script = "echo begun >&2; while [ ! -e go ]; do sleep 0.05; done"
    ws.settings({"spawn.command": ["sh", "-c", script], "spawn.stdin": "none"})
    waiting = ws.start("delegate", "--recipe", "good", "--name", "a", "x")
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == b"begun\n"
    assert ws.run("processes", "logs", "a").expect().stdout == "begun\n"
    ws.write("P/go", "")
    ws.finish(waiting).expect()


@MODES
@pytest.mark.parametrize("said", ["w" * 50_000, json.dumps({"a": "w" * 50_000}), "ü" * 5_000])
def test_lists_and_events_carry_the_beginning_of_a_long_reply(ws: Workspace, mode: list[str], said: str) -> None:
    ws.write("P/said", said)
    ws.program("told", "cat >event.part; mv event.part event")
    process = run(ws, "cat said; sleep 0.1", "--on-exit", "told", *mode)
    reply = process["reply"]
    assert (reply if isinstance(reply, str) else json.dumps(reply)) == said
    (listed,) = ws.run("processes", "list").expect().json
    assert listed["reply"] == said[:4000]
    assert f"the first 4,000 of {len(said):,} characters" in listed["replyNote"]
    shown = ws.run(*listed["replyNote"].split("`")[1].split()[1:]).expect().json
    assert shown["reply"] == reply
    while not ws.path("P/event").exists():
        pass
    event = json.loads(ws.path("P/event").read_text())["process"]
    assert (event["reply"], event["replyNote"]) == (listed["reply"], listed["replyNote"])


def test_a_plan_s_answer_carries_the_beginning_of_a_long_reply(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", "yes | head -c 50000"], "spawn.stdin": "none"})
    ws.write("P/plan.yaml", "children: [{name: a, recipe: good, task: x}]")
    for _ in range(2):  # the second time it is there already
        (answer,) = ws.run("plan", "plan.yaml").expect().json["answers"]
        assert len(answer["process"]["reply"]) == 4000
        assert answer["process"]["replyNote"].startswith("the first 4,000 of 50,000 characters")


@MODES
@pytest.mark.parametrize(
    ("script", "remedy"),
    [("echo why >&2; exit 1", "`vancectl processes logs {}` shows what it wrote"), ("exit 1", "it wrote nothing")],
    ids=["speaks", "is-silent"],
)
def test_the_remedy_names_where_it_speaks(ws: Workspace, mode: list[str], script: str, remedy: str) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", script], "spawn.stdin": "none"})
    if mode:  # only a plan waits for a supervised process
        ws.write("P/plan.yaml", "children: [{name: a, recipe: good, task: x}]")
        (answer,) = ws.run("plan", "plan.yaml").expect(3).json["answers"]
        assert answer["process"]["exitCode"] == 1
        return
    failed = ws.run("delegate", "--recipe", "good", "--name", "a", "x").expect(3)
    identity = failed.json["process"]["id"]
    assert failed.stderr.endswith(f"help: {remedy.format(identity)}\n")
    assert ws.run("processes", "logs", identity).expect().stdout == ("why\n" if "why" in script else "")


def test_the_supervisor_s_death_lets_the_program_go_on_writing(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    script = "while [ ! -e go ]; do sleep 0.05; done; echo late; echo later >&2; touch ended"
    ws.settings({"spawn.command": ["sh", "-c", script], "spawn.stdin": "none"})
    ws.run("delegate", "--recipe", "good", "--no-wait", "--name", "a", "x").expect()
    os.kill(ws.run("processes", "show", "a").expect().json["supervisor"], signal.SIGKILL)
    time.sleep(0.1)
    assert ws.run("processes", "show", "a").expect().json["status"] == "RUNNING"
    ws.write("P/go", "")
    assert ws.run("processes", "wait", "a", "--timeout", "20").expect(1).json["status"] == "ABANDONED"
    assert ws.path("P/ended").exists()
    assert ws.run("processes", "logs", "a").expect().stdout == "late\nlater\n"
