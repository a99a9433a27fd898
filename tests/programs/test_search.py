"""The one search for a program: whoever starts one finds the same, and never what lies in the working directory."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.workspace import Workspace

PLANTED = "#!/bin/sh\ntouch planted-ran\n"
# Of these parts of a PATH none may be searched.
RELATIVE_PATHS = ["", ".", "bin:", "./bin", "bin", ":", "sub/../bin"]


@pytest.fixture(autouse=True)
def _planted(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    for name in ("P/my-agent", "P/bin/my-agent"):
        ws.write(name, PLANTED).chmod(0o755)


def run_nothing_of_the_project(ws: Workspace, *words: str, **options: Any) -> Any:
    result = ws.run(*words, **options)
    assert not ws.path("P/planted-ran").exists(), f"the project's program ran\n{result}"
    return result


@pytest.mark.parametrize("wait", ["--wait", "--no-wait"])
@pytest.mark.parametrize("name", ["./my-agent", "bin/my-agent", "../project/my-agent", "bin/../my-agent"])
def test_a_relative_program_is_refused(ws: Workspace, name: str, wait: str) -> None:
    ws.settings({"spawn.command": [name]})
    failed = run_nothing_of_the_project(ws, "delegate", wait, "--name", "a", "fix tests").expect(3)
    assert f"`{name}` is named by a relative path" in failed.stderr
    assert "write its absolute path, or a bare name" in failed.stderr
    assert "relative path" in ws.run("spawn", "test").expect(1).json["problem"]
    assert "relative path" in ws.run("recipes", "lint", "--format", "json").expect(1).stdout
    assert "relative path" in " ".join(ws.run("delegate", "--dry-run", "fix tests").json["warnings"])
    ws.run("delegate", "--name", "a", "--set", 'spawn.command=["true"]', "fix tests").expect()  # the name is free


@pytest.mark.parametrize("wait", ["--wait", "--no-wait"])
@pytest.mark.parametrize("part", RELATIVE_PATHS)
def test_relative_parts_of_the_path_are_not_searched(ws: Workspace, part: str, wait: str) -> None:
    ws.settings({"spawn.command": ["my-agent"]})
    path = {"PATH": f"{part}:/usr/bin:/bin"}
    failed = run_nothing_of_the_project(ws, "delegate", wait, "fix tests", env=path).expect(3)
    assert "the program `my-agent` is not on the PATH" in failed.json["error"]


def test_the_path_is_handed_down_as_it_is(ws: Workspace) -> None:
    ws.settings({"spawn.command": ["sh", "-c", 'printf %s "$PATH"'], "spawn.stdin": "none"})
    process = ws.run("delegate", "fix tests", env={"PATH": ".:/usr/bin:/bin:"}).expect().json["process"]
    assert process["reply"] == ".:/usr/bin:/bin:"


@pytest.mark.parametrize(
    ("command", "reason"),
    [(["./my-agent"], "relative path"), (["bin/my-agent"], "relative path"), (["my-agent"], "not on the PATH")],
    ids=["dot", "folder", "bare"],
)
def test_the_selector_s_program(ws: Workspace, command: list[str], reason: str) -> None:
    ws.settings({"selector.backend": "command", "selector.command": command})
    decision = run_nothing_of_the_project(ws, "select", "x", env={"PATH": ".:bin:/usr/bin:/bin"}).expect().json
    assert (decision["reason"], reason in decision["rationale"]) == ("command-failed", True)


def test_a_relative_command_for_the_end_is_refused(ws: Workspace) -> None:
    ws.settings({"spawn.command": ["true"]})
    refused = run_nothing_of_the_project(ws, "delegate", "--on-exit", "./my-agent", "fix tests").expect(2)
    assert "relative path" in refused.stderr


@pytest.mark.parametrize("mode", ["--wait", "--no-wait", "--dry-run"])
@pytest.mark.parametrize("name", ["no-such-notifier", "my-agent", "shapeless"])
def test_a_command_for_the_end_that_cannot_run_is_told_before(ws: Workspace, name: str, mode: str) -> None:
    ws.settings({"spawn.command": ["true"]})
    ws.program("shapeless", "#!/no/such/interpreter\n")
    answer = run_nothing_of_the_project(ws, "delegate", mode, "--on-exit", json.dumps([name, "x"]), "fix tests")
    (warning,) = answer.expect().json["warnings"]
    assert warning.startswith(f"no one will hear of the end: the program `{name}` ")
    assert warning in answer.stderr


def test_git_is_not_the_project_s(ws: Workspace) -> None:
    subprocess.run(["git", "init", "-q", str(ws.project)], check=True)
    ws.write("P/git", PLANTED).chmod(0o755)
    run_nothing_of_the_project(ws, "recipes", "diff", "HEAD:./.vance/recipes", ".vance/recipes", env={"PATH": ".:/bin"})


def test_the_editor_is_not_the_project_s(ws: Workspace) -> None:
    for editor in ("./my-agent", "my-agent"):
        refused = run_nothing_of_the_project(
            ws, "recipes", "edit", "good", env={"EDITOR": editor, "PATH": ".:/usr/bin:/bin"}
        )
        assert "cannot be started" in refused.expect(2).stderr


@pytest.mark.parametrize(
    ("command", "environment", "found"),
    [
        (["cat"], {"PATH": "{env.PATH}"}, True),
        (["only-here"], {"PATH": "H/tools"}, True),
        (["cat"], {"PATH": "H/tools"}, False),
        (["only-here"], {}, False),
        (["cat"], {"PATH": None}, True),  # the system's own search then takes its default
        (["odd{{name}}"], {"PATH": "H/tools"}, True),
    ],
    ids=["passed-on", "own", "own-lacks-it", "not-in-ours", "unset", "braces"],
)
def test_lint_and_test_and_start_look_in_the_path_of_the_child(
    ws: Workspace, command: list[str], environment: dict[str, str | None], found: bool
) -> None:
    for name in ("only-here", "odd{name}"):
        ws.write(f"H/tools/{name}", "#!/bin/sh\n").chmod(0o755)
    variables = {
        name: value.replace("H/", f"{ws.home}/") if value is not None else None for name, value in environment.items()
    }
    ws.settings({"spawn.command": command, "spawn.env": variables, "spawn.stdin": "none"})
    assert (ws.run("spawn", "test").json["problem"] is None) is found
    assert ("no-program" not in ws.run("recipes", "lint", "--format", "json").stdout) is found
    assert (ws.run("delegate", "fix tests").status == 0) is found


@pytest.mark.parametrize("first_line", ["", "#!/no/such/interpreter", "#!bin/sh", "#!/usr/bin/env no-such-thing"])
def test_a_script_without_an_interpreter_is_seen_before_the_start(ws: Workspace, first_line: str) -> None:
    ws.write("H/agent", f"{first_line}\necho hello\n").chmod(0o755)
    ws.settings({"spawn.command": [str(ws.home / "agent")]})
    assert "first line" in ws.run("spawn", "test").expect(1).json["problem"]
    assert "first line" in ws.run("recipes", "lint", "--format", "json").expect(1).stdout
    assert "first line" in ws.run("delegate", "fix tests").expect(3).json["error"]
