"""What a shell or an interpreter would read as code is found in a command, wherever they stand in it."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Workspace
from vancectl.process.code import filled_code
from vancectl.process.preset import load_preset, preset_names


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (["sh", "-c", "{task}"], "task"),
        (["bash", "-lc", "claude {task}"], "task"),
        (["/bin/zsh", "-c", "echo '{message}'"], "message"),
        (["env", "A=1", "sh", "-c", "{title}"], "title"),
        (["nice", "bash", "--norc", "-c", "x {params.y}"], "params.y"),
        (["python3.11", "-c", "print('{task}')"], "task"),
        (["python3", "-Ic", "print('{task}')"], "task"),
        (["perl", "-e", "{task}"], "task"),
        (["node", "--eval", "f('{name}')"], "name"),
        (["ssh", "host", "agent", "{task}"], "task"),
        (["ssh", "host", "--", "agent", "{model}"], "model"),
        (["su", "me", "-c", "agent {task}"], "task"),
        (["sh", "-c", "{{{task}}}"], "task"),
        (["sh", "-c", 'agent "$1"', "sh", "{task}"], None),
        (["sh", "-c", "agent <{payload_file} {id}"], None),
        (["sh", "-c", "agent {{task}}"], None),
        (["sh", "agent.sh", "{task}"], None),
        (["agent", "-c", "{task}"], None),
        (["claude", "-p", "--", "{task}"], None),
        (["python3", "-m", "agent", "{task}"], None),
        (["ssh", "host", "agent", "{id}"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_filled_into_code(command: list[str], found: str | None) -> None:
    assert [code.placeholder for code in filled_code(command)] == ([found] if found else [])


@pytest.mark.parametrize("name", preset_names())
def test_no_preset_fills_anything_into_code(name: str) -> None:
    parts = [word for part in load_preset(name).command for word in ([part] if isinstance(part, str) else part)]
    assert filled_code(parts) == []


def test_a_start_says_so(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", "echo {task}"], "spawn.stdin": "none"})
    (told,) = ws.run("delegate", "--recipe", "good", "$(echo run)").expect().json["warnings"]
    assert told.startswith("`{task}` in spawn.command is read as code by `sh`, so that its value is run; ")


@pytest.mark.parametrize("part", ["{task}", "{message}", "@{prompt_file}"])
@pytest.mark.parametrize("chosen", [False, True])
def test_a_task_as_an_argument_and_the_payload_on_standard_input(ws: Workspace, part: str, chosen: bool) -> None:
    ws.recipe("P/recipes/good.yaml")
    command = json.dumps(["true", "--", part])
    args = ["--set", "spawn.stdin=payload"] if chosen else []
    dry = ws.run("delegate", "--dry-run", "--recipe", "good", "--set", f"spawn.command={command}", *args, "x").expect()
    assert [part.strip("@") in text for text in dry.json["warnings"]] == [True] * (not chosen)
