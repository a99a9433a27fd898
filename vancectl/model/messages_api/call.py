"""The selector's one model call, through the Anthropic SDK."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from vancectl.model.messages_api.endpoint import Advice, Endpoint
from vancectl.model.messages_api.retry import Retry
from vancectl.model.messages_api.throttle import Throttle
from vancectl.model.model import ModelError, Reply, check_size
from vancectl.model.question import Question, correction
from vancectl.model.reason import Reason
from vancectl.settings.limits import Limits
from vancectl.text.printable import well_formed

if TYPE_CHECKING:
    from anthropic.types import Message

_FIRST_PAUSE = 0.25  # a person waits
_REFUSALS = frozenset((400, 422))
_TRY_SECONDS = 10.0
_ADVICE = Advice(
    model="--model, VANCECTL_MODEL, selector.model and the recipe `recipe-selector`",
    prompt="lower routing.recipeListLimit",
    recipe="`recipe-selector`",
    timeout="raise selector.timeout or try again",
)


class AnthropicModel:
    """A model behind the Messages API. Raises ModelError where no client can be made."""

    backend = "anthropic"

    def __init__(self, name: str, max_tokens: int, limits: Limits) -> None:
        self.name = name
        self._max_tokens = max_tokens
        self._structured = True
        self._throttle = Throttle()
        self._endpoint = Endpoint(_ADVICE, limits)
        self.url = self._endpoint.url
        self.client = self._endpoint.client

    def ask(self, question: Question, deadline: float) -> Reply:
        """One reply, with up to three calls where the server or the network failed for the moment."""
        self.check(question)
        retry = Retry(deadline, _FIRST_PAUSE)
        calls = 0
        refusal: ModelError | None = None
        while True:
            retry.deadline += self._throttle.enter(first=calls == 0)
            asked_at, answered, wait = time.monotonic(), False, 0.0
            try:
                if refusal is not None and asked_at >= retry.deadline:
                    # Its turn did not come again in time: what the server said is the reason, not the time.
                    raise refusal
                calls += 1
                reply = self._call(question, retry.deadline)
                answered = True
                return replace(reply, calls=calls)
            except _UnstructuredError:
                # Not every server takes a schema: once refused, it is left out for the rest of the run.
                self._structured = False
            except ModelError as error:
                refused = error.reason in {Reason.RATE_LIMITED, Reason.OVERLOADED}
                # Refused in a crowd, a question only waits for its turn: that is no failure of its own.
                pause = retry.pause_after(error, counts=not (refused and self._throttle.crowded))
                if pause is None:
                    raise error.after(replace(error.reply, calls=calls)) from None
                wait = pause
                if refused:
                    refusal = error
                    self._throttle.refused(wait, asked_at)
            finally:
                self._throttle.leave(answered=answered)
            time.sleep(wait)

    def try_server(self) -> str | None:
        """What is wrong with key or server, by a call that costs nothing; None where it answers."""
        try:
            self.client.models.list(limit=1, timeout=_TRY_SECONDS)
        except Exception as error:  # noqa: BLE001  # the SDK's and its HTTP library's kinds
            return self.judge(error).text
        return None

    def check(self, question: Question) -> None:
        """Raises ModelError for a question that is too long to be sent."""
        check_size(question.characters, self._endpoint.limits.prompt_characters)

    @contextmanager
    def expecting(self, answers: int) -> Iterator[None]:
        """While so many answers may come in one body."""
        self._endpoint.answers_expected = answers
        try:
            yield
        finally:
            self._endpoint.answers_expected = 1

    def _call(self, question: Question, deadline: float) -> Reply:
        """One request, on a thread of its own: a reply that drips byte by byte outlasts every timeout of the SDK."""
        box: Queue[Any] = Queue(1)

        def work() -> None:
            try:
                box.put(self._send(question, deadline))
            except Exception as error:  # noqa: BLE001  # whatever it is, it is judged where it is taken out
                box.put(error)

        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise self._endpoint.timeout()
        threading.Thread(target=work, daemon=True).start()
        try:
            result = box.get(timeout=remaining)
        except Empty:
            raise self._endpoint.timeout() from None
        if isinstance(result, Exception):
            raise self._judged(result) from None
        return self._read(result)

    def _send(self, question: Question, deadline: float) -> Any:
        return self.client.messages.with_raw_response.create(
            timeout=max(deadline - time.monotonic(), 0.001), **self.arguments(question)
        )

    def arguments(self, question: Question) -> dict[str, Any]:
        """What a question is to the Messages API."""
        arguments: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self._max_tokens,
            "system": question.system,
            "messages": list(_messages(question)),
        }
        if self._structured:
            arguments["output_config"] = {"format": {"type": "json_schema", "schema": question.schema()}}
        return arguments

    def _read(self, response: Any) -> Reply:
        """The reply's text. Raises ModelError for everything that is no message, and for each way to stop short."""
        return self.read_message(self._message(response))

    def read_message(self, message: Message) -> Reply:
        """The same for a message whose shape is known."""
        texts = (getattr(block, "text", None) for block in message.content if block.type == "text")
        reply = Reply(
            # A lone surrogate, which JSON can hold, could not be sent back with a correction.
            well_formed("".join(text for text in texts if isinstance(text, str))),
            input_tokens=_count(message, "input_tokens"),
            output_tokens=_count(message, "output_tokens"),
            cache_read_tokens=_count(message, "cache_read_input_tokens"),
            cache_write_tokens=_count(message, "cache_creation_input_tokens"),
        )
        stop = str(message.stop_reason)
        if not reply.text.strip() and any(block.type == "tool_use" for block in message.content):
            stop = "tool_use"
        stopped = self._endpoint.stopped(stop)
        if stopped is not None:
            raise ModelError(stopped.reason, stopped.text, reply=reply)
        return reply

    def _message(self, response: Any) -> Message:
        """The SDK builds a message out of any JSON, so its shape is checked before it is believed."""
        self._endpoint.message_in(response.http_response, self.name)
        try:
            message: Message = response.parse()
        except Exception:  # noqa: BLE001  # decoding and validation raise kinds from three libraries
            raise self._endpoint.no_message(response.http_response) from None
        return message

    def judge(self, error: Exception) -> ModelError:
        """What it means that the SDK raised this."""
        return self._endpoint.judge(error, self.name)

    def _judged(self, error: Exception) -> Exception:
        """The same, unless the server may only have refused the schema."""
        failure = self.judge(error)
        return _UnstructuredError() if failure.status in _REFUSALS and self._structured else failure


class _UnstructuredError(Exception):
    """The server may have refused the reply schema."""


def _messages(question: Question) -> Iterator[dict[str, Any]]:
    """Context first and marked for the cache; the recipes' words stay out of the system prompt, which is ours alone."""
    cached = {"type": "text", "text": question.context, "cache_control": {"type": "ephemeral"}}
    yield {"role": "user", "content": [cached, {"type": "text", "text": question.request}]}
    for reply, complaint in question.corrections:
        yield {"role": "assistant", "content": reply.strip() or "(nothing)"}
        yield {"role": "user", "content": correction(complaint)}


def _count(message: Message, name: str) -> int | None:
    """A token count; None where a gateway leaves it out or puts something else there."""
    value = getattr(message.usage, name, None)
    return value if isinstance(value, int) else None
