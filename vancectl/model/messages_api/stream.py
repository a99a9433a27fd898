"""A conversation with a model whose replies come as a stream: how the worker calls the Messages API."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vancectl.model.messages_api.endpoint import Advice, Endpoint, Failure
from vancectl.model.model import ModelError, check_size
from vancectl.model.reason import Reason
from vancectl.settings.limits import Limits

if TYPE_CHECKING:
    from anthropic.types import Message

_TRIES = 3
_FIRST_PAUSE = 0.5
# Between two pieces of a stream; the whole may take as long as it likes.
_SILENCE = 120.0
# What another model of the chain may not suffer from.
_OF_THE_MODEL = {Reason.NOT_FOUND, Reason.PERMISSION, Reason.OVERLOADED, Reason.RATE_LIMITED, Reason.SERVER_ERROR}


@dataclass(slots=True)
class Conversation:
    """`models` are tried in order until one begins to answer; from then on that one is kept."""

    endpoint: Endpoint
    models: Sequence[str]
    system: str
    max_tokens: int
    messages: list[dict[str, str]] = field(default_factory=list)

    def ask(self, text: str, on_text: Callable[[str], None] | None = None) -> str:
        """Says `text` and gives back the whole reply; `on_text` gets it piece by piece. Raises ModelError.

        Nothing is tried again once `on_text` has been called: what is out cannot be taken back.
        """
        self.messages.append({"role": "user", "content": text})
        said = sum(len(message["content"]) for message in self.messages)
        check_size(len(self.system) + said, self.endpoint.limits.prompt_characters)
        while True:
            try:
                reply = self._try(self.models[0], on_text)
            except _MidStreamError as error:
                raise error.error from None
            except ModelError as error:
                if len(self.models) < 2 or error.reason not in _OF_THE_MODEL:
                    raise
                self.models = self.models[1:]
            else:
                self.models = self.models[:1]
                self.messages.append({"role": "assistant", "content": reply.strip() or "(nothing)"})
                return reply

    def _try(self, model: str, on_text: Callable[[str], None] | None) -> str:
        pause = _FIRST_PAUSE
        for number in range(_TRIES):
            pieces: list[str] = []
            failure = self._stream(model, pieces, on_text)
            if failure is None:
                return "".join(pieces)
            if pieces and on_text is not None:
                raise _MidStreamError(failure.error)
            if not failure.passing or number == _TRIES - 1:
                raise failure.error
            time.sleep(failure.wait if failure.wait is not None else pause)
            pause *= 2
        raise AssertionError

    def _stream(self, model: str, pieces: list[str], on_text: Callable[[str], None] | None) -> Failure | None:
        arguments: dict[str, Any] = {"system": self.system} if self.system.strip() else {}
        try:
            with self.endpoint.client.messages.stream(
                model=model,
                max_tokens=self.max_tokens,
                messages=self.messages,  # type: ignore[arg-type]  # plain dicts in the shape of MessageParam
                timeout=_SILENCE,
                **arguments,
            ) as stream:
                for text in stream.text_stream:
                    pieces.append(text)
                    if on_text is not None:
                        on_text(text)
                return self._ended(stream.get_final_message(), pieces)
        except (BrokenPipeError, KeyboardInterrupt):
            raise
        except Exception as error:  # noqa: BLE001  # whatever the SDK raises is judged by kind
            return self.endpoint.judge(error, model)

    def _ended(self, message: Message, pieces: list[str]) -> Failure | None:
        if message.stop_reason is None:
            return Failure(ModelError(Reason.CONNECTION, f"{self.endpoint.host} broke the reply off"), passing=True)
        stopped = self.endpoint.stopped(str(message.stop_reason))
        if stopped is not None:
            return Failure(stopped)
        if not "".join(pieces).strip():
            return Failure(ModelError(Reason.EMPTY_REPLY, "the model gave an empty reply"), passing=True)
        return None


class _MidStreamError(Exception):
    """A failure after the first words."""

    def __init__(self, error: ModelError) -> None:
        super().__init__()
        self.error = error


def open_endpoint(recipe: str, limits: Limits) -> Endpoint:
    """The endpoint for the worker of this recipe. Raises ModelError."""
    return Endpoint(
        Advice(
            model=f"params.model of `{recipe}` and `models` in the settings",
            prompt="shorten the recipe's promptPrefix",
            recipe=f"`{recipe}`",
            timeout="try again",
        ),
        limits,
    )
