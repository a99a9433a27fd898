"""When a call that failed is made again: one rule for single calls, streams and batches."""

from __future__ import annotations

import math
import time

from vancectl.model.model import ModelError

MAX_CALLS = 3
FIRST_PAUSE = 0.5


class Retry:
    """The calls for one question: at most three, with pauses that double unless the server asks for another one.

    `deadline` is a `time.monotonic()` value, up to which the next call must have begun.
    """

    def __init__(self, deadline: float = math.inf, first_pause: float = FIRST_PAUSE) -> None:
        self.deadline = deadline
        self._pause = first_pause
        self._failures = 0

    def pause_after(self, error: ModelError, *, counts: bool = True) -> float | None:
        """Seconds to wait before the next call; None where there is to be none. `counts`: it is one of the three."""
        if not error.passing:
            return None
        wait = error.wait if error.wait is not None else self._pause
        self._pause *= 2
        self._failures += counts
        return None if self._failures >= MAX_CALLS or time.monotonic() + wait >= self.deadline else wait
