"""What the selector expects of a model, whatever answers: a question goes in, a reply's text or a failure comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from vancectl.model.question import Question
from vancectl.model.reason import Reason


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply's text, the calls it took, and its tokens where the backend tells them."""

    text: str
    calls: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


class ModelError(Exception):
    """No reply. `text` says what to do and never holds a key; `reply` counts what was spent.

    One that is `passing` may be gone with the next call, after `wait` seconds if the server said. `status` is the HTTP
    status, where it came to one.
    """

    def __init__(
        self,
        reason: Reason,
        text: str,
        *,
        reply: Reply | None = None,
        passing: bool = False,
        wait: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text
        self.reply = reply or Reply("", calls=0)
        self.passing = passing
        self.wait = wait
        self.status = status

    def after(self, reply: Reply) -> ModelError:
        """The same failure, once this was spent."""
        return ModelError(self.reason, self.text, reply=reply)


class Model(Protocol):
    """One way to ask. `backend` and `name` go into the decision."""

    backend: str
    name: str

    def ask(self, question: Question, deadline: float) -> Reply:
        """Asks once. `deadline` is a `time.monotonic()` value. Raises ModelError."""
        ...


def check_size(characters: int, most: int) -> None:
    """Raises ModelError for a prompt that `limits.promptCharacters` does not allow."""
    if characters > most:
        raise ModelError(
            Reason.TOO_LARGE,
            f"the prompt has {characters:,} characters and is not sent, since limits.promptCharacters allows {most:,}; "
            "shorten the task, or raise the limit in the settings",
        )


def resolve_model(wanted: str, aliases: Mapping[str, str]) -> str:
    """The first of `resolve_models`."""
    return resolve_models(wanted, aliases)[0]


def resolve_models(wanted: str, aliases: Mapping[str, str]) -> list[str]:
    """The models behind an alias such as `default:fast`, in the order in which they are to be tried.

    An alias may stand for another, or for a list with commas. A name that is no alias stands for itself. Raises
    ModelError for an unknown `default:…` and for a circle.
    """
    found: dict[str, None] = {}
    circles = [circle for part in wanted.split(",") if (circle := _resolve(part.strip(), aliases, (), found))]
    if found:
        return list(found)
    if circles:
        raise ModelError(
            Reason.NO_MODEL, f"the model alias `{wanted}` leads in a circle; correct `models` in the settings"
        )
    raise ModelError(Reason.NO_MODEL, f"the model alias `{wanted}` is unknown; add it under `models` in the settings")


def _resolve(name: str, aliases: Mapping[str, str], above: tuple[str, ...], found: dict[str, None]) -> bool:
    """Adds the models that a name stands for; whether it leads back to itself."""
    if name in above:
        return True
    if name in aliases:
        parts = [part.strip() for part in aliases[name].split(",")]
        circles = [_resolve(part, aliases, (*above, name), found) for part in parts]
        return any(circles)
    if name and not name.startswith("default:"):
        found[name] = None
    return False
