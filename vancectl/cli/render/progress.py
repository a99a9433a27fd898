"""A progress bar on stderr, where that is a terminal; nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_WIDTH = 30
_PAUSE = 0.1


class Progress:
    """Counts up to `total`, which is asked for only where it is shown; where that is 0 or less, it only counts."""

    def __init__(self, what: str, total: Callable[[], int], *, quiet: bool = False) -> None:
        self._what = what
        self._done = 0
        self._drawn = 0.0
        self._active = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._total = total() if self._active else 0

    def step(self) -> None:
        self._done += 1
        if self._active and (self._done == self._total or time.monotonic() - self._drawn > _PAUSE):
            self._draw()

    def clear(self) -> None:
        """Takes the bar away, so that what follows stands on a clean line."""
        if self._active and self._drawn:
            self._write("\r\x1b[K")

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        if self._total > 0:
            filled = min(_WIDTH * self._done // self._total, _WIDTH)
            bar = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self._done}/{self._total}"
        else:
            bar = str(self._done)
        self._write(f"\r\x1b[K{self._what} {bar}")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._active = False
