"""`vancectl init`, `doctor`, and `vancectl` alone: the first minutes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.messages_server import MessagesServer
from tests.workspace import Workspace


@pytest.fixture
def empty(ws: Workspace) -> Workspace:
    """A repository without a project, and one of its folders."""
    subprocess.run(["git", "init", "-q", ws.project], check=True, env=ws.environment())
    (ws.project / "sub").mkdir()
    return ws


def test_a_project_begins_at_the_top_and_what_it_has_is_in_order(empty: Workspace) -> None:
    begun = empty.run("init", cwd=empty.project / "sub").expect().json
    folder = empty.project / ".vance"
    assert begun["written"] == [str(folder / "recipes/release-notes.yaml"), str(folder / "routes.yaml")]
    assert empty.run("select", "write release notes for 2.4").expect().json["recipe"] == "release-notes"
    assert empty.run("recipes", "lint", "--strict").expect().json["findings"] == []
    assert empty.run("check").expect().json["summary"]["wrong"] == 0
    first = (folder / "recipes/release-notes.yaml").read_text().splitlines()[0]
    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert (folder / "recipes" / schema).is_file()


@pytest.mark.parametrize("host", ["github", "gitlab", "jenkins"])
def test_the_job_of_a_host_and_nothing_is_overwritten(empty: Workspace, host: str) -> None:
    written = empty.run("init", "--ci", host).expect().json["written"]
    job = written[-1]
    Path(job).write_text("# mine\n")
    again = empty.run("init", "--ci", host).expect()
    assert (again.json["written"], again.json["kept"], again.stderr) == ([], [job], "")
    assert Path(job).read_text() == "# mine\n"


def test_recipes_that_are_there_stay_alone(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    assert ws.run("init").expect().json["written"] == []
    assert sorted(os.listdir(ws.project / ".vance/recipes")) == ["good.yaml"]


def test_a_second_new_recipe_says_nothing_of_the_schema(ws: Workspace) -> None:
    for name in ("one", "two"):
        assert "schema" not in ws.run("recipes", "new", name).expect().stderr


def test_at_a_terminal_the_next_commands_are_named(empty: Workspace) -> None:
    shown = empty.run("init", tty=True, columns=200).expect().stdout
    assert "written: .vance/recipes/release-notes.yaml" in shown.replace("\r", "")
    assert 'vancectl select "write release notes for 2.4"' in shown


def parts(ws: Workspace, status: int, *options: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for part in ws.run("doctor", *options).expect(status).json:
        found.setdefault(part["part"], []).append(part)
    return found


def test_a_doctor_finds_nothing_wrong_where_all_is_set_up(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    ws.settings(spawn={"command": [sys.executable, "-c", "pass", "{name}"], "stdin": "task"})
    found = parts(ws, 0)
    assert {each["health"] for named in found.values() for each in named} == {"fine"}
    assert found["start"][0]["text"].startswith(f"{sys.executable}, Python ")
    assert messages.requests == []


@pytest.mark.parametrize(
    ("files", "part", "text"),
    [
        ({"T/settings.yaml": "spawn: [\n"}, "settings", "the settings are broken"),
        ({"T/settings.yaml": "spawn: {command: [no-such-program]}\n"}, "start", "no-such-program"),
        ({"P/recipes/bad.yaml": "engine: ford\n"}, "recipes", "`bad` is broken"),
        ({"B/catalog/engines.yaml": "engines: 5\n"}, "catalog", "the engine catalog is broken"),
    ],
)
def test_what_is_wrong_is_said_with_what_helps(ws: Workspace, files: dict[str, str], part: str, text: str) -> None:
    for notation, content in files.items():
        ws.write(notation, content)
    faults = [each for each in parts(ws, 1)[part] if each["health"] == "fault"]
    assert text in faults[0]["text"]
    assert faults[0]["remedy"]


def test_the_server_is_asked_only_online(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    ws.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    assert parts(ws, 0)["model"][0]["health"] == "fine"
    assert "could not be reached" in parts(ws, 1, "--online")["model"][0]["text"]


def test_the_name_alone_says_what_is_in_force(ws: Workspace) -> None:
    shown = ws.run(tty=True, columns=120).expect().stdout
    for part in ("vancectl", "recipes", "project", "settings", "model", "start", "vancectl doctor"):
        assert part in shown
    assert len(shown.splitlines()) < 20
    assert "Usage:" in ws.run().stdout + ws.run().stderr  # in a pipe it is the help


def test_help_is_a_command_too(ws: Workspace) -> None:
    assert ws.run("help", "select").expect().stdout == ws.run("select", "--help").expect().stdout
    assert ws.run("help").expect().stdout == ws.run("--help").expect().stdout
    assert ws.run("-V").expect().stdout == ws.run("--version").expect().stdout
