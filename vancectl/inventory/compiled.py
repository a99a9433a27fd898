"""The compiled inventory: what a layer's files said when they were last read, kept in the cache directory.

An entry holds as long as the file's size, times and inode, and the code that read it, are what they were. Whatever is
wrong with the cache (absent, corrupt, of another version, not writable) only means that files are read again: it is
never an error and never a wrong answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vancectl.errors import Place
from vancectl.folders import cache_dir
from vancectl.inventory.finding import Finding
from vancectl.inventory.layer import Layer
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.storage import write_atomically

# Size, mtime, ctime, inode: ctime also sees an edit whose author put the mtime back.
Stamp = tuple[int, int, int, int]

# A file that changed so shortly before it was read may have changed again within the same tick of its file system's
# clock (up to two seconds on some), with nothing to see from outside: such an entry is not believed later.
_TICK_NS = 2_000_000_000
_CHECKSUM_BYTES = 16
_READERS = ("document.py", "schema.py", "finding.py", "compiled.py", "recipe.py")


def stamp_of(status: os.stat_result) -> Stamp:
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class CompiledLayer:
    """One layer's compiled recipes by file name below the layer. `parsed` counts the files that had to be read."""

    def __init__(self, layer: Layer, *, enabled: bool = True) -> None:
        self._layer = layer
        self._path = _path_of(layer) if enabled else None
        self._entries: dict[str, tuple[Stamp, int, Any]] = _load(self._path) if self._path else {}
        self._seen: set[str] = set()
        self._changed = False

    def get(self, file: str, stamp: Stamp, name: str, path: Path) -> Recipe | BrokenRecipe | None:
        """The recipe as it was read before; None where the file has to be read."""
        self._seen.add(file)
        entry = self._entries.get(file)
        if entry is None or entry[0] != stamp or max(stamp[1], stamp[2]) + _TICK_NS > entry[1]:
            return None
        fields, findings = entry[2]
        if fields is None:
            return BrokenRecipe(name, self._layer, path, _findings(findings, path))
        return Recipe(name, self._layer, path, fields, _findings(findings, path) if findings else ())

    def put(self, file: str, stamp: Stamp, recipe: Recipe | BrokenRecipe) -> None:
        """Remembers what was read; `stamp` is from before the reading."""
        fields = recipe.fields if isinstance(recipe, Recipe) else None
        findings = recipe.warnings if isinstance(recipe, Recipe) else recipe.findings
        self._entries[file] = (stamp, time.time_ns(), (fields, _plain(findings)))
        self._changed = True

    def save(self) -> None:
        """Writes the entries of the files that were asked for, if any is new or gone."""
        if self._path is None or not (self._changed or len(self._seen) < len(self._entries)):
            return
        entries = {file: entry for file, entry in self._entries.items() if file in self._seen}
        with contextlib.suppress(OSError, ValueError):
            body = marshal.dumps(entries)
            write_atomically(self._path, _checksum(body) + body)
        self._changed = False


def _path_of(layer: Layer) -> Path | None:
    """A file for each directory and each state of the code that reads recipes."""
    cache = cache_dir()
    if cache is None:
        return None
    digest = hashlib.blake2b(digest_size=16)
    digest.update(os.fsencode(layer.directory))
    digest.update(_code_version())
    return cache / "inventory" / digest.hexdigest()


def _code_version() -> bytes:
    """What the reading modules are, by size and time, and which Python runs them."""
    here = Path(__file__).parent
    stamps = [stamp_of(os.stat(here / name))[:2] for name in _READERS]
    return repr((sys.version, stamps)).encode()


def _checksum(body: bytes) -> bytes:
    """marshal trusts its input, so nothing reaches it that we did not write whole."""
    return hashlib.blake2b(body, digest_size=_CHECKSUM_BYTES).digest()


def _load(path: Path) -> dict[str, tuple[Stamp, int, Any]]:
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    body = data[_CHECKSUM_BYTES:]
    if _checksum(body) != data[:_CHECKSUM_BYTES]:
        return {}
    try:
        entries = marshal.loads(body)
    except (ValueError, EOFError, TypeError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _plain(findings: Sequence[Finding]) -> list[tuple[str, int, int, dict[str, Any]]]:
    return [(each.code, each.place.line, each.place.column, dict(each.data)) for each in findings]


def _findings(plain: Sequence[tuple[str, int, int, dict[str, Any]]], path: Path) -> tuple[Finding, ...]:
    return tuple(Finding(code, Place(path, line, column), data) for code, line, column, data in plain)
