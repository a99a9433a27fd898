"""An interactive shell on a terminal of its own, typed into as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

_ESCAPES = re.compile(rb"\x1b\[[0-9;?>]*[a-zA-Z]|\x1b[=>78]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\([AB0]")


class Shell:
    """Runs `argv` with its prompt on a terminal; leaves with `exit`, or is killed."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._near, far = pty.openpty()
        self._process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=far,
            stdout=far,
            stderr=far,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  # job control needs its own terminal
        )
        os.close(far)
        self.seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._near)

    def type(self, text: str) -> None:
        os.write(self._near, text.encode())

    def wait_for(self, pattern: str, within: float = 20) -> None:
        """Until what was written since the last wait matches; fails with all that was seen."""
        start, end = len(self.seen), time.monotonic() + within
        while not re.search(pattern.encode(), _ESCAPES.sub(b"", self.seen[start:])):
            assert time.monotonic() < end, f"{pattern!r} did not come:\n{self.seen.decode(errors='replace')}"
            self._read(0.1)

    def settle(self, quiet: float = 0.6) -> None:
        """Until nothing more is written for a while."""
        end = time.monotonic() + 20
        while self._read(quiet) and time.monotonic() < end:
            pass

    def _read(self, within: float) -> bool:
        if not select.select([self._near], [], [], within)[0]:
            return False
        try:
            data = os.read(self._near, 65536)
        except OSError:  # the shell has left
            return False
        if b"\x1b[c" in data:  # fish asks what terminal this is, and waits for a word
            os.write(self._near, b"\x1b[?62c")
        self.seen += data
        return bool(data)
