"""Ceilings that no project, recipe, server or program can raise: only the user's settings do (security boundary)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from vancectl.settings.settings import Settings

# Params of a recipe that have a ceiling, each with the setting that holds it.
_CEILINGS = {"maxAttempts": "limits.attempts", "maxTokens": "limits.answerTokens"}


class Limits(NamedTuple):
    """The settings `limits.*`, read once."""

    attempts: int
    answer_tokens: int
    prompt_characters: int
    description_characters: int
    response_bytes: int
    wait_seconds: float

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        return cls(
            settings["limits.attempts"],
            settings["limits.answerTokens"],
            settings["limits.promptCharacters"],
            settings["limits.descriptionCharacters"],
            settings["limits.responseBytes"],
            settings["limits.waitSeconds"],
        )


def below_ceilings(params: Mapping[str, Any], owner: str, settings: Settings) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The params with what is above a ceiling lowered to it, and a sentence on each; `owner` says whose they are."""
    lowered, told = dict(params), []
    for param, setting in _CEILINGS.items():
        most = settings[setting]
        if _is_above(params.get(param), most):
            lowered[param] = most
            shown = str(params[param])[:20]
            told.append(f"params.{param} of {owner} is {shown}; {setting} allows {most}, which is used")
    return lowered, tuple(told)


def _is_above(value: Any, most: int) -> bool:
    """Also as text, since a program may read it as a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    if isinstance(value, int):
        return value > most
    try:
        return float(value) > most
    except ValueError:
        return False
