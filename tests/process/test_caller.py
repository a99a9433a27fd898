"""The session is found by one rule, and each time is spelt in one way, whatever command it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.workspace import Workspace

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def laid(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings({"spawn.command": ["true"], "spawn.stdin": "none", "session.defaultChatEngine": "ford"})
    ws.recipe("P/recipes/ford.yaml")


def session(ws: Workspace, command: str, option: str | None, written: str | None) -> Any:
    options = ["--session", option] if option else []
    said = {"session": written} if written else {}
    if command == "plan":
        ws.write("P/plan.yaml", json.dumps({**said, "children": [{"name": "a", "recipe": "good", "task": "x"}]}))
        return ws.run("plan", "plan.yaml", *options).expect().json["answers"][0]["process"]["session"]
    if command == "request":
        request = json.dumps({**said, "name": "a", "recipe": "good", "task": "x"})
        return ws.run("delegate", "--request", "-", *options, stdin=request).expect().json["process"]["session"]
    if command == "chat":
        return ws.run("chat", "hello", *options).expect().json["process"]["session"]
    return ws.run("delegate", "fix tests", *options).expect().json["process"]["session"]


@pytest.mark.parametrize("variable", ["variable", "", None])
@pytest.mark.parametrize("option", ["option", None])
@pytest.mark.parametrize(
    ("command", "written"),
    [("delegate", None), ("chat", None), ("request", None), ("request", "file"), ("plan", None), ("plan", "file")],
)
def test_option_then_file_then_variable_then_default(
    ws: Workspace, command: str, written: str | None, option: str | None, variable: str | None
) -> None:
    laid(ws)
    ws.env["VANCECTL_SESSION"] = variable
    expected = option or written or variable or "default"
    assert session(ws, command, option, written) == expected
    (process,) = ws.run("processes", "list").expect().json
    ws.run("processes", "show", process["name"], "--session", expected).expect()
    if expected in {variable, "default"}:
        ws.run("processes", "show", process["name"]).expect()


@pytest.mark.parametrize("mode", [[], ["--no-wait"]], ids=["wait", "no-wait"])
def test_times_are_spelt_alike(ws: Workspace, mode: list[str]) -> None:
    laid(ws)
    ws.run("delegate", "--name", "a", *mode, "fix tests").expect()
    process = ws.run("processes", "wait", "a").expect().json
    (entry,) = [json.loads(line) for line in (ws.state / "log" / "decisions.jsonl").read_text().splitlines()]
    for moment in (process["startedAt"], process["endedAt"], entry["time"]):
        assert TIME.fullmatch(moment), moment
    assert entry["time"][:10] <= process["startedAt"][:10] <= process["endedAt"][:10]


def test_times_of_an_earlier_version_are_spelt_alike(ws: Workspace) -> None:
    laid(ws)
    ws.run("delegate", "--name", "a", "fix tests").expect()
    row = "UPDATE process SET started_at = '2020-01-01T00:00:00.000+00:00', ended_at = '2020-01-01T00:00:01.500+00:00'"
    change = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
    subprocess.run([sys.executable, "-c", change, str(ws.state / "processes.sqlite3"), row], check=True)
    process = ws.run("processes", "show", "a").expect().json
    assert (process["startedAt"], process["endedAt"]) == ("2020-01-01T00:00:00.000Z", "2020-01-01T00:00:01.500Z")
    ws.run("processes", "remove", "--older-than", "30d").expect()
    assert ws.run("processes", "list").expect().json == []
