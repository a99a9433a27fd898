"""Many questions through the Message Batches API: submitted, polled, collected, and taken up again after a restart.

The client is the one of single calls. Each question goes by a digest of what it asks, so that a run finds its answers
in any batch that was left open.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vancectl.disk.storage import write_atomically
from vancectl.model.messages_api.call import AnthropicModel
from vancectl.model.messages_api.retry import FIRST_PAUSE, Retry
from vancectl.model.model import ModelError, Reply
from vancectl.model.question import Question, digest, question_digest
from vancectl.model.reason import Reason
from vancectl.programs.secrets import scrub
from vancectl.text.printable import plain_line

# The API takes 100,000 requests and 256 MB a batch.
MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000
LONGEST_PAUSE = 60.0
_PATIENCE = 10
_WORTH_SAYING = 5.0
_TIMEOUT = 120.0


@dataclass(slots=True)
class Answered:
    """A model that holds the replies already; `number` tells several answers to one question apart."""

    name: str
    replies: Mapping[str, Reply | ModelError]
    number: int = 0
    backend: str = "batches"

    def ask(self, question: Question, deadline: float) -> Reply:
        found = self.replies.get(request_id(self.name, question, self.number))
        if found is None:
            raise ModelError(Reason.CALL_FAILED, "the batch holds no answer to this task")
        if isinstance(found, ModelError):
            raise found
        return found


def request_id(model: str, question: Question, number: int = 0) -> str:
    return f"{question_digest(model, question)}-{number}"


class MessageBatches:
    """Asks one model. `folder` keeps the ids of open batches; `say` tells a person what goes on.

    After `collect` the ids are kept until `close`: whoever is interrupted in between can collect again.
    """

    def __init__(self, model: AnthropicModel, folder: Path | None, say: Callable[[str], None]) -> None:
        self._model = model
        self._folder = folder / "batches" if folder is not None else None
        self._say = say
        self._notes: list[Path] = []

    def collect(self, questions: Mapping[str, Question]) -> dict[str, Reply | ModelError]:
        """The answer to each question by its id. Raises ModelError where a batch cannot be submitted or read."""
        refused = {each: error for each, question in questions.items() if (error := self._refused(question))}
        questions = {each: question for each, question in questions.items() if each not in refused}
        waiting = dict(questions)
        batches: list[tuple[Path | None, str, int]] = []
        for note, batch, ids in self._open_batches():
            if ids & waiting.keys():
                self._say(f"batch {batch}: taken up again")
                batches.append((note, batch, len(ids)))
                for each in ids:
                    waiting.pop(each, None)
        batches.extend(map(self._submit, self._parts(waiting)))
        replies = self._collect_all(batches)
        # What a batch that was taken up again no longer holds is asked for once more.
        gone = {each: question for each, question in questions.items() if each not in replies and each not in waiting}
        return refused | replies | self._collect_all([self._submit(part) for part in self._parts(gone)])

    def _refused(self, question: Question) -> ModelError | None:
        try:
            self._model.check(question)
        except ModelError as error:
            return error
        return None

    def close(self) -> None:
        """All answers are where they belong: the batches are done with."""
        for note in self._notes:
            with contextlib.suppress(OSError):
                note.unlink()

    def _collect_all(self, batches: Iterable[tuple[Path | None, str, int]]) -> dict[str, Reply | ModelError]:
        replies: dict[str, Reply | ModelError] = {}
        for note, batch, count in batches:
            if note is not None:
                self._notes.append(note)
            replies.update(self._collect(batch, count))
        return replies

    # -- the notes of open batches

    def _open_batches(self) -> Iterator[tuple[Path, str, set[str]]]:
        if self._folder is None or not os.path.isdir(self._folder):
            return
        for note in sorted(self._folder.glob("*.json")):
            try:
                held = json.loads(note.read_bytes())
                if held["server"] == digest(self._model.url):
                    yield note, str(held["batch"]), set(held["questions"])
            except (OSError, ValueError, KeyError, TypeError):
                continue  # no note of ours

    def _remember(self, batch: str, ids: list[str]) -> Path | None:
        if self._folder is None:
            return None
        note = self._folder / f"{digest(batch)}.json"
        held = {"batch": batch, "server": digest(self._model.url), "questions": ids}
        try:
            write_atomically(note, json.dumps(held).encode())
        except OSError:
            self._say(f"batch {batch}: its id cannot be kept, so it cannot be taken up again after a restart")
            return None
        return note

    # -- calls

    def _parts(self, questions: Mapping[str, Question]) -> Iterator[list[dict[str, Any]]]:
        part: list[dict[str, Any]] = []
        size = 0
        for each, question in questions.items():
            request = {"custom_id": each, "params": self._model.arguments(question)}
            weight = len(json.dumps(request))
            if part and (len(part) >= MAX_REQUESTS or size + weight > MAX_BYTES):
                yield part
                part, size = [], 0
            part.append(request)
            size += weight
        if part:
            yield part

    def _submit(self, requests: list[dict[str, Any]]) -> tuple[Path | None, str, int]:
        # Tried again only where the server itself refused: a batch whose confirmation was lost would be paid twice.
        batch = self._call(
            lambda: self._model.client.messages.batches.create(requests=requests, timeout=_TIMEOUT),  # type: ignore[arg-type]
            retried={Reason.RATE_LIMITED, Reason.OVERLOADED},
        )
        self._say(f"batch {batch.id}: {len(requests)} questions submitted")
        note = self._remember(batch.id, [request["custom_id"] for request in requests])
        return note, str(batch.id), len(requests)

    def _collect(self, batch: str, count: int) -> dict[str, Reply | ModelError]:
        pause, failures = FIRST_PAUSE, 0
        batches = self._model.client.messages.batches
        try:
            while True:
                try:
                    state = self._call(lambda: batches.retrieve(batch, timeout=_TIMEOUT), retried=set())
                except ModelError as error:
                    failures += 1
                    if error.reason is Reason.NOT_FOUND:
                        self._say(f"batch {batch}: the server does not know it any more")
                        return {}
                    if failures >= _PATIENCE or error.reason not in _PASSING:
                        raise
                else:
                    failures = 0
                    if state.processing_status == "ended":
                        self._check_address(state.results_url)
                        break
                time.sleep(pause)
                pause = min(pause * 1.5, LONGEST_PAUSE)
            with self._model.expecting(count):
                found: dict[str, Reply | ModelError] = self._call(lambda: dict(self._results(batch)), retried=_PASSING)
            return found
        except KeyboardInterrupt:
            self._say(f"batch {batch}: goes on without us; the same command takes it up again")
            raise

    def _check_address(self, url: str | None) -> None:
        """The key goes along to wherever the results lie."""
        if url is None or urlsplit(url)[:2] != urlsplit(self._model.url)[:2]:
            raise ModelError(Reason.BASE_URL, "the batch's results lie on another server, but no key is sent there")

    def _results(self, batch: str) -> Iterator[tuple[str, Reply | ModelError]]:
        for line in self._model.client.messages.batches.results(batch, timeout=_TIMEOUT):
            yield line.custom_id, self._reply(line.result)

    def _reply(self, result: Any) -> Reply | ModelError:
        if result.type == "succeeded":
            try:
                return self._model.read_message(result.message)
            except ModelError as error:
                return error
        if result.type == "errored":
            inner = getattr(result.error, "error", None)
            said = scrub(plain_line(str(getattr(inner, "message", "") or "no reason given")))[:300]
            reason = Reason.BAD_REQUEST if getattr(inner, "type", "") == "invalid_request_error" else Reason.CALL_FAILED
            return ModelError(reason, f"the batch's question failed: {said}")
        if result.type == "expired":
            return ModelError(Reason.TIMEOUT, "the batch expired before this question was asked; run it again")
        return ModelError(Reason.CALL_FAILED, f"the batch's question was not answered ({plain_line(str(result.type))})")

    def _call(self, call: Callable[[], Any], retried: set[Reason]) -> Any:
        retry = Retry()
        while True:
            try:
                return call()
            except ModelError:
                raise
            except Exception as raised:  # noqa: BLE001  # the SDK's and its HTTP library's kinds; judged below
                error = self._model.judge(raised)
            pause = retry.pause_after(error) if error.reason in retried else None
            if pause is None:
                raise error
            if pause >= _WORTH_SAYING:
                self._say(f"{error.text}; trying again in {pause:g} seconds")
            time.sleep(pause)


_PASSING = {
    Reason.RATE_LIMITED,
    Reason.OVERLOADED,
    Reason.SERVER_ERROR,
    Reason.TIMEOUT,
    Reason.CONNECTION,
}
