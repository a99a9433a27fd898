"""One process at a time: a lock file beside what is written, which says who holds it.

The system frees the lock however its holder ends, so that a file that was left behind holds no one up.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


class HeldError(Exception):
    """Another process has it; `holder` is its process id, or None where it could not be read."""

    def __init__(self, holder: int | None) -> None:
        super().__init__()
        self.holder = holder


class Lock:
    """Taken at once, or HeldError is raised; OSError where the file cannot be made."""

    def __init__(self, path: Path) -> None:
        self._path = path
        handle = None
        while handle is None:
            handle = _take(path)
        self._handle = handle
        os.ftruncate(handle, 0)
        os.pwrite(handle, b"%d" % os.getpid(), 0)

    def release(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        os.close(self._handle)


def _take(path: Path) -> int | None:
    """The locked file; None where its holder took it away between our opening and our locking it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False)):
            return handle
    except FileNotFoundError:
        pass
    except BlockingIOError:
        text = os.pread(handle, 20, 0)
        os.close(handle)
        raise HeldError(int(text) if text.isdigit() else None) from None
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None
