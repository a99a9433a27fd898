"""Reads a source's folder: which of its files count, and what each of them says."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Callable, Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.errors import Place
from vancectl.reading.finding import Finding
from vancectl.sources.formats import FORMATS, HEADER, WHOLE, Format
from vancectl.sources.source import Foreign, Source

# What a foreign recipe is to us where the name of an engine is asked for: one run of a program that has tools.
ENGINE = "ford"
_SKIPPED = (".git",)
Reader = Callable[[Path, str, str], Foreign | None]


class Item(NamedTuple):
    """One file of a source: its path, the same below the source, its state, and what speaks against reading it."""

    path: str
    file: str
    status: os.stat_result | None
    finding: Finding | None = None


def items(source: Source) -> Iterator[Item]:
    """The files that its format takes, each folder's in sorted order. A link out is an item that cannot be read."""
    form = FORMATS[source.format]
    root = os.path.realpath(source.directory)
    folders = [(str(source.directory), "")]
    met = {root}
    while folders:
        folder, above = folders.pop()
        below = []
        for entry in _entries(folder, form):
            file = above + entry.name
            if not entry.is_symlink():
                if entry.is_dir(follow_symlinks=False):
                    below.append((entry.path, file + "/"))
                elif form.takes(file):
                    yield Item(entry.path, file, _status(entry.path, follow=False))
                continue
            target = os.path.realpath(entry.path)
            inside = target.startswith(root + os.sep)
            is_folder = os.path.isdir(target)
            if not (is_folder or form.takes(file)):
                continue
            if not (inside or source.links):
                finding = Finding("link-out", Place(Path(entry.path)), {"target": target, "key": source.key})
                yield Item(entry.path, file, None, finding)
            elif not is_folder:
                yield Item(entry.path, file, _status(entry.path, follow=True))
            elif target not in met:
                met.add(target)
                below.append((entry.path, file + "/"))
        if form.deep or not above:
            folders.extend(reversed(below))


def _entries(folder: str, form: Format) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            found = [each for each in scan if (form.hidden or each.name[:1] != ".") and each.name not in _SKIPPED]
    except OSError:
        return []
    return sorted(found, key=attrgetter("name"))


def _status(path: str, *, follow: bool) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=follow)
    except OSError:
        return None


def read_item(source: Source, item: Item) -> Foreign | None:
    """What a file says; None for one that is none of the program's. Never raises."""
    form = FORMATS[source.format]
    path = Path(item.path)
    stem = path.parent.name if form.files.startswith("*/") else path.stem
    if item.finding is not None:
        return Foreign(stem, None, (item.finding,))
    text = _text(path, form)
    if isinstance(text, Finding):
        return Foreign(stem, None, (text,))
    module, function = form.read.split(".")
    reader: Reader = getattr(import_module(f"vancectl.sources.{module}"), function)
    read = reader(path, item.file, text)
    if read is None or read.fields is None:
        return read
    return read._replace(fields=_completed(source, read, read.fields))


def is_excluded(source: Source, name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in source.excluded)


def _completed(source: Source, read: Foreign, given: dict[str, Any]) -> dict[str, Any]:
    fields = dict(given)
    own: dict[str, Any] = {"key": source.key, "format": source.format, "name": read.name}
    if fields.pop("derived", False):
        own["derived"] = True
    if not source.triggers:  # words of others, never held against the recipes here
        fields.pop("triggers", None)
    return {"description": fields.pop("description"), "engine": ENGINE, **fields, "source": own}


def body_of(path: Path) -> str:
    """The text below the header, for a recipe that no program of its own starts. Raises OSError."""
    from vancectl.sources.header import Header, read_header

    text = _text(path, FORMATS["fabric"]._replace(whole=True))
    if isinstance(text, Finding):
        raise OSError(text.sentence())
    header = read_header(path, text, "")
    return header.body if isinstance(header, Header) else text


def _text(path: Path, form: Format) -> str | Finding:
    """As much as the format needs. A byte order mark stays: some programs do not load a file that begins with one."""
    place = Place(path)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return Finding("not-a-file", place, {"found": "a pipe or device"})
            if status.st_size > WHOLE:
                return Finding("too-large", place, {"limit": f"{WHOLE:,} bytes"})
            data = file.read(WHOLE if form.whole else HEADER)
    except OSError as error:
        return Finding("unreadable", place, {"reason": (error.strerror or str(error)).lower()})
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if error.start >= len(data) - len("\U0010ffff".encode()) and len(data) == HEADER:
            return data[: error.start].decode()
        return Finding("not-utf8", Place(path, data.count(b"\n", 0, error.start) + 1))
