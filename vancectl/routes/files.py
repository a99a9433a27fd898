"""Which files hold a project's cases, and where the recordings of each lie."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from vancectl.disk.plain_file import target_outside
from vancectl.errors import Place
from vancectl.reading.finding import Finding

RECORDINGS = "routes.recorded.jsonl"
SUFFIXES = (".yaml", ".jsonl", ".ndjson")
_RECORDED = ".recorded.jsonl"
_NEARLY = {"yml": "yaml", "yaml": "yaml", "json": "jsonl", "jsonl": "jsonl", "ndjson": "ndjson", "csv": "jsonl"}


def default_files(folder: Path) -> list[Path]:
    """`routes.yaml`, `routes.jsonl`, then the files of cases below `routes`, in a project's folder.

    Whatever stands in the place of one is among them, since its reader says what is wrong with it.
    """
    found = [folder / name for name in ("routes.yaml", "routes.jsonl") if os.path.lexists(folder / name)]
    below = folder / "routes"
    if target_outside(below) is not None:
        return [*found, below]
    return [*found, *(path for path in _below(below) if _is_cases(path.name) and not os.path.isdir(path))]


def not_read(folder: Path) -> Iterator[Finding]:
    """What lies below `routes` and looks like cases, but is not read."""
    for path in _below(folder / "routes"):
        stem, _, suffix = path.name.rpartition(".")
        if os.path.isdir(path):
            yield Finding("linked-folder", Place(path), {"target": os.readlink(path)})
        elif suffix.lower() in _NEARLY and not _is_cases(path.name) and not path.name.endswith(_RECORDED):
            yield Finding("cases-not-read", Place(path), {"rename": f"{stem}.{_NEARLY[suffix.lower()]}"})


def _below(folder: Path) -> Iterator[Path]:
    """Files below the folder, and links to folders, which are not followed; hidden ones are left out."""
    if target_outside(folder) is not None:
        return
    for above, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in folders if os.path.islink(os.path.join(above, name))]
        for name in sorted((*files, *links)):
            if not name.startswith("."):
                yield Path(above, name)


def _is_cases(name: str) -> bool:
    return name.endswith(SUFFIXES) and not name.endswith(_RECORDED)


def as_typed(file: Path) -> Path:
    """As someone in the working directory would name it, where the file lies below it: reports are read elsewhere."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else Path(relative)


def recordings_of(file: Path) -> Path:
    """Beside the cases; a folder of cases has one file of recordings."""
    return file.parent / RECORDINGS


def unnamed_siblings(files: Iterable[Path]) -> list[Path]:
    """The other files beside these that may hold cases and so use the same recordings."""
    named = {file.resolve() for file in files}
    folders = {file.parent for file in named}
    return sorted(
        file
        for folder in folders
        for pattern in ("*.yaml", "*.jsonl", "*.ndjson")
        for file in folder.glob(pattern)
        if file not in named and not file.name.endswith(".recorded.jsonl") and file.name != "project.yaml"
    )
