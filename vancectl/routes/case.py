"""Cases as they stand in their files: a task, and what should be decided about it; a bad one is a finding with a line.

YAML files hold a list below `cases:`, JSONL files an object a line with the same keys; `case_shape` declares them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vancectl.disk.plain_file import read_plain, refusal
from vancectl.errors import Place
from vancectl.reading.compiled import compiled
from vancectl.reading.document import Document
from vancectl.reading.finding import Finding
from vancectl.selector.decision import Stage

if TYPE_CHECKING:
    from vancectl.routes.case_shape import CaseShape

NONE = "NONE"
STAGES = tuple(stage.value for stage in Stage if stage is not Stage.EXPLICIT)
MAX_REPEAT = 100
MAX_BYTES = 100_000_000  # of a file of JSON lines
MAX_KEPT = 20_000  # cases of a file that is kept compiled


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


_KEPT = [field.name for field in fields(Case) if field.name != "place"]


class Cases(NamedTuple):
    """What some files hold: the good cases in order, and what is wrong with the bad ones."""

    cases: tuple[Case, ...]
    findings: tuple[Finding, ...]


def read_cases(paths: Iterable[Path]) -> Cases:
    """Every case of the files; never raises for what a file says."""
    read = [_read(path) for path in paths]
    cases = tuple(case for each in read for case in each.cases)
    return Cases(cases, tuple(finding for each in read for finding in each.findings))


def _read(path: Path) -> Cases:
    """A file that is in order is kept compiled; one with findings is read again each time."""
    if refusal(path) is not None:
        return _read_again(path)
    read: Cases | None = None

    def plain() -> list[tuple[Any, ...]]:
        nonlocal read
        read = _read_again(path)
        return [_plain(case) for case in read.cases]

    def keep(said: list[tuple[Any, ...]]) -> bool:
        return read is not None and not read.findings and len(said) <= MAX_KEPT

    said = compiled(path.absolute(), "cases", plain, keep)
    return read if read is not None else Cases(tuple(_of_plain(path, *fields) for fields in said), ())


def _plain(case: Case) -> tuple[Any, ...]:
    return case.place.line, case.place.column, *(getattr(case, name) for name in _KEPT)


def _of_plain(path: Path, line: int, column: int, *fields: Any) -> Case:
    return Case(place=Place(path, line, column), **dict(zip(_KEPT, fields, strict=True)))


def _read_again(path: Path) -> Cases:
    cases: list[Case] = []
    findings: list[Finding] = []
    read = _read_jsonl if path.suffix.lower() in {".jsonl", ".ndjson"} else _read_yaml
    for case in read(path, findings):
        problems = list(_contradictions(case))
        findings.extend(Finding("case-contradiction", case.place, {"problem": problem}) for problem in problems)
        if not problems:
            cases.append(case)
    return Cases(tuple(cases), tuple(findings))


def _read_yaml(path: Path, findings: list[Finding]) -> Iterator[Case]:
    from vancectl.reading.reader import read_value
    from vancectl.reading.value import Written
    from vancectl.routes.case_shape import CasesShape

    reason = refusal(path)
    if reason is not None:
        findings.append(Finding("unreadable", Place(path), {"reason": reason}))
        return
    document = Document.read(path)
    shape = read_value(CasesShape, Written(document, document.root)) if document.root is not None else None
    findings.extend(each for each in document.findings if each.breaks or each.code == "comment-cut")
    if document.empty or (shape is not None and not shape.cases and not findings):
        findings[:] = [Finding("no-cases", Place(path))]
    for case in shape.cases if shape is not None else ():
        if case is not None:
            yield _made(case, with_sources=bool(shape and shape.sources))


def _read_jsonl(path: Path, findings: list[Finding]) -> Iterator[Case]:
    from vancectl.reading.reader import read_value
    from vancectl.reading.value import Sent
    from vancectl.routes.case_shape import CaseShape

    try:
        data = read_plain(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        findings.append(Finding("unreadable", Place(path), {"reason": reason}))
        return
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if not lines:
        findings.append(Finding("no-cases", Place(path)))
    for number, line in lines:
        place = Place(path, number)
        try:
            value = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_members)
        except UnicodeDecodeError:
            findings.append(Finding("not-utf8", place))
        except (ValueError, RecursionError) as error:
            findings.append(Finding("bad-line", place, {"problem": getattr(error, "msg", None) or str(error)}))
        else:
            if not isinstance(value, dict):
                findings.append(Finding("bad-line", place, {"problem": "it holds another kind of value"}))
                continue
            known = len(findings)
            case = read_value(CaseShape, Sent(value, place, findings))
            if case is not None and len(findings) == known:
                yield _made(case)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def _made(shape: CaseShape, *, with_sources: bool = False) -> Case:
    """The case; one that does not say how often it must be right must be so each time."""
    at_least = shape.at_least if shape.at_least is not None else shape.repeat
    said = {name: getattr(shape, name) for name in type(shape).model_fields} | {"at_least": at_least}
    for name in ("accept", "avoid", "tags"):
        said[name] = tuple(said[name])
    return Case(**said, place=shape.place, with_sources=with_sources)


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
