"""The server as a client meets it: messages in, messages out, and what becomes of the processes behind them."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from tests.workspace import Workspace
from vancectl.mcp.server import VERSIONS

SLOW = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"]


class Client:
    """One connection to the command."""

    def __init__(self, ws: Workspace, *options: str) -> None:
        self.process = ws.start("mcp", *options, stdin=subprocess.PIPE)
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def send(self, *messages: object) -> None:
        assert self.process.stdin is not None
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(data)
        self.process.stdin.flush()

    def next(self, timeout: float = 20) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._lines.get(timeout=timeout))
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, params: Mapping[str, Any] | None = None, ident: int | str = 1) -> dict[str, Any]:
        """The answer to a question; notifications before it are passed over."""
        self.send({"jsonrpc": "2.0", "id": ident, "method": method, "params": dict(params or {})})
        while "method" in (message := self.next()):
            pass
        assert message["id"] == ident
        return message

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def close(self, ws: Workspace) -> int:
        return ws.finish(self.process, timeout=20).status


@pytest.fixture
def place(ws: Workspace) -> Workspace:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn={"command": ["sh", "-c", 'echo done: "$1"', "sh", "{task}"], "stdin": "none"})
    return ws


@pytest.fixture
def client(place: Workspace) -> Client:
    return Client(place)


@pytest.mark.parametrize("version", [*VERSIONS, "1999-01-01"])
def test_the_version_that_the_client_wants_or_the_newest(client: Client, version: str) -> None:
    found = client.ask("initialize", {"protocolVersion": version, "capabilities": {}})["result"]
    assert found["protocolVersion"] == (version if version in VERSIONS else VERSIONS[-1])
    assert (found["serverInfo"]["name"], "tools" in found["capabilities"]) == ("vancectl", True)


def test_every_tool_has_schemas_and_annotations(client: Client) -> None:
    tools = client.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["select", "delegate", "list_recipes", "process", "stop_process"]
    for tool in tools:
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
    assert [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]] == ["delegate", "stop_process"]


def test_what_is_answered_fits_its_schema(client: Client) -> None:
    schemas = {tool["name"]: tool["outputSchema"] for tool in client.ask("tools/list")["result"]["tools"]}
    results = {
        "select": client.call("select", task="please fix tests"),
        "delegate": client.call("delegate", task="please fix tests", name="a"),
        "list_recipes": client.call("list_recipes"),
        "process": client.call("process", name="a"),
        "stop_process": client.call("stop_process", name="a"),
    }
    for name, result in results.items():
        assert not result["isError"], result
        jsonschema.validate(result["structuredContent"], schemas[name])
        assert json.loads(result["content"][-1]["text"]) == result["structuredContent"]
    assert results["select"]["structuredContent"]["recipe"] == "good"
    assert results["delegate"]["structuredContent"]["process"]["reply"] == "done: please fix tests\n"
    assert results["process"]["structuredContent"]["status"] == "DONE"
    assert "good" in [recipe["name"] for recipe in results["list_recipes"]["structuredContent"]["recipes"]]


def test_none_is_an_answer(client: Client) -> None:
    result = client.call("select", task="what is the weather")
    assert (result["isError"], result["structuredContent"]["decision"]) == (False, "NONE")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("select", {}, "`select` needs the argument `task`"),
        ("select", {"task": "  "}, "`task` must not be blank"),
        ("select", {"task": 7}, "`task` must be a JSON string"),
        ("select", {"task": "x", "tsk": "y"}, "`select` has no argument `tsk`; it takes `task`"),
        ("delegate", {"task": "x", "wait": "no"}, "`wait` must be a JSON boolean"),
        ("delegate", {"task": "x", "timeoutSeconds": True}, "`timeoutSeconds` must be a JSON number"),
        ("delegate", {"task": "x", "recipe": "nope"}, "there is no recipe `nope`"),
        ("process", {"name": "nope"}, "there is no process `nope`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_result_with_the_remedy(client: Client, tool: str, arguments: Any, said: str) -> None:
    result = client.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
    assert result["isError"]
    assert said in result["content"][0]["text"]


def test_a_process_that_fails_is_an_error_with_its_reply(place: Workspace) -> None:
    place.settings(spawn={"command": ["sh", "-c", "echo half; exit 7"], "stdin": "none"})
    result = Client(place).call("delegate", task="fix tests")
    assert result["isError"]
    assert "ended with status 7" in result["content"][0]["text"]
    assert result["structuredContent"]["process"]["reply"] == "half\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{\n", -32700),
        (b"[" * 100_000 + b"\n", -32700),
        (b"7\n", -32600),
        (b"[]\n", -32600),
        (b'{"id": 1, "method": "ping"}\n', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "nope"}\n', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nope"}}\n', -32602),
        (b"x" * 17_000_000 + b"\n", -32600),
    ],
    ids=range(9),
)
def test_a_message_that_is_none_is_refused_and_the_next_one_is_answered(client: Client, line: bytes, code: int) -> None:
    client.send(line)
    assert client.next()["error"]["code"] == code
    assert client.ask("ping", ident="b")["result"] == {}


def test_several_messages_in_one_line(client: Client) -> None:
    client.send([{"jsonrpc": "2.0", "id": each, "method": "ping"} for each in (1, 2)])
    assert [client.next()["id"] for _ in range(2)] == [1, 2]


def test_a_changed_recipe_counts_with_the_next_call(client: Client, place: Workspace) -> None:
    assert client.call("select", task="ship it")["structuredContent"]["decision"] == "NONE"
    place.recipe("P/recipes/ship.yaml", triggers=["ship it"])
    assert client.call("select", task="ship it")["structuredContent"]["recipe"] == "ship"


def test_progress_comes_while_a_call_runs(place: Workspace) -> None:
    place.settings(spawn={"command": ["sleep", "1.5"], "stdin": "none"})
    client = Client(place)
    params = {"name": "delegate", "arguments": {"task": "fix tests"}, "_meta": {"progressToken": "t"}}
    client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    told = client.next()
    assert (told["method"], told["params"]["progressToken"]) == ("notifications/progress", "t")
    while "method" in (message := client.next()):
        pass
    assert not message["result"]["isError"]


def status(ws: Workspace, name: str) -> str | None:
    shown = ws.run("processes", "list", "--json").expect().json
    return next((str(each["status"]) for each in shown if each["name"] == name), None)


def until(ws: Workspace, name: str, wanted: str) -> None:
    late = time.monotonic() + 15
    while status(ws, name) != wanted:
        assert time.monotonic() < late, f"{name} is {status(ws, name)}, not {wanted}"
        time.sleep(0.05)


def begin(client: Client, ws: Workspace, **arguments: object) -> None:
    ws.settings(spawn={"command": SLOW, "stdin": "none"})
    params = {"name": "delegate", "arguments": {"task": "fix tests", "name": "slow", **arguments}}
    client.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
    until(ws, "slow", "RUNNING")


def test_a_call_that_is_cancelled_ends_what_it_started_and_has_no_answer(client: Client, place: Workspace) -> None:
    begin(client, place)
    assert client.ask("ping", ident=10)["result"] == {}  # others are answered meanwhile
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}})
    until(place, "slow", "STOPPED")
    assert client.ask("ping", ident=11)["id"] == 11


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_what_it_runs(client: Client, place: Workspace, number: signal.Signals) -> None:
    begin(client, place)
    os.kill(client.process.pid, number)
    assert client.close(place) == 128 + number
    until(place, "slow", "STOPPED")


def test_what_is_left_running_outlives_the_server(client: Client, place: Workspace) -> None:
    begin(client, place, wait=False)
    assert not client.next()["result"]["isError"]
    assert client.close(place) == 0
    assert status(place, "slow") == "RUNNING"
    place.run("processes", "stop", "slow").expect()


def test_the_end_of_input_lets_calls_be_answered(place: Workspace) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
             "params": {"name": "select", "arguments": {"task": "fix tests"}}}  # fmt: skip
    done = place.run("mcp", stdin=json.dumps(asked) + "\n").expect()
    assert json.loads(done.stdout)["result"]["structuredContent"]["recipe"] == "good"
    assert done.stderr == ""


def test_options_of_scope_and_session_hold_for_every_call(place: Workspace) -> None:
    client = Client(place, "--no-project", "--session", "mine", "--set", "routing.fallback.recipe=default")
    assert client.call("select", task="fix tests")["structuredContent"]["decision"] == "NONE"
    assert client.call("delegate", task="anything", name="a")["structuredContent"]["process"]["session"] == "mine"
    assert client.call("process", name="a")["structuredContent"]["session"] == "mine"
    assert "no process" in client.call("process", name="a", session="other")["content"][0]["text"]


def test_the_depth_is_kept_where_the_environment_is_emptied(place: Workspace) -> None:
    """A program that vancectl has started starts the server with almost nothing in its environment."""
    place.settings(spawn={"maxDepth": 1, "command": ["sleep", "0"], "stdin": "none"})
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
             "params": {"name": "delegate", "arguments": {"task": "fix tests"}}}  # fmt: skip
    kept = {name: place.environment()[name] for name in ("PATH", "HOME", "VANCECTL_CONFIG_DIR", "VANCECTL_STATE_DIR")}
    words = ["env", "-i", *(f"{name}={value}" for name, value in kept.items()), *place.command, "mcp"]
    script = (
        f"import subprocess; print(subprocess.run({words!r}, input={json.dumps(asked)!r}, text=True,"
        " capture_output=True).stdout)"
    )
    outer = place.environment({"VANCECTL_DEPTH": "1"})
    done = subprocess.run(
        [sys.executable, "-c", script], env=outer, cwd=place.project, capture_output=True, text=True, check=True
    )
    assert "spawn.maxDepth allows 1" in done.stdout
