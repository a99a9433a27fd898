"""Where a task's words come from: arguments, a file, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from vancectl.encoding import decode
from vancectl.errors import Place, UsageError
from vancectl.printable import well_formed

STDIN = "-"


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


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")
