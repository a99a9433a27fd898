"""A progress bar on stderr, where that is a terminal; nothing elsewhere."""

from __future__ import annotations

import sys
import time

_WIDTH = 30
_PAUSE = 0.1


class Progress:
    """Counts up to `total`; with a total of 0, which nobody knows yet, it only counts."""

    def __init__(self, what: str, total: int, *, quiet: bool = False) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._drawn = 0.0
        self._active = not quiet and sys.stderr is not None and sys.stderr.isatty()

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
        if self._total:
            filled = _WIDTH * self._done // self._total
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
