"""Which files hold a project's cases, and where the recordings of each lie."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

RECORDINGS = "routes.recorded.jsonl"


def default_files(folder: Path) -> list[Path]:
    """`routes.yaml`, then `routes/*.yaml`, in a project's folder."""
    single = folder / "routes.yaml"
    return [*([single] if single.is_file() else []), *sorted((folder / "routes").glob("*.yaml"))]


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
        for pattern in ("*.yaml", "*.jsonl")
        for file in folder.glob(pattern)
        if file not in named and not file.name.endswith(".recorded.jsonl") and file.name != "project.yaml"
    )
