"""The Message Batches API on loopback, beside the Messages API: create, retrieve, results; batches end when told to."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from typing import Any

from tests.messages_server import USAGE, Exchange, MessagesServer, Request, http_response

_PATH = re.compile(r"/v1/messages/batches(?:/([\w-]+)(/results)?)?$")
_IDS = re.compile(r"[a-zA-Z0-9_-]{1,64}")

Answerer = Callable[[dict[str, Any]], dict[str, Any]]


def succeeded(decision: dict[str, Any] | str, **fields: Any) -> dict[str, Any]:
    text = decision if isinstance(decision, str) else json.dumps(decision)
    message = {
        "id": "msg_batch",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
        **fields,
    }
    return {"type": "succeeded", "message": message}


def errored(kind: str, message: str) -> dict[str, Any]:
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"}
    return {"type": "errored", "error": error}


class BatchesServer(MessagesServer):
    """`answerer` gives the result of one request's params. A batch ends once `polls` polls have found it going on."""

    def __init__(self, answerer: Answerer, polls: int = 1) -> None:
        super().__init__()
        self.polls = polls
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.refuse: list[tuple[int, str]] = []
        """Statuses and messages for the next requests, whichever they are."""
        self.refuse_with: dict[str, str | None] = {}
        """Headers of these refusals."""
        self.results_host: str | None = None
        self._answerer = answerer
        self._polled: dict[str, int] = {}

    def respond(self, request: Request, connection: socket.socket) -> bool:
        found = _PATH.match(request.path.partition("?")[0])
        if found is None:
            return super().respond(request, connection)
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        code, body = self._answer(request, found[1], bool(found[2]))
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "application/binary" if isinstance(body, bytes) else "application/json"
        headers = self.refuse_with if code >= 400 else {}
        Exchange(request, connection, self).send(http_response(data, code, {"content-type": kind, **headers}))
        return True

    def _answer(self, request: Request, batch: str | None, results: bool) -> tuple[int, Any]:
        if not request.headers.keys() & {"x-api-key", "authorization"}:
            return _error(401, "authentication_error", "x-api-key header is required")
        if self.refuse:
            code, message = self.refuse.pop(0)
            return _error(code, "api_error", message)
        if batch is None:
            return self._create(request)
        if batch not in self.batches:
            return _error(404, "not_found_error", f"no batch {batch}")
        if not results:
            self._polled[batch] = self._polled.get(batch, 0) + 1
            return 200, self._state(batch)
        lines = [
            {"custom_id": each["custom_id"], "result": self._answerer(each["params"])} for each in self.batches[batch]
        ]
        # In another order than they were asked in, as the API warns.
        return 200, b"".join(json.dumps(line).encode() + b"\n" for line in reversed(lines))

    def _create(self, request: Request) -> tuple[int, Any]:
        requests = request.body["requests"]
        ids = [each["custom_id"] for each in requests]
        if not ids or len(set(ids)) < len(ids) or not all(map(_IDS.fullmatch, ids)):
            return _error(400, "invalid_request_error", "custom_id: unique, 1 to 64 letters, digits, _ and -")
        batch = f"msgbatch_{len(self.batches)}"
        self.batches[batch] = requests
        return 200, self._state(batch)

    def _state(self, batch: str) -> dict[str, Any]:
        ended = self._polled.get(batch, 0) > self.polls
        count = len(self.batches[batch])
        counts = {"processing": 0 if ended else count, "succeeded": count if ended else 0}
        return {
            "id": batch,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
            "ended_at": "2026-01-01T00:00:00Z" if ended else None,
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.results_host or self.url}/v1/messages/batches/{batch}/results" if ended else None,
        }


def _error(code: int, kind: str, message: str) -> tuple[int, Any]:
    return code, {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"}
