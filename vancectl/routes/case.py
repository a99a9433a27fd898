"""Cases as they stand in their files: a task, and what should be decided about it; a bad one is a finding with a line.

YAML files hold a list below `cases:`, JSONL files an object a line with the same keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.disk.plain_file import read_plain, refusal
from vancectl.errors import Place
from vancectl.reading.document import Document
from vancectl.reading.finding import Finding
from vancectl.recordings.recordings import without_line_end
from vancectl.selector.decision import Stage
from vancectl.text.names import canonical

NONE = "NONE"
STAGES = tuple(stage.value for stage in Stage if stage is not Stage.EXPLICIT)
MAX_REPEAT = 100
MAX_BYTES = 100_000_000  # of a file of JSON lines


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `avoid` is the key `not`; names are canonical, NONE is none of them.

    `expect` is None where only `not`, `stage` or `starts` claim something.
    """

    task: str
    place: Place
    expect: str | None = None
    accept: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    stage: str | None = None
    starts: str | None = None
    profile: str | None = None
    repeat: int = 1
    at_least: int = 1
    tags: tuple[str, ...] = ()
    why: str | None = None
    id: str | None = None
    lang: str | None = None
    with_sources: bool = False  # whether its file wants the recipes of other programs among the candidates

    @property
    def right_names(self) -> tuple[str, ...]:
        """`expect` and `accept`; empty where any name that is not avoided is right."""
        return () if self.expect is None else (self.expect, *self.accept)

    @property
    def in_scope(self) -> bool | None:
        """Whether a recipe is due; None where the case does not say."""
        return None if self.expect is None else self.expect != NONE


class Cases(NamedTuple):
    """What some files hold: the good cases in order, and what is wrong with the bad ones."""

    cases: tuple[Case, ...]
    findings: tuple[Finding, ...]


class Field(NamedTuple):
    """A key's value in one case, and where it stands."""

    value: Any
    place: Place


def read_cases(paths: Iterable[Path]) -> Cases:
    """Every case of the files; never raises for what a file says."""
    cases: list[Case] = []
    findings: list[Finding] = []
    for path in paths:
        wants: set[str] = set()
        read = _read_jsonl if path.suffix.lower() in {".jsonl", ".ndjson"} else _read_yaml
        found = good = 0
        before = len(findings)
        for place, fields in read(path, findings, wants):
            found += 1
            case = _case(place, fields, findings)
            if case is not None:
                good += 1
                cases.append(case)
        if "sources" in wants:
            cases[len(cases) - good :] = [replace(each, with_sources=True) for each in cases[len(cases) - good :]]
        if not found and len(findings) == before:
            findings.append(Finding("no-cases", Place(path)))
    return Cases(tuple(cases), tuple(findings))


# -- from files to fields


def _read_yaml(path: Path, findings: list[Finding], wants: set[str]) -> Iterator[tuple[Place, dict[str, Field]]]:
    reason = refusal(path)
    if reason is not None:
        findings.append(Finding("unreadable", Place(path), {"reason": reason}))
        return
    document = Document.read(path)
    if document.root is not None:
        for key, key_node, node in document.pairs(document.root):
            if key == "sources":
                if document.flag(node, key):
                    wants.add(key)
            elif key != "cases":
                document.add("case-key", key_node, key=key, known=("cases", "sources"), nearest_to=key)
            elif node.id != "sequence":
                document.add("wrong-type", node, field="cases", expected="a list", found="something else")
            else:
                for item in node.value:
                    entry = document.mapping(item, "cases[]")
                    if entry is not None:
                        yield _place(document, item), _yaml_fields(document, entry)
    found = [finding for finding in document.findings if finding.breaks or finding.code == "comment-cut"]
    if document.empty:
        found = [Finding("no-cases", Place(path))]
    findings.extend(found)


def _yaml_fields(document: Document, node: Any) -> dict[str, Field]:
    """Texts as their author wrote them (`on`, `no` and `1:30` are words here), everything else as YAML means it."""
    fields = {}
    for key, key_node, value in document.pairs(node):
        read = KEYS[key].read if key in KEYS else "plain"
        if read == "text" and value.id == "scalar":
            content: Any = document.text(value, key)
        elif read == "texts" and value.id == "sequence":
            content = [text for text, _ in document.texts(value, key)]
        else:
            content = document.plain(value)
        fields[key] = Field(content, _place(document, key_node))
    return fields


def _place(document: Document, node: Any) -> Place:
    return Place(document.path, node.start_mark.line + 1, node.start_mark.column + 1)


def _read_jsonl(path: Path, findings: list[Finding], _: set[str]) -> Iterator[tuple[Place, dict[str, Field]]]:
    try:
        data = read_plain(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        findings.append(Finding("unreadable", Place(path), {"reason": reason}))
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        place = Place(path, number)
        try:
            value = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_members)
        except UnicodeDecodeError:
            findings.append(Finding("not-utf8", place))
        except (ValueError, RecursionError) as error:
            findings.append(Finding("bad-line", place, {"problem": getattr(error, "msg", None) or str(error)}))
        else:
            if isinstance(value, dict):
                yield place, {key: Field(content, place) for key, content in value.items()}
            else:
                findings.append(Finding("bad-line", place, {"problem": "it holds another kind of value"}))


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


# -- from fields to a case


class Key(NamedTuple):
    """A key of a case: how YAML reads it, what it must be, and a check that gives the value or raises ValueError."""

    read: str
    expected: str
    clean: Callable[[Any], Any]


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _task(value: Any) -> str:
    """A blank task is a task: it must give NONE. A block of YAML ends in a line end that no one means."""
    if not isinstance(value, str):
        raise ValueError
    return without_line_end(value)


def _word(value: Any) -> str:
    return _text(value).strip()


def _name(value: Any) -> str:
    """A recipe's name in its canonical form, as everywhere; NONE is none."""
    word = _word(value)
    return word if word == NONE else canonical(word)


def _listed(value: Any, read: Callable[[Any], str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (read(value),)
    if not isinstance(value, list) or not value:
        raise ValueError
    return tuple(map(read, value))


def _names(value: Any) -> tuple[str, ...]:
    return _listed(value, _name)


def _words(value: Any) -> tuple[str, ...]:
    return _listed(value, _word)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_REPEAT:
        raise ValueError
    return value


def _stage(value: Any) -> str:
    if value not in STAGES:
        raise ValueError
    return str(value)


def _label(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError
    return str(value)


KEYS: Mapping[str, Key] = {
    "task": Key("text", "text", _task),
    "expect": Key("text", "a recipe's name, or NONE", _name),
    "accept": Key("texts", "a list of names", _names),
    "not": Key("texts", "a list of names", _names),
    "stage": Key("text", "one of " + ", ".join(STAGES), _stage),
    "starts": Key("text", "a recipe's name, or NONE", _name),
    "profile": Key("text", "a profile's name", _word),
    "repeat": Key("plain", f"a whole number from 1 to {MAX_REPEAT}", _count),
    "atLeast": Key("plain", f"a whole number from 1 to {MAX_REPEAT}", _count),
    "tags": Key("texts", "a list of words", _words),
    "why": Key("text", "text", _text),
    "id": Key("text", "text or a number", _label),
    "lang": Key("text", "text", _text),
}


def _case(place: Place, fields: Mapping[str, Field], findings: list[Finding]) -> Case | None:
    wrong: list[Finding] = []
    values: dict[str, Any] = {}
    for key, field in fields.items():
        if key not in KEYS:
            wrong.append(Finding("case-key", field.place, {"key": key, "known": tuple(KEYS), "nearest_to": key}))
            continue
        try:
            values[key] = KEYS[key].clean(field.value)
        except ValueError:
            data = {"field": key, "expected": KEYS[key].expected, "found": _shown(field.value)}
            wrong.append(Finding("wrong-type", field.place, data))
    if "task" not in fields:
        wrong.append(Finding("missing-field", place, {"field": "task"}))
    if not fields.keys() & {"expect", "not", "stage", "starts"}:
        wrong.append(Finding("case-claims-nothing", place))
    case = _made(place, values)
    wrong.extend(Finding("case-contradiction", place, {"problem": problem}) for problem in _contradictions(case))
    findings.extend(wrong)
    return None if wrong else case


def _made(place: Place, values: Mapping[str, Any]) -> Case:
    repeat = values.get("repeat", 1)
    return Case(
        values.get("task", ""),
        place,
        values.get("expect"),
        values.get("accept", ()),
        values.get("not", ()),
        values.get("stage"),
        values.get("starts"),
        values.get("profile"),
        repeat,
        values.get("atLeast", repeat),
        values.get("tags", ()),
        values.get("why"),
        values.get("id"),
        values.get("lang"),
    )


def _contradictions(case: Case) -> Iterator[str]:
    if case.accept and case.expect is None:
        yield "`accept` adds to `expect`, which is missing"
    for name in sorted(set(case.right_names) & set(case.avoid)):
        yield f"`{name}` is both right and in `not`"
    if case.at_least > case.repeat:
        yield f"`atLeast` is {case.at_least}, but the task is asked {_times(case.repeat)}"
    if case.repeat > 1 and case.stage == Stage.TRIGGER.value:
        yield "`repeat` is for the model stage, and `stage` is trigger"
    if case.stage == Stage.TRIGGER.value and set(case.right_names) == {NONE}:
        yield "the trigger stage never decides for NONE"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]
