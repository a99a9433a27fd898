"""The kinds of error and their exit status; each error carries data and makes its text when it is printed."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple


class ExitStatus(IntEnum):
    """What the process's exit status says (docs/design.md, section 6). The only place where these numbers stand."""

    DONE = 0
    NEGATIVE = 1
    USAGE = 2
    SPAWN_FAILED = 3
    MODEL_UNUSABLE = 4
    INTERRUPTED = 130
    PIPE_CLOSED = 141


class Place(NamedTuple):
    """A place in a file; line and column count from 1, 0 means the file as a whole.

    Records on the way of every start are named tuples: such a class is made in a seventh of a dataclass's time.
    """

    path: Path
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [str(self.path)]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


class VancectlError(Exception):
    """Ends a command. `what` says what is wrong, `where` in which file, `remedy` what mends it."""

    status: ExitStatus = ExitStatus.USAGE

    def __init__(self, what: str, *, where: Place | None = None, remedy: str = "") -> None:
        super().__init__(what)
        self.where = where
        self.remedy = remedy

    def what(self) -> str:
        return str(self.args[0])

    def as_json(self) -> dict[str, str | int | None]:
        """For a caller that reads no prose; what is not known is null."""
        return {
            "message": self.what(),
            "file": str(self.where.path) if self.where else None,
            "line": (self.where.line or None) if self.where else None,
            "help": self.remedy or None,
        }


class UsageError(VancectlError):
    """The command line or a request asks for something that cannot be done."""


class InterruptError(VancectlError):
    """A signal ended the work."""

    status = ExitStatus.INTERRUPTED


class SettingsError(VancectlError):
    """A setting has an unknown key or a value of the wrong type."""


class CatalogError(VancectlError):
    """The engine catalog cannot be read and there is no last good one."""


class SpawnError(VancectlError):
    """The spawn command could not be run."""

    status = ExitStatus.SPAWN_FAILED


class StoreError(SpawnError):
    """The record of processes could not be read or written."""
