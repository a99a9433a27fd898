"""What each reader says of a file or a request, good or bad, word for word.

A file of `messages` holds inputs (lines that begin with `| `), and below each what is read, or what is wrong with it:

    READ_WRITE=1 pytest tests/reading/test_messages.py

writes what is below the inputs anew. A new case is its input; look at the difference before you keep it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import REPOSITORY
from vancectl.delegation.request import parse_request
from vancectl.disk.folders import defaults_dir
from vancectl.errors import VancectlError
from vancectl.inventory.catalog import load_catalog
from vancectl.inventory.project import read_project
from vancectl.plan.plan import read_plan
from vancectl.process.preset import load_preset
from vancectl.routes.case import read_cases
from vancectl.settings.settings import Source, load_settings
from vancectl.text.strict_json import to_json
from vancectl.worker.payload import parse_payload

FOLDER = REPOSITORY / "tests" / "reading" / "messages"
WRITE = bool(os.environ.get("READ_WRITE"))


def cases(path: Path) -> Iterator[object]:
    found = read_cases([path])
    yield from found.findings
    yield from found.cases


def lines(path: Path) -> Iterator[object]:
    yield from cases(path.rename(path.with_suffix(".jsonl")))


def plan(path: Path) -> Iterator[object]:
    for child in read_plan(path):
        yield child.place, child.named, child.batch, child.request


def request(path: Path) -> Iterator[object]:
    yield parse_request(path.read_text())


def payload(path: Path) -> Iterator[object]:
    yield parse_payload(path.read_text())


def preset(path: Path) -> Iterator[object]:
    (path.parent / "spawn").mkdir(exist_ok=True)
    path.rename(path.parent / "spawn" / path.name)
    load_preset.cache_clear()
    yield load_preset(path.stem)


def catalog(path: Path) -> Iterator[object]:
    (path.parent / "catalog").mkdir(exist_ok=True)
    path.rename(path.parent / "catalog" / "engines.yaml")
    found = load_catalog()
    yield from found.warnings
    yield from found.engines


def project(path: Path) -> Iterator[object]:
    path.rename(path.parent / "project.yaml")
    found = read_project(path.parent)
    yield from found.findings
    yield found.id, found.key, found.tenant, found.hub


def settings(path: Path) -> Iterator[object]:
    (path.parent / "tenants" / "t").mkdir(parents=True, exist_ok=True)
    path.rename(path.parent / "tenants" / "t" / "settings.yaml")
    (path.parent / "settings.yaml").write_text((REPOSITORY / "defaults" / "settings.yaml").read_text())
    assert defaults_dir() == path.parent
    for key, value in load_settings("t").values():
        if value.source is Source.TENANT:
            yield key, value.value


READERS: list[Callable[[Path], Iterator[object]]] = [
    cases, lines, plan, request, payload, preset, catalog, project, settings,
]  # fmt: skip


def said(read: Callable[[Path], Iterator[object]], path: Path) -> Iterator[str]:
    try:
        for found in read(path):
            yield found.line() if hasattr(found, "line") and callable(found.line) else f"= {shown(found)}"
    except VancectlError as error:
        yield f"{f'{error.where}: ' if error.where else ''}{error.what()} ({error.remedy})"


def shown(found: Any) -> str:
    """As JSON; of a record what it says beyond a default, less where it stands."""
    return to_json(plain(found))


def plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        fields = [field for field in dataclasses.fields(value) if field.name not in {"place", "path"}]
        said = {field.name: plain(getattr(value, field.name)) for field in fields}
        return {name: each for name, each in said.items() if each not in (None, [], {}, "")}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple) and hasattr(value, "line"):  # a place
        return str(value)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value


def inputs(text: str) -> Iterator[str]:
    gathered: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            gathered.append(line[2:])
        elif gathered:
            yield "\n".join(gathered) + "\n"
            gathered = []


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_what_is_said(
    read: Callable[[Path], Iterator[object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = FOLDER / f"{read.__name__}.txt"
    expected = record.read_text(encoding="utf-8")
    parts = []
    for number, text in enumerate(inputs(expected)):
        folder = tmp_path / str(number) / "here" / ".vance"
        folder.mkdir(parents=True)
        for variable in ("CONFIG", "DEFAULTS", "CACHE"):
            monkeypatch.setenv(f"VANCECTL_{variable}_DIR", str(folder))
        path = folder / "file.yaml"
        path.write_text(text, encoding="utf-8")
        answer = "\n".join(said(read, path)).replace(f"{folder}/", "").replace(str(folder.parent), "DIR")
        parts.append("".join(f"| {line}".rstrip() + "\n" for line in text.splitlines()) + answer + "\n")
    actual = "\n".join(parts)
    if WRITE:
        record.write_text(actual, encoding="utf-8")
    assert actual == expected
