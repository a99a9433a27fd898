"""A Messages API on loopback that misbehaves on demand.

A test queues behaviours, one for each request that it expects; a client under test
then meets real sockets, real HTTP and, with `tls=True`, a real untrusted certificate.
Requests that the real API would refuse (no key, no model) are refused here too.
"""

from __future__ import annotations

import functools
import http.client
import json
import shutil
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}

LOOP = "/redirect-loop"


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    body: Any
    """The parsed JSON; None where `raw` is not JSON."""
    time: float
    """Seconds of `time.monotonic()`."""


class Exchange:
    """One request and the connection it came on: what a behaviour acts on."""

    def __init__(self, request: Request, connection: socket.socket, server: MessagesServer) -> None:
        self.request = request
        self.server = server
        self.seconds_per_byte = 0.0
        self.hung_up = False
        self._connection = connection

    def wait(self, seconds: float) -> None:
        """Wait; a server that closes ends the wait as if the client had gone."""
        if self.server.closing.wait(seconds):
            raise ConnectionAbortedError("the server is closing")

    def send(self, data: bytes) -> None:
        if self.seconds_per_byte:
            for byte in data[:-1]:
                self._connection.sendall(bytes([byte]))
                self.wait(self.seconds_per_byte)
            data = data[-1:]
        # Before the last bytes go: who has them may ask again at once, and `peak` would
        # count both requests.
        self.server.count_off(self)
        self._connection.sendall(data)

    def hang_up(self, *, reset: bool = False) -> None:
        self.hung_up = True
        if reset:
            # Linger 0 makes close() send RST. detach(), because the handler's files
            # share the socket and would delay an ordinary close().
            linger = struct.pack("ii", 1, 0)
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            socket.close(self._connection.detach())


@dataclass(frozen=True)
class Behaviour:
    """How the server treats one request."""

    act: Callable[[Exchange], None]


# Replies that are well-formed messages.


def match(
    recipe: str | None,
    rationale: str = "It fits the task.",
    *,
    usage: Mapping[str, int] | None = None,
    **extra: object,
) -> Behaviour:
    """MATCH; `extra` adds keys to the decision or replaces them."""
    decision = {"decision": "MATCH", "recipe": recipe, "rationale": rationale, **extra}
    return text(json.dumps(decision, ensure_ascii=False), usage=usage)


def none(
    rationale: str = "Nothing fits.",
    *,
    usage: Mapping[str, int] | None = None,
    **extra: object,
) -> Behaviour:
    decision = {"decision": "NONE", "recipe": None, "rationale": rationale, **extra}
    return text(json.dumps(decision, ensure_ascii=False), usage=usage)


def text(reply: str, *, usage: Mapping[str, int] | None = None, **fields: object) -> Behaviour:
    """A message with one text block; `fields` replace the message's own."""
    return content([{"type": "text", "text": reply}], usage=usage, **fields)


def content(
    blocks: Sequence[Mapping[str, object]],
    *,
    usage: Mapping[str, int] | None = None,
    **fields: object,
) -> Behaviour:
    """A message with these content blocks, of whatever types."""

    def act(exchange: Exchange) -> None:
        message = {
            "id": "msg_test",
            "type": "message",
            "role": "assistant",
            "model": exchange.request.body["model"],
            "content": blocks,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {**USAGE, **(usage or {})},
            **fields,
        }
        if exchange.request.body.get("stream"):
            exchange.send(http_response(b"".join(events(message)), headers=EVENT_STREAM))
            exchange.hang_up()
        else:
            exchange.send(http_response(json.dumps(message).encode()))

    return Behaviour(act)


def stop(reason: str, text: str = "", *, usage: Mapping[str, int] | None = None, **fields: object) -> Behaviour:
    """A message that ended for `reason`; no text means no text block at all."""
    blocks = [{"type": "text", "text": text}] if text else []
    return content(blocks, usage=usage, stop_reason=reason, **fields)


def refusal(explanation: str = "This request was declined.") -> Behaviour:
    details = {"type": "refusal", "category": None, "explanation": explanation}
    return stop("refusal", stop_details=details)


# Replies that come as a stream.

EVENT_STREAM: Mapping[str, str | None] = {
    "content-type": "text/event-stream",
    "content-length": None,
    "connection": "close",
}


def event(name: str, **data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()


def events(message: Mapping[str, Any]) -> list[bytes]:
    """A message as the API streams it: its texts in pieces of a few characters."""
    begun = {**message, "content": [], "stop_reason": None}
    sent = [event("message_start", message=begun)]
    for index, block in enumerate(message["content"]):
        empty = {**block, "text": ""} if block["type"] == "text" else block
        sent.append(event("content_block_start", index=index, content_block=empty))
        words = block.get("text", "")
        for start in range(0, len(words), 7):
            delta = {"type": "text_delta", "text": words[start : start + 7]}
            sent.append(event("content_block_delta", index=index, delta=delta))
        sent.append(event("content_block_stop", index=index))
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    sent.append(event("message_delta", delta=ended, usage={"output_tokens": 20}))
    return [*sent, event("message_stop")]


def stream(*pieces: str, pause: float = 0.0, end: bytes | None = None, reset: bool = False) -> Behaviour:
    """A streamed message, a piece at a time; `end` stands for its last events, and is b"" where it just breaks off."""

    def act(exchange: Exchange) -> None:
        message = {
            "id": "msg_test", "type": "message", "role": "assistant", "model": exchange.request.body["model"],
            "content": [{"type": "text", "text": ""}], "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE,
        }  # fmt: skip
        first, start, *_, ended, stopped = events(message)
        exchange.send(http_response(first + start, headers=EVENT_STREAM))
        for piece in pieces:
            exchange.send(event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece}))
            exchange.wait(pause)
        if end is None:
            exchange.send(event("content_block_stop", index=0) + ended + stopped)
        elif end:
            exchange.send(end)
        exchange.hang_up(reset=reset)

    return Behaviour(act)


def stream_error(error_type: str = "overloaded_error", message: str = "Overloaded") -> bytes:
    """What the API sends where a stream that has begun fails."""
    return event("error", error={"type": error_type, "message": message})


# Replies that depend on the request.


def answer(script: Callable[[Any], Behaviour]) -> Behaviour:
    """Ask `script`, with the request's body, for the behaviour.

    What the script raises is raised again when the server closes.
    """

    def act(exchange: Exchange) -> None:
        try:
            behaviour = script(exchange.request.body)
        except BaseException as error:  # noqa: BLE001 -- pytest.fail() is none of Exception's
            exchange.server.errors.append(error)
            behaviour = status(500, message=f"the test's script failed: {error!r}")
        behaviour.act(exchange)

    return Behaviour(act)


def when(condition: Callable[[Request], bool], *, then: Behaviour, otherwise: Behaviour) -> Behaviour:
    def act(exchange: Exchange) -> None:
        (then if condition(exchange.request) else otherwise).act(exchange)

    return Behaviour(act)


def when_field(field: str, *, then: Behaviour, otherwise: Behaviour) -> Behaviour:
    """Choose by whether the request's body has the top-level `field`."""
    return when(lambda request: field in request.body, then=then, otherwise=otherwise)


def delay(seconds: float, then: Behaviour) -> Behaviour:
    def act(exchange: Exchange) -> None:
        exchange.wait(seconds)
        then.act(exchange)

    return Behaviour(act)


def slow_drip(seconds_per_byte: float, then: Behaviour | None = None) -> Behaviour:
    """A whole reply, but so slowly that a read timeout alone never ends it."""

    def act(exchange: Exchange) -> None:
        exchange.seconds_per_byte = seconds_per_byte
        (then or none()).act(exchange)

    return Behaviour(act)


# Replies that are HTTP, but not what was asked for.


def raw(
    body: bytes,
    code: int = 200,
    headers: Mapping[str, str | None] | None = None,
    *,
    hang_up: bool = False,
) -> Behaviour:
    """Any response; a header that is None is left out."""

    def act(exchange: Exchange) -> None:
        exchange.send(http_response(body, code, headers))
        if hang_up:
            exchange.hang_up()

    return Behaviour(act)


def status(
    code: int,
    error_type: str | None = None,
    message: str = "scripted error",
    headers: Mapping[str, str | None] | None = None,
) -> Behaviour:
    """An error as the API words it; without `error_type`, the one usual for `code`."""
    error_type = error_type or ERROR_TYPES.get(code, "api_error")
    error = {"type": error_type, "message": message}
    body = {"type": "error", "error": error, "request_id": "req_test"}
    return raw(json.dumps(body).encode(), code, headers)


def html_200() -> Behaviour:
    """What a captive portal or a company proxy puts in the API's place."""
    page = b"<!doctype html><title>Sign in</title><p>Please sign in.</p>"
    return raw(page, headers={"content-type": "text/html; charset=utf-8"})


def no_content_204() -> Behaviour:
    return raw(b"", 204, {"content-type": None, "content-length": None})


def empty_body_200() -> Behaviour:
    return raw(b"")


def not_json_200(body: str = "}{") -> Behaviour:
    return raw(body.encode())


def wrong_shape_200() -> Behaviour:
    """JSON, but a message without content."""
    return raw(b'{"id": "msg_test", "type": "message", "role": "assistant"}')


def json_list_200() -> Behaviour:
    return raw(b'[{"decision": "NONE"}]')


def bad_encoding() -> Behaviour:
    """A message whose text is not UTF-8."""
    return raw(b'{"type": "message", "content": [{"type": "text", "text": "\xff\xfe"}]}')


def gzip_garbage() -> Behaviour:
    return raw(b"this was never compressed", headers={"content-encoding": "gzip"})


def redirect_loop() -> Behaviour:
    """307, so that a client keeps the method; it leads to itself for ever."""
    return raw(b"", 307, {"location": LOOP})


def huge_headers() -> Behaviour:
    return raw(b"{}", headers={"x-filler": "x" * 200_000})


# Faults of the connection.


def reset_mid_body() -> Behaviour:
    def act(exchange: Exchange) -> None:
        exchange.send(http_response(b'{"id": "msg_', headers={"content-length": "999"}))
        exchange.hang_up(reset=True)

    return Behaviour(act)


def close_before_reply() -> Behaviour:
    return Behaviour(Exchange.hang_up)


def hang(seconds: float = 600) -> Behaviour:
    """Take the request and say nothing, then hang up."""

    def act(exchange: Exchange) -> None:
        exchange.wait(seconds)
        exchange.hang_up()

    return Behaviour(act)


def truncated_body() -> Behaviour:
    return raw(b'{"id": "msg_', headers={"content-length": "999"}, hang_up=True)


def chunked_cut() -> Behaviour:
    """A chunked reply that ends inside its first chunk."""
    headers = {"content-length": None, "transfer-encoding": "chunked"}
    return raw(b'40\r\n{"id": "msg_', headers=headers, hang_up=True)


def refused() -> str:
    """A URL where nothing listens."""
    host, port = _silent_socket().getsockname()
    return f"http://{host}:{port}"


@functools.cache
def _silent_socket() -> socket.socket:
    # Bound and never listening: connections are refused, and as long as it is held,
    # no other process is given the port.
    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    return silent


def http_response(body: bytes, code: int = 200, headers: Mapping[str, str | None] | None = None) -> bytes:
    fields: dict[str, str | None] = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "request-id": "req_test",
        **{name.lower(): value for name, value in (headers or {}).items()},
    }
    head = [f"HTTP/1.1 {code} {http.client.responses.get(code, 'Unknown')}"]
    head += [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


class MessagesServer:
    """POST /v1/messages on 127.0.0.1, a thread for each connection.

    Each request takes the next queued behaviour; when none is left, the last one
    repeats. A server that was told nothing answers NONE. Leaving the `with` block ends
    every connection and raises the first error of a scripted answer.
    """

    def __init__(self, *, tls: bool = False) -> None:
        self._changed = threading.Condition()
        self._queue: deque[Behaviour] = deque()
        self._last = none()
        self._requests: list[Request] = []
        self._in_flight: set[Exchange] = set()
        self._peak = 0
        self._connections: set[socket.socket] = set()
        self.closing = threading.Event()
        self.errors: list[BaseException] = []
        self._certificate = _Certificate() if tls else None
        self._listener = _Listener(self)
        host, port = self._listener.socket.getsockname()
        self.url = f"{'https' if tls else 'http'}://{host}:{port}"

    def __enter__(self) -> Self:
        serve = functools.partial(self._listener.serve_forever, poll_interval=0.02)
        threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if self.errors and error is None:
            raise self.errors[0]

    def reply(self, *behaviours: Behaviour) -> None:
        with self._changed:
            self._queue.extend(behaviours)

    @property
    def requests(self) -> list[Request]:
        """Everything asked so far, refused requests too, in order of arrival."""
        with self._changed:
            return list(self._requests)

    @property
    def peak(self) -> int:
        """The most requests that were under way at one time."""
        with self._changed:
            return self._peak

    @property
    def certificate(self) -> Path:
        """The self-signed certificate, for the client that shall trust it."""
        assert self._certificate is not None, "a server without TLS has none"
        return self._certificate.path

    def wait_for(self, count: int = 1, timeout: float = 10) -> None:
        """Return once `count` requests have come in, answered or not."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self._requests) >= count, timeout)
            assert came, f"{len(self._requests)} of {count} requests in {timeout} s"

    def close(self) -> None:
        with self._changed:
            self.closing.set()
            for connection in self._connections:
                with suppress(OSError):
                    # The plain socket's method: TLS's own would pull the session away
                    # from under the thread that uses it.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)
        self._listener.shutdown()
        self._listener.server_close()
        if self._certificate:
            self._certificate.remove()
        with self._changed:
            ended = self._changed.wait_for(lambda: not self._connections, timeout=5)
        assert ended, "a scripted answer is still running: it must end by itself"

    def connected(self, plain: socket.socket, serve: Callable[[Any], object]) -> None:
        """Serve one connection, in its own thread."""
        connection = plain
        if self._certificate:
            # Not on connect: that would shake hands before close() knows the socket.
            connection = self._certificate.context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        with self._changed:
            if self.closing.is_set():
                connection.close()
                return
            self._connections.add(connection)
        try:
            if isinstance(connection, ssl.SSLSocket):
                connection.do_handshake()
            serve(connection)
        except OSError:
            pass  # the client went away or did not like the certificate
        finally:
            connection.close()
            with self._changed:
                self._connections.discard(connection)
                self._changed.notify_all()

    def respond(self, request: Request, connection: socket.socket) -> bool:
        """Treat one request; False when the connection is to be closed."""
        exchange = Exchange(request, connection, self)
        with self._changed:
            self._requests.append(request)
            self._in_flight.add(exchange)
            self._peak = max(self._peak, len(self._in_flight))
            behaviour = objection(request) or self._next()
            self._changed.notify_all()
        try:
            behaviour.act(exchange)
        finally:
            self.count_off(exchange)
        return not exchange.hung_up

    def count_off(self, exchange: Exchange) -> None:
        with self._changed:
            self._in_flight.discard(exchange)

    def _next(self) -> Behaviour:
        if self._queue:
            self._last = self._queue.popleft()
        return self._last


def objection(request: Request) -> Behaviour | None:
    """What the real API answers to a request that it does not take."""
    body = request.body if isinstance(request.body, dict) else {}
    path = request.path.partition("?")[0]
    if path == LOOP:
        return redirect_loop()
    if (request.method, path) != ("POST", "/v1/messages"):
        return status(404, message=f"Not Found: {request.method} {path}")
    if not request.headers.keys() & {"x-api-key", "authorization"}:
        return status(401, message="x-api-key header is required")
    wanted = {
        "anthropic-version header": request.headers.get("anthropic-version"),
        "JSON object": body,
        "model": body.get("model"),
        "max_tokens": body.get("max_tokens"),
        "messages": body.get("messages"),
    }
    for what, value in wanted.items():
        if not value:
            return status(400, message=f"{what}: Field required")
    return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        body: Any = None
        with suppress(ValueError):
            body = json.loads(data)
        request = Request(
            method=self.command,
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            raw=data,
            body=body,
            time=time.monotonic(),
        )
        if not self.server.owner.respond(request, self.connection):
            self.close_connection = True

    do_GET = do_POST  # noqa: N815 -- http.server looks for this name

    def log_message(self, format: str, *args: object) -> None:
        pass  # a test's stderr is its own


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True  # close() waits for the threads itself, but not for ever
    request_queue_size = 512

    def __init__(self, owner: MessagesServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        handler = functools.partial(_Handler, client_address=client_address, server=self)
        self.owner.connected(request, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if error := sys.exception():
            self.owner.errors.append(error)


class _Certificate:
    """A self-signed certificate for 127.0.0.1, made afresh; skips without openssl."""

    def __init__(self) -> None:
        if not shutil.which("openssl"):
            pytest.skip("openssl is not installed, so there is no certificate to serve")
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name, "certificate.pem")
        key = Path(self._folder.name, "key.pem")
        command = "openssl req -x509 -nodes -days 2 -subj /CN=127.0.0.1"
        command += " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
        command += " -addext subjectAltName=IP:127.0.0.1"
        subprocess.run(
            [*command.split(), "-keyout", key, "-out", self.path],
            check=True,
            capture_output=True,
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.path, key)

    def remove(self) -> None:
        self._folder.cleanup()
