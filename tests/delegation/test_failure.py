"""What is said of a program that failed, beside what it said itself."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace

KEYS = {"ANTHROPIC_API_KEY": "sk-0123456789"}


def told(ws: Workspace, script: str, *args: str, status: int = 3, env: dict[str, str] = KEYS) -> list[str]:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.stdin": "none"})
    command = f'spawn.command=["sh", "-c", "{script}"]'
    done = ws.run("delegate", "--recipe", "good", "--set", command, *args, "x", env=env).expect(status)
    warnings: list[str] = done.json["warnings"]
    assert done.stderr.count("vancectl did not pass") == len(warnings)
    return warnings


@pytest.mark.parametrize(
    "script",
    [
        "echo Not logged in - Please run /login; exit 1",
        "echo Invalid API key; exit 1",
        "echo authentication_error 401; exit 3",
        "echo 401 unauthorized >&2; exit 1",
        "exit 1",
    ],
)
def test_a_key_that_was_withheld_is_named_after_a_failure(ws: Workspace, script: str) -> None:
    assert told(ws, script) == [
        "vancectl did not pass ANTHROPIC_API_KEY on to the program that failed; if that is what it misses, set "
        'spawn.env: {ANTHROPIC_API_KEY: "{env.ANTHROPIC_API_KEY}"}'
    ]


def test_all_that_were_withheld_are_named(ws: Workspace) -> None:
    both = {**KEYS, "ANTHROPIC_CUSTOM_HEADERS": "x-key: 0123456789"}
    assert "ANTHROPIC_API_KEY, ANTHROPIC_CUSTOM_HEADERS" in told(ws, "exit 1", env=both)[0]


@pytest.mark.parametrize(
    ("script", "args", "env", "status"),
    [
        ("exit 0", [], KEYS, 0),
        ("echo 2 tests failed; exit 1", [], KEYS, 3),
        ("exit 1", [], {}, 3),
        ("exit 1", [], {"ANTHROPIC_API_KEY": ""}, 3),
        ("exit 1", ["--set", "spawn.env.ANTHROPIC_API_KEY={env.ANTHROPIC_API_KEY}"], KEYS, 3),
        ("exit 1", ["--set", "spawn.env.ANTHROPIC_API_KEY=null"], KEYS, 3),
        ("exit 1", [], {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, 3),
    ],
)
def test_what_was_not_missed_is_not_named(
    ws: Workspace, script: str, args: list[str], env: dict[str, str], status: int
) -> None:
    assert told(ws, script, *args, status=status, env=env) == []


def test_the_test_of_a_command_says_what_it_would_not_get(ws: Workspace) -> None:
    ws.program("claude", "")
    shown = ws.run("spawn", "test", "--preset", "claude", env=KEYS).expect().json
    assert shown["withheld"] == ["ANTHROPIC_API_KEY"]
    assert ws.run("spawn", "test", "--preset", "worker", env=KEYS).expect().json["withheld"] == []
