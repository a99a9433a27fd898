"""Reads the model's reply: one rule for what counts as an answer, and what is refused.

The rule. Of all JSON objects in the text, in prose or code fences, also with the slips that models make (single
quotes, trailing commas, bare words), those count that hold a `decision` of MATCH or NONE, or no decision but a
`recipe`. Other objects (a restated schema, an example) are passed over. All that count must say the same, else the
reply is refused. `decision` rules over `recipe`: NONE with a name is NONE; MATCH needs a name. The name must be one of
the inventory, letter by letter, once quotes, backticks, emphasis, a final dot, an ` [engine: …]` behind it and the case
are taken off; nothing nearer to a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from vancectl.inventory.name import canonical
from vancectl.printable import plain_line
from vancectl.selector.decision import Reason

NAME_SHOWN = 80
_NULLS = {"", "null", "none", "nil", "n/a", "-"}
_DECORATION = " \t\r\n\"'`*“”„‘’«»<>"
_SUFFIX = re.compile(r"\s*[\[(]\s*engine\b[^\])]*[\])]\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said: `recipe` is a name of the inventory, or None for NONE."""

    recipe: str | None
    rationale: str
    evidence: str | None = None
    runner_up: str | None = None


class RefusedReplyError(Exception):
    """The reply is no answer. `text` says what is wrong, for the model as well as for a person."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text


def read_reply(text: str, names: Collection[str]) -> Answer:
    """The answer in a reply's text. Raises RefusedReplyError."""
    objects, problem = _objects(text)
    answers = [found for item in objects for found in _answers(item)]
    if not answers:
        if objects:
            raise RefusedReplyError(Reason.BAD_ANSWER, "the JSON object has no `decision` of MATCH or NONE")
        if problem:
            raise RefusedReplyError(Reason.BAD_JSON, f"JSON parse error: {problem}")
        raise RefusedReplyError(Reason.NO_JSON, "LLM reply has no JSON object")
    read = [_read(answer, names) for answer in answers]
    if len({answer.recipe for answer in read}) > 1:
        raise RefusedReplyError(Reason.CONFLICTING_ANSWERS, "the reply holds conflicting answers")
    return read[-1]


def _read(answer: dict[str, Any], names: Collection[str]) -> Answer:
    given = answer.get("recipe")
    name = find_name(given, names)
    rationale = _text(answer.get("rationale")) or "the model gave no rationale"
    evidence = _text(answer.get("evidence")) or None
    runner_up = find_name(answer.get("runnerUp"), names)
    decision = _decision(answer)
    if decision == "NONE" or (decision is None and _is_null(given)):
        return Answer(None, rationale, evidence, runner_up)
    if name is not None:
        return Answer(name, rationale, evidence, runner_up if runner_up != name else None)
    if _is_null(given):
        raise RefusedReplyError(Reason.BAD_ANSWER, "the decision is MATCH, but no recipe is named")
    shown = plain_line(str(given))
    shown = shown if len(shown) <= NAME_SHOWN else shown[:NAME_SHOWN] + "…"
    raise RefusedReplyError(Reason.UNKNOWN_RECIPE, f"unknown recipe '{shown}' — not in inventory")


def find_name(given: Any, names: Collection[str]) -> str | None:
    """The inventory's name that the text means, once decoration is taken off; None where there is none."""
    if not isinstance(given, str):
        return None
    for form in (
        given,
        given.strip(_DECORATION),
        _SUFFIX.sub("", given).strip(_DECORATION).rstrip(".").strip(_DECORATION),
    ):
        name = canonical(form)
        if name in names:
            return name
    name = canonical(_SUFFIX.sub("", given).strip(_DECORATION).rstrip(".").strip(_DECORATION + "_"))
    return name if name in names else None


def _answers(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value that count as an answer, with their keys in the case that we use."""
    if isinstance(value, dict):
        keys = {"decision": "decision", "recipe": "recipe", "rationale": "rationale", "evidence": "evidence"}
        keys |= {"runnerup": "runnerUp", "runner_up": "runnerUp"}
        known = {keys[key.lower()]: item for key, item in value.items() if isinstance(key, str) and key.lower() in keys}
        if _decision(known) is not None or ("decision" not in known and "recipe" in known):
            yield known
            return
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _answers(item)


def _decision(answer: dict[str, Any]) -> str | None:
    given = answer.get("decision")
    word = given.strip(_DECORATION + ".").upper() if isinstance(given, str) else "NONE" if given is None else ""
    return word if word in {"MATCH", "NONE"} and "decision" in answer else None


def _is_null(given: Any) -> bool:
    return given is None or (isinstance(given, str) and given.strip(_DECORATION + ".").lower() in _NULLS)


def _text(value: Any) -> str:
    return plain_line(value) if isinstance(value, str) else ""


def _objects(text: str) -> tuple[list[Any], str]:
    """The outermost JSON objects of a text, and what was wrong with the first brace that opens none."""
    decoder = json.JSONDecoder(strict=False)
    objects: list[Any] = []
    problem = ""
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            value, end = _lenient(text, position)
            if end <= position:
                problem = problem or (error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply")
                end = position + 1
        if end > position + 1 and isinstance(value, dict):
            objects.append(value)
        position = text.find("{", end)
    return objects, problem


def _lenient(text: str, start: int) -> tuple[Any, int]:
    """The object at `start` read as a YAML flow mapping, where every scalar is text; (None, -1) where it is none."""
    import yaml

    end = _closing_brace(text, start)
    if end < 0:
        return None, -1
    try:
        value = yaml.load(text[start:end], Loader=yaml.CBaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None, -1
    return (value, end) if isinstance(value, dict) and any(value.values()) else (None, -1)


def _closing_brace(text: str, start: int) -> int:
    """The end of the braces that open at `start`; quoted braces do not count, apostrophes are no quotes."""
    depth, quote = 0, ""
    for index in range(start, len(text)):
        character = text[index]
        if quote:
            if character == quote and text[index - 1] != "\\":
                quote = ""
        elif character == '"' or (character == "'" and not text[index - 1].isalnum()):
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return index + 1
    return -1
