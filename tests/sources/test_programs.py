"""Recipes of other programs, started by the real ones where LLM_PROGRAM and CLAUDE_PROGRAM or the PATH name them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.messages_server import MessagesServer, stream
from tests.workspace import Workspace

# Read before the variables of the caller are cleared.
PROGRAMS = {name: os.environ.get(f"{name.upper()}_PROGRAM") or shutil.which(name) for name in ("llm", "claude")}
HOW = {"llm": "pip install llm llm-echo", "claude": "npm install @anthropic-ai/claude-code"}


def real(ws: Workspace, name: str) -> None:
    """Puts the real program on the PATH of the workspace."""
    program = PROGRAMS[name]
    if program is None:
        pytest.skip(f"{name.upper()} IS NOT HERE: {HOW[name]}, and set {name.upper()}_PROGRAM to it")
    ws.env["PATH"] = f"{Path(program).absolute().parent}:{os.defpath}:{os.environ['PATH']}"


@pytest.mark.slow
@pytest.mark.parametrize("task", ["Say hello", "/reset now", "-x and @file {{ y }}"])
def test_a_template_of_llm(ws: Workspace, task: str) -> None:
    """The model `echo` answers with what it was asked."""
    real(ws, "llm")
    ws.write(
        "H/.config/io.datasette.llm/templates/brief.yaml",
        "model: echo\nsystem: You are $tone.\ndefaults: {tone: brief}\n",
    )
    assert [row["name"] for row in ws.run("recipes", "list", "--layer", "source").expect().json] == ["llm/brief"]
    done = ws.run("delegate", "--recipe", "llm/brief", "--param", "tone=kind", "--", task).expect().json
    assert done["process"]["reply"]["prompt"] == task
    assert done["process"]["reply"]["system"] == "You are kind."


@pytest.mark.slow
def test_an_agent_of_claude_code(ws: Workspace, messages: MessagesServer) -> None:
    """Its prompt goes to the server as the agent's, and the task as the person's message."""
    real(ws, "claude")
    ws.write(
        "H/.claude/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Reviews.\n---\nYou are the zarquon reviewer.\n",
    )
    messages.reply(stream("Reviewed."))
    ws.settings(spawn={"env": {
        "ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": messages.url, "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }})  # fmt: skip
    done = ws.run("delegate", "--recipe", "claude/reviewer", "look it over", timeout=90).expect().json
    assert done["process"]["reply"].strip() == "Reviewed."
    asked = [request.body for request in messages.requests if "zarquon" in json.dumps(request.body.get("system"))]
    assert asked
    assert "look it over" in json.dumps(asked[0]["messages"])
