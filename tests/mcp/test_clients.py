"""Real clients against the installed server: the SDK's; the inspector and Claude Code where they are installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.messages_server import EVENT_STREAM, Behaviour, MessagesServer, answer, event, events, raw, stream, text
from tests.workspace import INSTALLED, Workspace

# Read before the variables of the caller are cleared.
CLAUDE_PROGRAM = os.environ.get("CLAUDE_PROGRAM")
INSPECTOR_PROGRAM = os.environ.get("INSPECTOR_PROGRAM")

CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=json.loads(sys.argv[2]), cwd=sys.argv[3])
    heard = []

    async def hear(progress, total, message):
        heard.append(progress)

    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        chosen = await session.call_tool("select", {"task": "please fix tests"})
        done = await session.call_tool("delegate", {"task": "fix tests", "name": "a"}, progress_callback=hear)
        wrong = await session.call_tool("process", {"name": "nope"})

        def plain(result):
            return result.model_dump(mode="json", by_alias=True)

        print(json.dumps({"tools": tools, "heard": heard, "results": [plain(each) for each in (chosen, done, wrong)]}))

asyncio.run(main())
"""


@pytest.mark.slow
def test_the_official_client(ws: Workspace) -> None:
    """It checks every answer against the protocol's types, and structured content against the tool's schema."""
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn={"command": ["sh", "-c", "sleep 1.2; echo done"], "stdin": "none"})
    words = [sys.executable, "-c", CLIENT, *INSTALLED, json.dumps(ws.environment()), str(ws.project)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["tools"] == ["select", "delegate", "list_recipes", "process", "stop_process"]
    chosen, started, wrong = said["results"]
    assert chosen["structuredContent"]["recipe"] == "good"
    assert started["structuredContent"]["process"]["reply"] == "done\n"
    assert said["heard"][:1] == [1.0]  # once a second
    assert (wrong["isError"], "there is no process `nope`" in wrong["content"][0]["text"]) == (True, True)


def claude() -> str:
    """Claude Code, where CLAUDE_PROGRAM or the PATH names it."""
    found = CLAUDE_PROGRAM or shutil.which("claude")
    if not found:
        pytest.skip("CLAUDE CODE IS NOT HERE: set CLAUDE_PROGRAM to it (npm install @anthropic-ai/claude-code)")
    return found


def asks_select(body: Any) -> Behaviour:
    """A model that asks the tool once, and then ends; what else the client asks is answered with a word."""
    if not body.get("stream") or "mcp__vancectl__select" not in json.dumps(body.get("tools", [])):
        return stream("Fine.") if body.get("stream") else text("Fine.")
    if "tool_result" in json.dumps(body["messages"]):
        return stream("Selected.")
    use = {"type": "tool_use", "id": "toolu_1", "name": "mcp__vancectl__select", "input": {}}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [use],
        "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    begun, start, stop, ended, stopped = events(message)
    given = {"type": "input_json_delta", "partial_json": json.dumps({"task": "please fix tests"})}
    sent = begun + start + event("content_block_delta", index=0, delta=given) + stop + ended + stopped
    return raw(sent, headers=EVENT_STREAM, hang_up=True)


@pytest.mark.slow
def test_claude_code_calls_a_tool_and_hears_the_hook(ws: Workspace, messages: MessagesServer) -> None:
    program = claude()
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.run("mcp", "--install", "claude", "--write").expect()
    ws.run("hook", "--install", "claude", "--write").expect()
    messages.reply(answer(asks_select))
    environment = {
        **ws.environment(),
        "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}",
        "ANTHROPIC_BASE_URL": messages.url,
        "ANTHROPIC_API_KEY": "test",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }
    words = [program, "-p", "please fix tests", "--mcp-config", ".mcp.json", "--strict-mcp-config"]
    done = subprocess.run(
        [*words, "--allowedTools", "mcp__vancectl__select"], cwd=ws.project, env=environment, capture_output=True,
        text=True, timeout=60, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "Selected."
    last = max(messages.requests, key=lambda request: len(json.dumps(request.body))).body
    assert {"mcp__vancectl__select", "mcp__vancectl__delegate"} <= {tool["name"] for tool in last["tools"]}
    said = json.dumps(last["messages"])
    assert "the user has the recipe `good`" in said  # the hook
    assert "matched trigger" in said[said.index("tool_result") :]  # the tool


@pytest.mark.slow
def test_the_inspector_s_command_line(ws: Workspace) -> None:
    program = INSPECTOR_PROGRAM or shutil.which("mcp-inspector")
    if not program:
        pytest.skip("THE INSPECTOR IS NOT HERE: set INSPECTOR_PROGRAM (npm install @modelcontextprotocol/inspector)")
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    environment = {**ws.environment(), "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}"}

    def inspected(*words: str) -> dict[str, Any]:
        done = subprocess.run(
            [program, "--cli", *INSTALLED, "mcp", *words], cwd=ws.project, env=environment, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    assert len(inspected("--method", "tools/list")["tools"]) == 5
    words = ("--method", "tools/call", "--tool-name", "select", "--tool-arg", "task=please fix tests")
    assert inspected(*words)["structuredContent"]["recipe"] == "good"
