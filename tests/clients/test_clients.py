"""What is written for agent programs, and what they are answered for a prompt."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.messages_server import MessagesServer, match
from tests.workspace import Workspace

SERVERS = {
    "claude": ("P/.mcp.json", ("mcpServers", "vancectl")),
    "codex": ("H/.codex/config.toml", ("mcp_servers", "vancectl")),
    "vscode": ("P/.vscode/mcp.json", ("servers", "vancectl")),
    "opencode": ("P/opencode.json", ("mcp", "vancectl")),
    "gemini": ("P/.gemini/settings.json", ("mcpServers", "vancectl")),
}
HOOKS = {
    "claude": ("P/.claude/settings.json", ("hooks", "UserPromptSubmit")),
    "codex": ("H/.codex/hooks.json", ("hooks", "UserPromptSubmit")),
    "gemini": ("P/.gemini/settings.json", ("hooks", "BeforeAgent")),
}


def file(ws: Workspace, notation: str) -> Path:
    return ws.project / notation[2:] if notation.startswith("P/") else ws.path(notation)


def read(path: Path, way: tuple[str, ...]) -> Any:
    text = path.read_text()
    found: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    for key in way:
        found = found[key]
    return found


@pytest.mark.parametrize("client", SERVERS)
def test_a_client_is_told_of_the_server(ws: Workspace, client: str) -> None:
    path, way = file(ws, SERVERS[client][0]), SERVERS[client][1]
    shown = ws.run("mcp", "--install", client, "--tenant", "default").expect()
    assert f"note: this belongs into {path}" in shown.stderr
    assert not path.exists()
    ws.run("mcp", "--install", client, "--write", "--tenant", "default").expect()
    assert path.read_text() == shown.stdout
    written = read(path, way)
    words = written["command"] if client == "opencode" else [written["command"], *written["args"]]
    assert words[1:] == ["mcp", "--tenant", "default"]
    assert ws.run("mcp", "--install", client, "--write", "--tenant", "default").expect().json["written"] is False


@pytest.mark.parametrize("client", HOOKS)
def test_a_client_is_told_of_the_hook(ws: Workspace, client: str) -> None:
    path, way = file(ws, HOOKS[client][0]), HOOKS[client][1]
    other = {"hooks": [{"type": "command", "command": "other"}]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"model": "x", way[0]: {way[1]: [other]}}))
    for _ in range(2):
        ws.run("hook", "--install", client, "--write").expect()
    assert read(path, ("model",)) == "x"
    first, second = read(path, way)
    assert first == other
    assert second["hooks"][0]["command"].endswith("vancectl hook")


@pytest.mark.parametrize(
    ("notation", "content", "said"),
    [
        ("P/.mcp.json", "// mine\n{}\n", "the file is not plain JSON"),
        ("P/.mcp.json", '{"mcpServers": []}\n', "the file has something else at `mcpServers.vancectl`"),
        ("H/.codex/config.toml", "a = [\n", "the file is not TOML"),
        ("H/.codex/config.toml", "[mcp_servers.vancectl]\ncommand = 'x'\n", "has another `mcp_servers.vancectl`"),
    ],
)
def test_a_file_that_is_not_understood_stays_as_it_is(ws: Workspace, notation: str, content: str, said: str) -> None:
    path = file(ws, notation)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    client = "codex" if "codex" in notation else "claude"
    assert said in ws.run("mcp", "--install", client, "--write").expect(2).stderr
    assert path.read_text() == content


def test_nothing_is_written_through_a_link(ws: Workspace, tmp_path: Path) -> None:
    (ws.project / ".mcp.json").symlink_to(tmp_path / "elsewhere")
    assert "link" in ws.run("mcp", "--install", "claude", "--write").expect(2).stderr
    assert not (tmp_path / "elsewhere").exists()


def asked(ws: Workspace, prompt: str, *options: str, event: str = "UserPromptSubmit") -> str | None:
    """The context that the hook gives for a prompt."""
    said = json.dumps({"hook_event_name": event, "cwd": str(ws.project), "prompt": prompt})
    done = ws.run("hook", *options, stdin=said, cwd="H/").expect()
    if not done.stdout:
        return None
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["hookEventName"] == event
    return str(answer["additionalContext"])


@pytest.mark.parametrize("event", ["UserPromptSubmit", "BeforeAgent"])
def test_a_recipe_is_named_with_the_reason(ws: Workspace, event: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    said = asked(ws, "please fix tests", event=event)
    assert said is not None
    assert "vancectl delegate --recipe good -" in said
    assert 'matched trigger "fix tests"' in said


def test_on_none_nothing_is_said_and_no_model_is_asked(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    assert asked(ws, "what else is there") is None
    assert messages.requests == []


def test_a_model_is_asked_where_that_is_wanted(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/good.yaml", "Review a branch.")
    ws.model(messages)
    messages.reply(match("good"))
    assert "`good`" in str(asked(ws, "what else is there", "--with-model", "20"))


@pytest.mark.parametrize("event", ["", "{", "[]", '{"prompt": 7}', '{"prompt": "x", "prompt": "y"}'])
def test_a_fault_is_one_line_and_blocks_nothing(ws: Workspace, event: str) -> None:
    done = ws.run("hook", stdin=event).expect(0)
    assert done.stdout == ""
    assert (done.stderr.count("\n"), done.stderr[:14]) == (1, "vancectl hook:")


def test_wrong_usage_blocks_nothing(ws: Workspace) -> None:
    assert ws.run("hook", "--nonsense", stdin="{}").expect(0).stdout == ""
    ws.run("hook", "--install", "nobody").expect(2)


def test_broken_settings_leave_a_decision_by_phrase_alone(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.write("T/settings.yaml", "spawn: [\n")
    assert "good" in str(asked(ws, "fix tests"))


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        (".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews code.\n---\nYou review.\n",
         "use the agent `reviewer`"),
        (".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills in PDF forms.\n---\nDo.\n",
         "use the skill `pdf`"),
    ],
)  # fmt: skip
def test_a_skill_or_agent_of_the_client_is_named_as_it_knows_it(
    ws: Workspace, messages: MessagesServer, place: str, text: str, said: str
) -> None:
    ws.write(f"H/{place}", text)
    ws.write("H/bin/claude", "#!/bin/sh\n").chmod(0o755)
    ws.env["PATH"] = f"{ws.path('H/bin')}:{ws.environment()['PATH']}"
    ws.model(messages)
    name = next(row["name"] for row in ws.run("recipes", "list").expect().json if row["layer"] == "source")
    messages.reply(match(name))
    assert said in str(asked(ws, "help me with this one", "--with-model", "20"))
