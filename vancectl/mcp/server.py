"""A server of the Model Context Protocol on standard input and output: JSON-RPC, one message a line.

Each call of a tool is a run of this very command: what a client gets is what a person would get, a changed recipe
counts with the next call, and a call that is cancelled ends with all that it started. Nothing but messages is written
to standard output. Written against the protocol's versions below; the SDK is not used, since clients do not wait for
its import.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from vancectl import __version__
from vancectl.mcp.tools import TOOLS, Call, Tool, find_tool

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
INSTRUCTIONS = (
    "vancectl decides which of the user's recipes fits a task, and starts it. Ask `select` or `delegate` with the task "
    "in the user's own words. NONE is an answer: no recipe fits, and none is to be guessed."
)
# The longest message that is read.
MOST_BYTES = 16 * 1024 * 1024
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
_TICK = 1.0
_GRACE = 6.0
# Statuses of a run whose output is an answer: done, and a negative answer that was asked about.
_ANSWERS = (0, 1)


class Server:
    """One connection. `command` starts vancectl; `options` are those of scope, `narrow` those that processes know."""

    def __init__(
        self,
        source: BinaryIO,
        sink: BinaryIO,
        command: Sequence[str],
        options: Sequence[str],
        narrow: Sequence[str],
        session: str | None,
    ) -> None:
        self._source = source
        self._sink = sink
        self._command = list(command)
        self._options = list(options)
        self._narrow = list(narrow)
        self._session = session
        self._writing = threading.Lock()
        self._guard = threading.Lock()
        self._running: dict[str | int, subprocess.Popen[bytes] | None] = {}
        self._gone = threading.Event()

    def serve(self) -> None:
        """Until the client closes its end; calls that still run are then answered, unless nobody reads any more."""
        while (line := self._source.readline(MOST_BYTES + 1)) and not self._gone.is_set():
            if len(line) > MOST_BYTES and not line.endswith(b"\n"):
                while (rest := self._source.readline(MOST_BYTES)) and not rest.endswith(b"\n"):
                    pass
                self._refuse(None, INVALID_REQUEST, f"a message may have {MOST_BYTES:,} bytes")
                continue
            if line.strip():
                self._take(line)
        while self._running and not self._gone.is_set():
            if self._nobody_reads():
                break
            time.sleep(0.05)
        self.end_calls()

    def end_calls(self) -> None:
        """Interrupts what runs, and kills what does not end then."""
        self._gone.set()
        with self._guard:
            children = [child for child in self._running.values() if child is not None]
        for child in children:
            _signal(child, signal.SIGINT)
        until = time.monotonic() + _GRACE
        for child in children:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, until - time.monotonic()))
            _signal(child, signal.SIGKILL)

    def _nobody_reads(self) -> bool:
        watch = select.poll()
        watch.register(self._sink.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in watch.poll(0))

    # -- messages

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(None, PARSE_ERROR, "the line is not JSON")
            return
        # An array is several messages, as the version of March 2025 had it.
        for each in message if isinstance(message, list) and message else [message]:
            self._handle(each)

    def _handle(self, message: object) -> None:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(None, INVALID_REQUEST, "a message is an object with `jsonrpc`: `2.0`")
            return
        ident, method = message.get("id"), message.get("method")
        if method is None:
            return  # an answer; nothing was asked
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            if method == "notifications/cancelled":
                self._cancel(params.get("requestId"))
            return
        if not isinstance(ident, str | int) or isinstance(ident, bool):
            self._refuse(None, INVALID_REQUEST, "an id is a text or a whole number")
        elif method == "initialize":
            wanted = params.get("protocolVersion")
            self._answer(ident, {
                "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
                "capabilities": {"tools": {"listChanged": False}},
                "serverInfo": {"name": "vancectl", "title": "vancectl", "version": __version__},
                "instructions": INSTRUCTIONS,
            })  # fmt: skip
        elif method == "ping":
            self._answer(ident, {})
        elif method == "tools/list":
            self._answer(ident, {"tools": [tool.as_json() for tool in TOOLS]})
        elif method == "tools/call":
            self._begin(ident, params)
        else:
            self._refuse(ident, NO_METHOD, f"there is no method `{method}`")

    def _begin(self, ident: str | int, params: Mapping[str, Any]) -> None:
        tool = find_tool(params.get("name"))
        if tool is None:
            known = ", ".join(each.name for each in TOOLS)
            self._refuse(ident, INVALID_PARAMS, f"there is no tool `{params.get('name')}`; there are {known}")
            return
        arguments = params.get("arguments") or {}
        fault = tool.fault(arguments)
        if fault is not None:
            self._answer(ident, _failed(fault))
            return
        with self._guard:
            if ident in self._running:
                self._refuse(ident, INVALID_REQUEST, f"a call with the id {ident} is under way")
                return
            self._running[ident] = None
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        threading.Thread(target=self._run, args=(ident, tool, arguments, token), daemon=True).start()

    # -- calls

    def _run(self, ident: str | int, tool: Tool, arguments: Mapping[str, Any], token: object) -> None:
        try:
            session = None if "session" in arguments else self._session
            result = self._called(ident, tool, tool.call(arguments), session, token)
        except OSError as error:
            result = _failed(f"vancectl cannot be started: {(error.strerror or str(error)).lower()}")
        with self._guard:
            cancelled = self._running.pop(ident, self) is self
        if result is not None and not cancelled:
            self._answer(ident, result)

    def _called(
        self, ident: str | int, tool: Tool, call: Call, session: str | None, token: object
    ) -> dict[str, Any] | None:
        """The result; None where the call was cancelled before it began."""
        options = [*(self._options if tool.scoped else self._narrow)]
        options += ["--session", session] if session and tool.named else []
        words = [*self._command, *call.command, *options, *call.words]
        child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        with self._guard:
            cancelled = ident not in self._running or self._gone.is_set()
            if not cancelled:
                self._running[ident] = child
        if cancelled:
            _signal(child, signal.SIGINT)
        if token is not None:
            threading.Thread(target=self._progress, args=(child, token), daemon=True).start()
        out, err = child.communicate(call.stdin.encode() if call.stdin is not None else b"")
        return None if cancelled else _result(child.returncode, out, err, tool)

    def _progress(self, child: subprocess.Popen[bytes], token: object) -> None:
        """Once a second, so that the client does not give up."""
        begun = time.monotonic()
        while not self._gone.is_set():
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_TICK)
            if child.returncode is not None:
                return
            seconds = int(time.monotonic() - begun)
            said = {"progressToken": token, "progress": seconds, "message": f"running for {seconds} s"}
            self._send({"method": "notifications/progress", "params": said})

    def _cancel(self, ident: object) -> None:
        """Ends a call and what it started. No answer is due then."""
        with self._guard:
            child = self._running.pop(ident, None) if isinstance(ident, str | int) else None
        if child is None:
            return
        _signal(child, signal.SIGINT)

        def insist() -> None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE)
            _signal(child, signal.SIGKILL)

        threading.Thread(target=insist, daemon=True).start()

    # -- answers

    def _answer(self, ident: str | int, result: Mapping[str, Any]) -> None:
        self._send({"id": ident, "result": result})

    def _refuse(self, ident: str | int | None, code: int, text: str) -> None:
        self._send({"id": ident, "error": {"code": code, "message": text}})

    def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            with self._writing:
                self._sink.write(line)
                self._sink.flush()
        except (OSError, ValueError):
            self._gone.set()


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)


def _failed(text: str) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": text}]}


def _result(status: int, out: bytes, err: bytes, tool: Tool) -> dict[str, Any]:
    """What a run has said, as the result of a tool. What went wrong, and what helps, was said on standard error."""
    said = err.decode("utf-8", "replace").strip()
    try:
        value = json.loads(out)
    except (ValueError, RecursionError):
        return _failed(said or f"vancectl ended with status {status}")
    if tool.wrap is not None and isinstance(value, list):
        value = {tool.wrap: value}
    text = json.dumps(value, ensure_ascii=False)
    failed = status not in _ANSWERS
    content = [{"type": "text", "text": each} for each in ([said] if failed and said else []) + [text]]
    result: dict[str, Any] = {"isError": failed, "content": content}
    if isinstance(value, dict) and not (failed and "decision" not in value and "id" not in value):
        result["structuredContent"] = value
    return result


def serve(command: Sequence[str], options: Sequence[str], narrow: Sequence[str], session: str | None) -> None:
    """Serves the client that has our standard input and output. Whatever else prints goes to standard error."""
    sink = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    server = Server(sys.stdin.buffer, sink, command, options, narrow, session)

    def end(number: int, _: object) -> None:
        server.end_calls()
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end)
    server.serve()
