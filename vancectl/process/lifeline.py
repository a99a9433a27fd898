"""The lifeline of a process: a small file that says how it stands, locked for as long as somebody waits for its end.

The lock is the kernel's, so that it ends with its holder whatever ends that: a record without an end whose lifeline
nobody holds has nobody left who could tell how it ended. The file takes its space at once and is written in place: an
end can be recorded on a full disk. The supervisor imports this module too, so it imports next to nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os

NAME = "lifeline"
_SIZE = 4096
_TRUNCATED = b"+"
_BOOT = "/proc/sys/kernel/random/boot_id"


class Lifeline:
    """The lifeline in a process's own folder. Every method raises OSError where the file cannot be used.

    What it says: `supervisor` and `pid` (process ids), `birth` (tells the program from a later one with its id), and
    once it has ended `status`, `exitCode`, `endedAt` and `seconds`; `logTruncated` where its log did not take all.
    """

    def __init__(self, folder: str, handle: int = -1) -> None:
        self.folder = folder
        self.handle = handle

    def begin(self) -> None:
        """Makes folder and file, and holds it."""
        os.makedirs(self.folder, mode=0o700)
        self.handle = os.open(os.path.join(self.folder, NAME), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.handle, fcntl.LOCK_EX)
        os.pwrite(self.handle, b" ", _SIZE - 1)
        self.write({})

    def write(self, values: dict[str, object]) -> None:
        os.pwrite(self.handle, json.dumps(values).encode().ljust(_SIZE - 1), 0)

    def mark_truncated(self) -> None:
        """Says that the log did not take all. Who keeps it does not hold this: it opens it, and has its own byte."""
        handle = os.open(os.path.join(self.folder, NAME), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.pwrite(handle, _TRUNCATED, _SIZE - 1)
        finally:
            os.close(handle)

    def end(self, status: str, exit_code: int | None, ended_at: str | None, seconds: float | None) -> None:
        """Adds the end to what it says."""
        said, _ = self.read()
        self.write({**said, "status": status, "exitCode": exit_code, "endedAt": ended_at, "seconds": seconds})

    def release(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1

    def discard(self, *, but: str = "") -> None:
        """For a process that never came to be, or whose end is recorded elsewhere: the folder, `but` one file of it."""
        import shutil

        self.release()
        if not but:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        with contextlib.suppress(OSError):
            for entry in os.scandir(self.folder):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                elif entry.name != but:
                    os.unlink(entry.path)

    def read(self) -> tuple[dict[str, object], bool]:
        """What it says, and whether somebody holds it; that is asked first, so that what nobody holds is the end."""
        handle = os.open(os.path.join(self.folder, NAME), os.O_RDONLY | os.O_CLOEXEC)
        try:
            held = _held(handle)
            data = os.pread(handle, _SIZE, 0)
        finally:
            os.close(handle)
        try:
            values = json.loads(data[: _SIZE - 1] or b"{}")
        except ValueError:
            values = {}
        if not isinstance(values, dict):
            values = {}
        return ({**values, "logTruncated": True} if data.endswith(_TRUNCATED) else values), held


def _held(handle: int) -> bool:
    try:
        # Shared, so that two who ask do not take one another for the holder.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def birth_of(pid: int) -> str | None:
    """What tells this process from every other that has or had its id, reboots included; None where it is gone.

    Counted in ticks since boot, so that no change of the clock matters. Empty where the system does not tell.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        with open(_BOOT, "rb") as file:
            boot = file.read().decode().strip()
    except OSError:
        return None if os.path.exists("/proc/self/stat") else _birth_untold(pid)
    return None if fields[0] in {b"Z", b"X"} else f"{boot}:{fields[19].decode()}"


def _birth_untold(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass  # someone else's process, or one that may not be asked
    return ""


def lives(pid: object, birth: object) -> bool:
    """Whether the process with this id is still the one that was meant."""
    return isinstance(pid, int) and isinstance(birth, str) and birth_of(pid) == birth
