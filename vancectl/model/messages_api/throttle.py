"""Keeps questions that are asked at the same time from overrunning a server: one refusal slows all of them down.

After a refusal nobody asks until the time is over that the server named; then half as many ask at a time as before, and
with every answer a little more again. A single question never waits here.
"""

from __future__ import annotations

import math
import threading
import time


class Throttle:
    """Shared by all threads that ask one server."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._limit = math.inf
        self._running = 0
        self._answers = 0
        self._until = 0.0
        self._cut = 0.0

    @property
    def crowded(self) -> bool:
        """Whether others ask, too."""
        return self._running > 1

    def enter(self, *, first: bool) -> float:
        """Waits for the turn, and gives the seconds that do not count for the question.

        Before the `first` call its time has not begun. Later, waiting counts unless the server answered others.
        """
        started = time.monotonic()
        with self._changed:
            answers = self._answers
            while True:
                now = time.monotonic()
                if now >= self._until and self._running < max(1.0, self._limit):
                    break
                self._changed.wait(self._until - now if now < self._until else None)
            self._running += 1
            fair = first or self._answers > answers
        return time.monotonic() - started if fair else 0.0

    def leave(self, *, answered: bool) -> None:
        with self._changed:
            self._running -= 1
            if answered:
                self._answers += 1
                self._limit += 1 / self._limit
            self._changed.notify_all()

    def refused(self, seconds: float, asked_at: float) -> None:
        """The server wants to be left alone. Of a burst that was refused, only the first cuts the number in half."""
        with self._changed:
            now = time.monotonic()
            self._until = max(self._until, now + seconds)
            if asked_at >= self._cut:
                self._limit = max(1.0, min(self._limit, self._running) / 2)
                self._cut = now
