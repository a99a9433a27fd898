"""Whether Ctrl-C was pressed: a library may turn the KeyboardInterrupt that it gets into an exception of its own."""

from __future__ import annotations

import signal
from typing import NoReturn

_seen = False


def watch() -> None:
    """Notes every SIGINT from now on. One that is ignored, as in a shell's background job, stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def interrupted() -> bool:
    """Whether a KeyboardInterrupt was raised since `watch`."""
    return _seen


def _interrupt(_number: int, _frame: object) -> NoReturn:
    global _seen  # noqa: PLW0603  # a signal handler has no other place to leave word
    _seen = True
    raise KeyboardInterrupt
