"""The project's own cases: tasks with the recipe that each must get, as far as phrases are held against them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.errors import Place, UsageError
from vancectl.inventory.document import Document
from vancectl.inventory.name import canonical

NONE = "NONE"


class Case(NamedTuple):
    """One task. `accepted` are the names that are right for it, or NONE."""

    task: str
    accepted: tuple[str, ...]
    place: Place


def project_cases(folder: Path) -> list[Path]:
    """The project's files of cases: `routes.yaml`, and what lies in `routes/`."""
    single = folder / "routes.yaml"
    several = sorted(path for path in (folder / "routes").glob("*") if _holds_cases(path))
    return [path for path in (single, *several) if path.is_file()]


def _holds_cases(path: Path) -> bool:
    """Recordings of what a model answered may lie beside the cases that they belong to."""
    return path.suffix in {".yaml", ".jsonl"} and ".recorded" not in path.suffixes


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of one YAML or JSON lines file that say both task and expectation. Raises UsageError."""
    if path.suffix == ".jsonl":
        yield from _lines(path)
        return
    document = Document.read(path)
    items: list[Any] = []
    if document.root is not None:
        items = [node for key, _, node in document.pairs(document.root) if key == "cases" and node.id == "sequence"]
        items = list(items[0].value) if items else []
    elif document.list_root is not None:
        items = list(document.list_root.value)
    elif not document.empty:
        finding = document.findings[0]
        raise UsageError(finding.sentence(), where=finding.place, remedy=finding.remedy())
    for item in items:
        case = _case(document.plain(item), Place(path, item.start_mark.line + 1))
        if case is not None:
            yield case


def _lines(path: Path) -> Iterator[Case]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=Place(path), remedy="name a file of cases") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except ValueError as error:
                raise UsageError(f"is no JSON: {error}", where=Place(path, number), remedy="mend the line") from None
            case = _case(value, Place(path, number))
            if case is not None:
                yield case


def _case(value: Any, place: Place) -> Case | None:
    if not isinstance(value, dict) or not isinstance(value.get("task"), str):
        return None
    names = [value.get("expect"), *(value["accept"] if isinstance(value.get("accept"), list) else ())]
    accepted = tuple(name if name == NONE else canonical(name) for name in names if isinstance(name, str))
    return Case(value["task"], accepted, place) if accepted else None
