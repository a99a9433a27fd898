"""What files said when they were last read, compiled and kept in the cache directory.

It holds as long as a file's size, times and inode, and the code that read it, are what they were. Whatever is wrong
with the cache (absent, corrupt, of another version, not writable) only means that files are read again: it is never an
error and never a wrong answer. Only its owner can read it, since settings may hold secrets.
"""

from __future__ import annotations

import contextlib
import functools
import marshal
import os
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from vancectl import __version__
from vancectl.disk.folders import cache_dir
from vancectl.disk.storage import write_atomically
from vancectl.errors import Place
from vancectl.reading.finding import Finding

_T = TypeVar("_T")

# Size, mtime, ctime, inode: ctime also sees an edit whose author put the mtime back.
Stamp = tuple[int, int, int, int]
PlainFinding = tuple[str, int, int, dict[str, Any]]

# A file that changed so shortly before it was read may change again within the same tick of its file system's clock (up
# to two seconds on some), with nothing to see from outside: what it said is not kept until it is older.
_TICK_NS = 2_000_000_000
_CHECKSUM_BYTES = 4
_FORM = 5  # of what is kept; raised with each change of it within a version
_ROOMS = (".", "inventory", "process", "reading", "routes", "settings", "sources", "text")  # all that may read


def stamp_of(status: os.stat_result) -> Stamp:
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def too_young(stamp: Stamp) -> bool:
    return max(stamp[1], stamp[2]) + _TICK_NS > time.time_ns()


def compiled(path: Path, kind: str, read: Callable[[], _T], keep: Callable[[_T], bool] = lambda _: True) -> _T:
    """What `read` makes of the file, which marshal can write; from the cache where the file is what it was.

    `keep` says whether it may be kept. Raises what `read` raises, and then keeps nothing.
    """
    kept = place_of_kept(kind, str(path))
    try:
        stamp = stamp_of(path.stat())
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return read()
    if kept is None:
        return read()
    header = header_of(kind, str(path))
    found = load(kept, header)
    if isinstance(found, tuple) and found[0] == stamp:
        value: _T = found[1]
        return value
    value = read()
    if not too_young(stamp) and keep(value):
        save(kept, header, (stamp, value))
    return value


def place_of_kept(kind: str, whose: str) -> Path | None:
    """Where it is kept; None where nothing is."""
    cache = cache_dir()
    return cache / kind / f"{zlib.crc32(os.fsencode(whose)):08x}" if cache is not None else None


def header_of(*whose: object) -> bytes:
    """Whose it is, and which version of the code that reads, and which Python, wrote it."""
    parts = repr((*whose, sys.version, __version__, _FORM, _state_of_code()))
    return parts.encode("utf-8", "surrogateescape") + b"\n"


@functools.cache
def _state_of_code() -> list[tuple[str, int, int]]:
    """What tells apart two states of one version, where the code is worked on: sizes and times of all that may read.

    Empty in an installed wheel, which alone has the defaults inside of the package.
    """
    package = Path(__file__).parent.parent
    if os.path.isdir(package / "defaults"):
        return []
    files = [item for room in _ROOMS for item in os.scandir(package / room)]
    stamps = [(item.path, *stamp_of(item.stat())[:2]) for item in files if item.name.endswith(".py")]
    return sorted(stamps)


def load(path: Path, header: bytes) -> object:
    """What was saved under the same header; None where there is nothing that can be believed."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(header) + _CHECKSUM_BYTES
    body = data[start:]
    if not data.startswith(header) or data[len(header) : start] != _checksum(body):
        return None
    try:
        found: object = marshal.loads(body)
    except (ValueError, EOFError, TypeError):
        return None
    return found


def save(path: Path, header: bytes, value: Any) -> None:
    with contextlib.suppress(OSError, ValueError):
        body = marshal.dumps(value)
        write_atomically(path, header + _checksum(body) + body)


def _checksum(body: bytes) -> bytes:
    """marshal trusts its input, so nothing reaches it that was not written whole."""
    return zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "big")


def plain_findings(findings: Sequence[Finding]) -> list[PlainFinding]:
    return [(each.code, each.place.line, each.place.column, dict(each.data)) for each in findings]


def findings_of(plain: Sequence[PlainFinding], path: Path | str) -> tuple[Finding, ...]:
    return tuple(Finding(code, Place(Path(path), line, column), data) for code, line, column, data in plain)
