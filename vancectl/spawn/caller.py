"""Who calls: a process that vancectl started itself knows its own id, and how deep it stands below a person.

And what a program gets to see of our environment: everything but vancectl's own key, unless `spawn.env` lists
it. The address it goes to is no secret: a program that lost it would send its prompts elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vancectl.errors import SpawnError, UsageError
from vancectl.selector.credential import KEY_VARIABLES

if TYPE_CHECKING:
    from vancectl.spawn.session import ProcessRecord

SESSION, PROCESS_ID = "VANCECTL_SESSION", "VANCECTL_PROCESS_ID"
PARENT, DEPTH = "VANCECTL_PARENT", "VANCECTL_DEPTH"
OWN_VARIABLES = KEY_VARIABLES


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


def find_caller() -> Caller:
    """Raises UsageError for a depth that is no number: what is set wrongly must not count as no limit."""
    text = os.environ.get(DEPTH, "").strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"the variable {DEPTH} is no whole number", remedy="unset it; vancectl sets it itself")
    return Caller(os.environ.get(PROCESS_ID) or None, int(text or 0))


def child_environment(listed: Mapping[str, str | None], record: ProcessRecord, caller: Caller) -> dict[str, str]:
    """The program's whole environment. In what `spawn.env` lists, null unsets and `{env.NAME}` passes on our own."""
    environment = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
    environment |= {SESSION: record.session, PROCESS_ID: record.id, DEPTH: str(caller.depth + 1)}
    environment.pop(PARENT, None)
    if caller.process is not None:
        environment[PARENT] = caller.process
    for name, written in listed.items():
        value = passed_on(written)
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def passed_on(written: str | None) -> str | None:
    if written is not None and written.startswith("{env.") and written.endswith("}"):
        return os.environ.get(written[len("{env.") : -1])
    return written
