"""The file that a batch's answers go into: whole lines only, so that a run that was cut off can be taken up again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

from vancectl.cli.batch import Tally
from vancectl.errors import Place, UsageError
from vancectl.selector.decision import Reason, is_answer


class AnswerFile:
    """Opens the file; with `resume` goes on behind its last whole line. Raises UsageError."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        self._path = path
        self.done = 0
        self.tally = Tally()
        try:
            held = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise self._failed("cannot be read", error) from None
        if held and not resume:
            raise UsageError(
                "holds answers already", where=Place(path), remedy="go on with --resume, or name another file"
            )
        whole = held[: held.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            self._count(line, number)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = open(path, "r+b" if held else "wb")  # noqa: SIM115  # open for the whole run
            self._file.seek(len(whole))
            self._file.truncate()  # half a line of a run that was killed
        except OSError as error:
            raise self._failed("cannot be written", error) from None

    def write(self, text: str) -> None:
        try:
            self._file.write(text.encode("utf-8", "replace"))
            self._file.flush()
        except OSError as error:
            raise self._failed("cannot be written", error) from None

    def _count(self, line: bytes, number: int) -> None:
        """What is done counts for the exit status, too."""
        try:
            value = json.loads(line)
            if "error" in value and "decision" not in value:
                self.tally.bad_lines += 1
            else:
                self.tally.none += value["decision"] == "NONE"
                self.tally.unanswered += not is_answer(Reason(value["reason"]))
        except (ValueError, TypeError, KeyError):
            raise UsageError(
                "the line is no answer of a batch",
                where=Place(self._path, number),
                remedy="name the file of the answers",
            ) from None
        self.done += 1

    def _failed(self, what: str, error: OSError) -> UsageError:
        reason = (error.strerror or str(error)).lower()
        return UsageError(f"{what}: {reason}", where=Place(self._path), remedy="name a file that can be written")
