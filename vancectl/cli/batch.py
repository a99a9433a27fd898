"""Many tasks in one run: a line in, a decision out, in the same order, each as soon as it is made."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vancectl.cli.task import STDIN
from vancectl.errors import Place, UsageError

if TYPE_CHECKING:
    from vancectl.cli.output import Output
    from vancectl.selector.decision import Decision
    from vancectl.selector.selector import Selector


@dataclass(slots=True)
class Tally:
    """What the exit status depends on: how many NONE, how many that no model answered, how many bad lines."""

    none: int = 0
    unanswered: int = 0
    bad_lines: int = 0

    def count(self, decision: Decision) -> None:
        self.none += not decision.matches
        self.unanswered += decision.unanswered


def select_batch(selector: Selector, path: Path, output: Output) -> Tally:
    """Decides every line of a file. A bad line gives an object with `error`, and the rest goes on."""
    tally = Tally()
    for number, line in enumerate(_lines(path), 1):
        try:
            task, extra = _parse_line(line)
        except ValueError as error:
            tally.bad_lines += 1
            output.line({"version": 1, "error": f"line {number}: {error}"})
            continue
        decision = selector.select(task)
        tally.count(decision)
        output.line({**extra, **decision.as_json()})
    return tally


def _lines(path: Path) -> Iterator[str]:
    """The lines as they come: the first answer does not wait for the last task."""
    try:
        stream = sys.stdin.buffer if str(path) == STDIN else open(path, "rb")  # noqa: SIM115  # closed with the process
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise UsageError(f"cannot be read: {reason}", where=Place(path), remedy="name a file, or `-`") from None
    for line in stream:
        yield line.decode("utf-8", "replace").rstrip("\r\n").removeprefix("\ufeff")


def _parse_line(line: str) -> tuple[str, dict[str, Any]]:
    """The task, and what else goes into the answer (the caller's `id`).

    A line that begins with `{` is an object with `task`, any other is a task. Raises ValueError for a bad object.
    """
    if not line.lstrip().startswith("{"):
        return line, {}
    try:
        document = json.loads(line)
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(document.get("task"), str):
        raise ValueError("the object has no text `task`")
    return document["task"], {"id": document["id"]} if "id" in document else {}
