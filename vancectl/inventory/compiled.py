"""The compiled inventory: what a layer's files said when they were last read, kept in the cache directory.

An entry holds as long as the file's size, times and inode, and the code that read it, are what they were. Whatever is
wrong with the cache (absent, corrupt, of another version, not writable) only means that files are read again: it is
never an error and never a wrong answer.
"""

from __future__ import annotations

import contextlib
import functools
import marshal
import os
import sys
import time
import zlib
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

from vancectl import __version__
from vancectl.disk.folders import cache_dir
from vancectl.disk.storage import write_atomically
from vancectl.errors import Place
from vancectl.inventory.layer import Layer
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.reading.finding import Finding

# Size, mtime, ctime, inode: ctime also sees an edit whose author put the mtime back.
Stamp = tuple[int, int, int, int]

# Stamp, fields, findings, the part of a list's JSON that is known beforehand, and the phrases in the form in which they
# are compared; no fields for a broken recipe.
_PlainFinding = tuple[str, int, int, dict[str, Any]]
_Compiled = tuple[Stamp, dict[str, Any] | None, list[_PlainFinding], str, list[str]]

# A file that changed so shortly before it was read may change again within the same tick of its file system's clock (up
# to two seconds on some), with nothing to see from outside: what it said is not kept until it is older.
_TICK_NS = 2_000_000_000
_CHECKSUM_BYTES = 4
_FORM = 3  # of what is kept; raised with each change of it within a version


def stamp_of(status: os.stat_result) -> Stamp:
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class CompiledLayer:
    """One layer's compiled recipes by file name below the layer."""

    def __init__(self, layer: Layer, *, enabled: bool = True) -> None:
        self._layer = layer
        self._path = _path_of(layer) if enabled else None
        self._header = _header(layer)
        self._entries: dict[str, _Compiled] = _load(self._path, self._header) if self._path else {}
        self._changed = False

    def get(self, file: str, stamp: Stamp, name: str, path: str) -> Recipe | BrokenRecipe | None:
        """The recipe as it was read before; None where the file has to be read."""
        entry = self._entries.get(file)
        if entry is None or entry[0] != stamp:
            return None
        _, fields, findings, listing, folded = entry
        if fields is None:
            return BrokenRecipe(name, self._layer, path, _findings(findings, path))
        return Recipe(name, self._layer, path, fields, _findings(findings, path) if findings else (), listing, folded)

    def foreign(self, file: str, stamp: Stamp, path: str) -> Recipe | BrokenRecipe | None:
        """The same for a recipe of another program, which names itself in its fields; a broken one has no name here."""
        entry = self._entries.get(file)
        if entry is None or entry[0] != stamp:
            return None
        _, fields, findings, listing, folded = entry
        if fields is None:
            return BrokenRecipe("", self._layer, path, _findings(findings, path))
        found = _findings(findings, path) if findings else ()
        return Recipe(fields["source"]["as"], self._layer, path, fields, found, listing, folded)

    def listing(self, file: str, stamp: Stamp) -> str:
        """The kept JSON of a recipe that lists show; empty where there is none, or more must be known of it."""
        entry = self._entries.get(file)
        if entry is None or entry[0] != stamp:
            return ""
        fields = entry[1]
        return entry[3] if fields is not None and "internal" not in fields and "listed" not in fields else ""

    def put(self, file: str, stamp: Stamp, recipe: Recipe | BrokenRecipe) -> None:
        """Remembers what was read, unless the file is too young; `stamp` is from before the reading."""
        if max(stamp[1], stamp[2]) + _TICK_NS > time.time_ns():
            return
        if isinstance(recipe, Recipe):
            from vancectl.inventory.listing import kept_part

            self._entries[file] = (
                stamp,
                recipe.fields,
                _plain(recipe.warnings),
                kept_part(recipe),
                list(recipe.folded),
            )
        else:
            self._entries[file] = (stamp, None, _plain(recipe.findings), "", [])
        self._changed = True

    def outdated(self, count: int) -> bool:
        """Whether there is something to save, where the layer has `count` files."""
        return self._path is not None and (self._changed or len(self._entries) > count)

    def save(self, present: Set[str]) -> None:
        """Writes the entries of the files that are there."""
        if self._path is None:
            return
        entries = {file: entry for file, entry in self._entries.items() if file in present}
        with contextlib.suppress(OSError, ValueError):
            body = marshal.dumps(entries)
            write_atomically(self._path, self._header + _checksum(body) + body)
        self._changed = False


def _path_of(layer: Layer) -> Path | None:
    cache = cache_dir()
    whose = f"{layer.kind.value}:{layer.directory}"
    whose += repr(layer.source) if layer.source is not None else ""
    return cache / "inventory" / f"{zlib.crc32(os.fsencode(whose)):08x}" if cache is not None else None


def _header(layer: Layer) -> bytes:
    """Whose entries these are: which directory, which version of the code that reads recipes, which Python."""
    whose = repr(
        (layer.kind.value, str(layer.directory), sys.version, __version__, _FORM, _state_of_code(), layer.source)
    )
    return whose.encode("utf-8", "surrogateescape") + b"\n"


@functools.cache
def _state_of_code() -> list[tuple[str, int, int]]:
    """What tells apart two states of one version, where the code is worked on: sizes and times of all that may read.

    Empty in an installed wheel, which alone has the defaults inside of the package.
    """
    package = Path(__file__).parent.parent
    if os.path.isdir(package / "defaults"):
        return []
    files = [item for room in (".", "inventory", "reading", "sources", "text") for item in os.scandir(package / room)]
    stamps = [(item.path, *stamp_of(item.stat())[:2]) for item in files if item.name.endswith(".py")]
    return sorted(stamps)


def _checksum(body: bytes) -> bytes:
    """marshal trusts its input, so nothing reaches it that was not written whole."""
    return zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "big")


def _load(path: Path, header: bytes) -> dict[str, _Compiled]:
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    start = len(header) + _CHECKSUM_BYTES
    body = data[start:]
    if not data.startswith(header) or data[len(header) : start] != _checksum(body):
        return {}
    try:
        entries = marshal.loads(body)
    except (ValueError, EOFError, TypeError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _plain(findings: Sequence[Finding]) -> list[_PlainFinding]:
    return [(each.code, each.place.line, each.place.column, dict(each.data)) for each in findings]


def _findings(plain: Sequence[_PlainFinding], path: str) -> tuple[Finding, ...]:
    return tuple(Finding(code, Place(Path(path), line, column), data) for code, line, column, data in plain)
