"""Who calls: a process that vancectl started itself knows its own id, and how deep it stands below a person."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vancectl.errors import SpawnError, UsageError
from vancectl.programs.environment import program_environment

if TYPE_CHECKING:
    from vancectl.process.store import ProcessRecord

DEFAULT_SESSION = "default"
SESSION, PROCESS_ID = "VANCECTL_SESSION", "VANCECTL_PROCESS_ID"
PARENT, DEPTH = "VANCECTL_PARENT", "VANCECTL_DEPTH"


@dataclass(frozen=True, slots=True)
class Caller:
    """`process` is the id of the process that calls, None where nothing of ours does; `depth` counts from 0."""

    process: str | None
    depth: int

    def check_depth(self, limit: int) -> None:
        """Raises SpawnError where the next process would stand too deep: one that starts itself would never end."""
        if self.depth >= limit:
            raise SpawnError(
                f"{self.depth} processes have started one another already, and spawn.maxDepth allows {limit}",
                remedy="a recipe may be starting itself; raise spawn.maxDepth where this is meant",
            )


NOBODY = Caller(None, 0)
_ANCESTORS = 32


def find_session(*named: str | None) -> str:
    """The first that is named: by an option, then by what a file or a request says; else the environment's."""
    return next(filter(None, (*named, os.environ.get(SESSION))), DEFAULT_SESSION)


def find_caller() -> Caller:
    """Raises UsageError for a depth that is no number: what is set wrongly must not count as no limit."""
    text = os.environ.get(DEPTH, "").strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"the variable {DEPTH} is no whole number", remedy="unset it; vancectl sets it itself")
    return Caller(os.environ.get(PROCESS_ID) or None, int(text or 0))


def adopt_depth() -> None:
    """Takes depth and parent from the process above us that has them, where our own environment was emptied.

    Some clients start their servers with a few variables only; a recipe that starts itself through such a one would
    never end. Where the system does not show the environments of other processes nothing is found.
    """
    if DEPTH in os.environ:
        return
    pid = os.getppid()
    for _ in range(_ANCESTORS):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                pairs = dict(pair.partition(b"=")[::2] for pair in file.read().split(b"\0") if pair)
            with open(f"/proc/{pid}/stat", "rb") as file:
                above = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
        if os.fsencode(DEPTH) in pairs:
            for name in (DEPTH, PROCESS_ID, SESSION):
                if (value := pairs.get(os.fsencode(name))) is not None:
                    os.environ.setdefault(name, os.fsdecode(value))
            return
        if above <= 1:
            return
        pid = above


def child_environment(listed: Mapping[str, str | None], record: ProcessRecord, caller: Caller) -> dict[str, str]:
    """The program's whole environment; `listed` is `spawn.env`, with what the preset and the engine have of it."""
    own = {
        SESSION: record.session,
        PROCESS_ID: record.id,
        DEPTH: str(caller.depth + 1),
        PARENT: caller.process,
    }
    return program_environment(listed, own)
