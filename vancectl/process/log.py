"""What a process writes, in files of its own folder: both streams as they came, and standard output apart.

A file has a limit: what comes beyond it is dropped while the program goes on. The supervisor imports this module too,
so it imports next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

BOTH, STDOUT = "output.log", "stdout.log"
_PIECE = 65536


class Log:
    """A file that takes `limit` bytes. `cut` says whether more came, or the disk did not take it."""

    def __init__(self, path: str, limit: int) -> None:
        self.cut = False
        self.empty = True
        self._room = limit
        try:
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:  # no reason to end the program
            self._handle = -1

    def write(self, data: bytes) -> None:
        self.empty = False
        rest = data[: self._room]
        self._room -= len(rest)
        self.cut = self.cut or len(rest) < len(data)
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            self.cut = True

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def keep(streams: Sequence[tuple[int, Sequence[Log]]], on_cut: Callable[[], None]) -> None:
    """Writes what comes from each descriptor into its logs, until all of them have ended."""
    import select

    logs = dict(streams)
    told = False
    poll = select.poll()
    for stream in logs:
        poll.register(stream, select.POLLIN)
    while logs:
        for stream, _ in poll.poll():
            data = os.read(stream, _PIECE)
            if not data:
                poll.unregister(stream)
                del logs[stream]
                continue
            for log in logs[stream]:
                log.write(data)
                if log.cut and not told:
                    told = True
                    on_cut()
