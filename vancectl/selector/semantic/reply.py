"""Reads the model's reply: one rule for what counts as an answer, and what is refused.

The rule. Of all JSON objects in the text, in prose or code fences, also with the slips that models make (single
quotes, trailing commas, bare words), those count that hold a `decision` of MATCH or NONE. A reply that is one object
with a `recipe` and no decision counts too. Other objects (a restated schema, an example) are passed over, and so is
what stands inside an answer, be it broken: a cut-off NONE may list the names that it turned down. Where none counts,
and the last object is one in which a program wraps its answer, the text in that is read by the same rule. All that
count must say the same, else the reply is refused, as is one that gives two values for one key. `decision` rules over
`recipe`: NONE with a name is NONE; MATCH needs a name. The name must be one of the inventory, letter by letter, once
quotes, backticks, emphasis, a final dot, an ` [engine: …]` behind it and the case are taken off; nothing nearer to a
guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vancectl.model.reason import Reason
from vancectl.text.names import canonical
from vancectl.text.printable import plain_line

if TYPE_CHECKING:
    from yaml.nodes import Node

NAME_SHOWN = 80
# Whatever a server or a program sends, reading it must not outlast the deadline.
_NAME_READ = 1_000
_BROKEN_READ = 20_000
_MAX_BROKEN = 100
# Where agent programs put the text of their answer with `--output-format json`.
_ENVELOPES = ("result", "response")
_SAID = 200
_NULLS = {"", "null", "none", "nil", "n/a", "-"}
_DECORATION = " \t\r\n\"'`*“”„‘’«»<>"
_SUFFIX = re.compile(r"[\[(]\s*engine\b[^\])]*[\])]$", re.IGNORECASE)
_KEYS = {"decision": "decision", "recipe": "recipe", "rationale": "rationale", "evidence": "evidence"}
_KEYS |= {"runnerup": "runnerUp", "runner_up": "runnerUp"}
_ANSWER_KEY = re.compile(r"\b(decision|recipe)\b[\"']?\s*:", re.IGNORECASE)
# Programs for local models print the thinking before the answer; one that was cut off in its midst gave no answer.
_THINKING = re.compile(r"\A\s*<think(ing)?>.*?(</think(ing)?>|\Z)", re.IGNORECASE | re.DOTALL)


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
    try:
        return _read_all(_THINKING.sub("", text), names)
    except RecursionError:
        raise RefusedReplyError(Reason.BAD_JSON, "JSON parse error: nested too deeply") from None


def _read_all(text: str, names: Collection[str]) -> Answer:
    if not text.strip():
        raise RefusedReplyError(Reason.EMPTY_REPLY, "LLM reply has no JSON object")
    objects, problem = _objects(text)
    answers = [found for item in objects for found in _answers(item)]
    if not answers and len(objects) == 1 and not problem and "recipe" in objects[0] and "decision" not in objects[0]:
        answers = objects
    if not answers and not problem:
        inner = _unwrapped(objects)
        if inner is not None:
            return _read_all(inner, names)
    if not answers:
        if problem:
            raise RefusedReplyError(Reason.BAD_JSON, f"JSON parse error: {problem}")
        if objects:
            raise RefusedReplyError(
                Reason.BAD_ANSWER, f"the JSON object has no `decision` of MATCH or NONE{_hint(objects)}"
            )
        raise RefusedReplyError(Reason.NO_JSON, "LLM reply has no JSON object")
    read = [_read(answer, names) for answer in answers]
    if len({answer.recipe for answer in read}) > 1:
        raise RefusedReplyError(Reason.CONFLICTING_ANSWERS, "the reply holds conflicting answers")
    return read[-1]


def _unwrapped(objects: list[dict[str, Any]]) -> str | None:
    """The answer's text where a program prints it in an object of its own, alone or as the last of its events."""
    if not objects or (len(objects) > 1 and objects[-1].get("type") != "result"):
        return None
    text = next((objects[-1][key] for key in _ENVELOPES if isinstance(objects[-1].get(key), str)), None)
    if objects[-1].get("is_error") is True:
        said = plain_line(text or "")[:_SAID]
        raise RefusedReplyError(Reason.BAD_ANSWER, f"the program reports an error{': ' + said if said else ''}")
    return text


def _hint(objects: list[dict[str, Any]]) -> str:
    if not any("decision" in text for item in objects for text in _texts(item)):
        return ""
    return "; it wraps the answer: let the program print the bare text, such as with --output-format text"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


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
    if not isinstance(given, str) or len(given) > _NAME_READ:
        return None
    form, before = given, ""
    while form != before:
        name = canonical(form)
        if name in names:
            return name
        before, form = form, _peeled(form)
    return None


def _peeled(form: str) -> str:
    """`form` without one layer of decoration. Underscores are emphasis in pairs only: `_x` is another name than `x`."""
    if form[:1] == form[-1:] == "_":
        return form.strip("_")
    return _SUFFIX.sub("", form.strip(_DECORATION)).removesuffix(".").strip(_DECORATION)


def _answers(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value that count as an answer. What another decision than ours holds is not looked into."""
    if isinstance(value, dict):
        if _decision(value) is not None:
            yield value
            return
        if not isinstance(value.get("decision", {}), dict | list):
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


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """The outermost JSON objects of a text, and what was wrong with the first brace that opens none."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_members)
    objects: list[dict[str, Any]] = []
    broken: list[str] = []
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            value, end = _lenient(text, position)
            if end < 0:
                broken.append(error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply")
                end = _behind_broken(text, position)
        if value is not None:
            objects.append(value)
        if len(broken) > _MAX_BROKEN:
            raise RefusedReplyError(Reason.BAD_JSON, f"JSON parse error: {broken[0]}")
        position = text.find("{", end)
    return objects, broken[0] if broken else ""


def _members(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object, with our keys in the case that we use."""
    members: dict[str, Any] = {}
    for given, value in pairs:
        key = _KEYS.get(given.strip().lower(), given)
        if key in {"decision", "recipe"} and members.get(key, value) != value:
            raise RefusedReplyError(Reason.CONFLICTING_ANSWERS, f"the reply gives two values for `{key}`")
        members[key] = value
    return members


def _lenient(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The object at `start` read as a YAML flow mapping, where every scalar is text; (None, -1) where it is none."""
    import yaml

    end = _closing_brace(text, start)
    if end < 0:
        return None, -1
    try:
        # YAML doubles an apostrophe in single quotes, where JavaScript and Python escape it.
        node = yaml.compose(text[start:end].replace("\\'", "''"), Loader=yaml.CBaseLoader)
        value = _value(node, set())
    except (yaml.YAMLError, ValueError, RecursionError):
        return None, -1
    # `{a, b}` in prose is a mapping to nothing.
    return (value, end) if isinstance(value, dict) and any(value.values()) else (None, -1)


def _value(node: Node | None, seen: set[int]) -> Any:
    """A YAML node's value. An alias is refused: a few lines of them can stand for a value without end."""
    import yaml

    if node is None or id(node) in seen:
        raise ValueError
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        return _members((str(key.value), _value(value, seen)) for key, value in node.value)
    return [_value(item, seen) for item in node.value] if isinstance(node, yaml.SequenceNode) else node.value


def _behind_broken(text: str, start: int) -> int:
    """Where to read on behind a brace that opens no object: past the whole of it where it is a broken answer."""
    inner = text.find("{", start + 1)
    if not _ANSWER_KEY.search(text[start : inner if inner >= 0 else len(text)]):
        return start + 1
    end = _closing_brace(text, start)
    return end if end >= 0 else len(text)


def _closing_brace(text: str, start: int) -> int:
    """The end of the braces that open at `start`; quoted braces do not count, apostrophes are no quotes.

    -1 where it is not near.
    """
    depth, quote = 0, ""
    for index in range(start, min(len(text), start + _BROKEN_READ)):
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
