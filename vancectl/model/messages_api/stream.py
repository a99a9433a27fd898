"""A conversation with a model whose replies come as a stream: how the worker calls the Messages API."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vancectl.model.messages_api.endpoint import Advice, Endpoint, kind_of
from vancectl.model.messages_api.retry import Retry
from vancectl.model.model import ModelError, check_size
from vancectl.model.reason import Reason
from vancectl.settings.limits import Limits
from vancectl.text.printable import well_formed

if TYPE_CHECKING:
    from anthropic.lib.streaming import MessageStream

EVENT_STREAM = "text/event-stream"
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
    _begun: bool = False  # a reply whose first words are out has failed

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
            except ModelError as error:
                if self._begun or len(self.models) < 2 or error.reason not in _OF_THE_MODEL:
                    raise
                self.models = self.models[1:]
            else:
                self.models = self.models[:1]
                self.messages.append({"role": "assistant", "content": reply.strip() or "(nothing)"})
                return reply

    def _try(self, model: str, on_text: Callable[[str], None] | None) -> str:
        retry = Retry()
        while True:
            pieces: list[str] = []
            try:
                self._stream(model, pieces, on_text)
                return "".join(pieces)
            except ModelError as error:
                self._begun = bool(pieces) and on_text is not None
                pause = None if self._begun else retry.pause_after(error)
                if pause is None:
                    raise
            time.sleep(pause)

    def _stream(self, model: str, pieces: list[str], on_text: Callable[[str], None] | None) -> None:
        response: Any = None
        arguments: dict[str, Any] = {"system": self.system} if self.system.strip() else {}
        try:
            with self.endpoint.client.messages.stream(
                model=model,
                max_tokens=self.max_tokens,
                messages=self.messages,  # type: ignore[arg-type]  # plain dicts in the shape of MessageParam
                timeout=_SILENCE,
                **arguments,
            ) as stream:
                response = stream.response
                if kind_of(response).lower() != EVENT_STREAM:
                    self._in_one_piece(response, model, pieces, on_text)
                    return
                for text in stream.text_stream:
                    pieces.append(text)
                    if on_text is not None:
                        on_text(text)
                self._check(_stop_reason(stream), pieces)
        except (BrokenPipeError, KeyboardInterrupt, ModelError):
            raise
        except Exception as error:  # noqa: BLE001  # whatever the SDK raises is judged by kind
            judged = self.endpoint.judge(error, model)
            # The SDK takes the shape of events for granted, and fails in ways of its own where they have another.
            is_other = judged.reason is Reason.CALL_FAILED and response is not None
            raise (self.endpoint.no_message(response) if is_other else judged) from None

    def _in_one_piece(
        self, response: Any, model: str, pieces: list[str], on_text: Callable[[str], None] | None
    ) -> None:
        """An answer of a gateway that does not stream."""
        found = self.endpoint.message_in(response, model)
        texts = [block.get("text") for block in found["content"] if block["type"] == "text"]
        text = well_formed("".join(text for text in texts if isinstance(text, str)))
        pieces.append(text)
        if on_text is not None and text:
            on_text(text)
        self._check(found.get("stop_reason") or "end_turn", pieces)  # not every gateway says one

    def _check(self, stop_reason: object, pieces: list[str]) -> None:
        """Raises ModelError for what is wrong with a reply that ended for this reason."""
        if stop_reason is None:
            raise ModelError(Reason.CONNECTION, f"{self.endpoint.host} broke the reply off", passing=True)
        stopped = self.endpoint.stopped(str(stop_reason))
        if stopped is not None:
            raise stopped
        if not "".join(pieces).strip():
            raise ModelError(Reason.EMPTY_REPLY, "the model gave an empty reply", passing=True)


def _stop_reason(stream: MessageStream) -> str | None:
    """Why the message ended; None where it did not, or where none began."""
    try:
        return stream.get_final_message().stop_reason
    except AssertionError:
        return None


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
