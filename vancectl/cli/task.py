"""Where a task's words come from: arguments, a file, or standard input."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vancectl.errors import Place, UsageError
from vancectl.text.encoding import STDIN, decode
from vancectl.text.printable import well_formed

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output


def read_task(words: Sequence[str], file: Path | None) -> str | None:
    """The task, or None where none was given. Words are joined by blanks; `-` reads standard input.

    One line end at the end of a file or of standard input does not count.
    """
    if file is not None and words:
        raise UsageError("the task is given twice, as words and with --file", remedy="leave one of them out")
    if file is not None:
        return _without_line_end(read_text(file))
    if list(words) == [STDIN]:
        return _without_line_end(read_text(Path(STDIN)))
    return well_formed(" ".join(words)) if words else None


def read_text(path: Path) -> str:
    """A file's text; `-` is standard input. Raises UsageError that says why it cannot be read, and where."""
    from_stdin = str(path) == STDIN
    if from_stdin and sys.stdin is None:
        raise UsageError("standard input is closed", remedy="name a file, or pipe the text in")
    try:
        data = sys.stdin.buffer.read() if from_stdin else path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise UsageError(f"cannot be read: {reason}", where=Place(path), remedy="name a file, or `-`") from None
    return decode(data, path)


def check_one_reader(*readers: bool) -> bool:
    """Whether standard input is read at all. Raises UsageError where two options want it."""
    if sum(readers) > 1:
        raise UsageError("standard input is to be read twice", remedy="read one of them from a file")
    return any(readers)


def unread_input() -> bool:
    """Whether standard input is a pipe in which something waits already; it is neither waited for nor read."""
    try:
        handle = sys.stdin.fileno()
        mode = os.fstat(handle).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return False
        import fcntl
        import termios

        waiting = fcntl.ioctl(handle, termios.FIONREAD, bytes(4))
    except (OSError, ValueError, AttributeError):  # AttributeError: it was closed, and Python has None for it
        return False
    return int.from_bytes(waiting, sys.byteorder) > 0


def warn_of_unread(output: Output, read: bool, remedy: str) -> list[str]:
    """What is piped in and read by nothing must not vanish without a word; the warning belongs to the answer, too."""
    if read or not unread_input():
        return []
    text = f"standard input holds something that is not read; {remedy}"
    output.warn(text)
    return [text]


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")
