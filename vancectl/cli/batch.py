"""Many tasks in one run: a line in, a decision out, in the same order, each as soon as it is made."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vancectl.cli.task import STDIN
from vancectl.errors import Place, UsageError
from vancectl.strict_json import to_json

if TYPE_CHECKING:
    from vancectl.cli.output import Output
    from vancectl.selector.decision import Decision
    from vancectl.selector.selector import Selector


_BLOCK_BYTES = 1 << 16
# Stands for a position while a line is rendered: a number that no task's length reaches, 16 digits each.
_MARK = 10**15


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
    lines = TriggerLines(selector)
    number = 0
    for block in _blocks(path):
        answers = []
        for line in block:
            number += 1
            try:
                task, extra = _parse_line(line)
            except ValueError as error:
                tally.bad_lines += 1
                answers.append(to_json({"version": 1, "error": f"line {number}: {error}"}))
                continue
            answer = lines.answer(task) if not extra else None
            if answer is None:
                decision = selector.by_trigger(task)
                if decision is None:
                    if answers and selector.may_ask:
                        # A model takes its time: what is decided goes out before this task waits for it.
                        output.text("\n".join([*answers, ""]))
                        answers.clear()
                    decision = selector.select(task)
                tally.count(decision)
                answer = to_json({**extra, **decision.as_json()})
            answers.append(answer)
        if answers:
            output.text("\n".join([*answers, ""]))
    return tally


class TriggerLines:
    """Answers of the trigger stage as JSON lines, rendered once for each set of phrases.

    Two tasks that hit the same phrases get the same decision but for the positions, so that only these are filled in.
    """

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._pieces: dict[tuple[int, ...], list[str] | None] = {}

    def answer(self, task: str) -> str | None:
        """The line; None where the trigger stage does not decide."""
        found = self._selector.index.find(task)
        key = tuple([number for number, _, _ in found])
        if key not in self._pieces:
            self._pieces[key] = self._render(task) if key else None
        pieces = self._pieces[key]
        if pieces is None:
            return None
        if len(found) == 1:
            _, start, end = found[0]
            return f"{pieces[0]}{start}{pieces[1]}{end}{pieces[2]}"
        positions = [str(position) for _, start, end in found for position in (start, end)]
        return "".join(chain.from_iterable(zip_longest(pieces, positions, fillvalue="")))

    def _render(self, task: str) -> list[str] | None:
        """The decision's JSON cut at the positions of its hits."""
        if not task.strip():
            return None
        decision = self._selector.by_trigger(task)
        if decision is None:
            return None
        marked = [
            hit._replace(start=_MARK + 2 * place, end=_MARK + 2 * place + 1)
            for place, hit in enumerate(decision.matched)
        ]
        text = to_json(decision._replace(matched=tuple(marked)).as_json())
        pieces = []
        for place in range(2 * len(marked)):
            key = ("start", "end")[place % 2]
            # With its key, since no text in a JSON string can hold that: its quotes would be escaped.
            piece, _, text = text.partition(f'"{key}": {_MARK + place}')
            pieces.append(f'{piece}"{key}": ')
        return [*pieces, text]


def _blocks(path: Path) -> Iterator[list[str]]:
    """The lines in blocks, as they come: the first answer does not wait for the last task."""
    from_stdin = str(path) == STDIN
    if from_stdin and sys.stdin is None:
        raise UsageError("standard input is closed", remedy="name a file, or pipe the tasks in")
    try:
        handle = sys.stdin.fileno() if from_stdin else os.open(path, os.O_RDONLY)
        rest = bytearray()  # a long line comes in many blocks
        while data := os.read(handle, _BLOCK_BYTES):
            whole, newline, data = data.rpartition(b"\n")
            if newline:
                yield _decode(bytes(rest + whole))
                rest = bytearray(data)
            else:
                rest += data
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise UsageError(f"cannot be read: {reason}", where=Place(path), remedy="name a file, or `-`") from None
    if rest:
        yield _decode(bytes(rest))


def _decode(data: bytes) -> list[str]:
    return [line.removesuffix("\r") for line in data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")]


def _parse_line(line: str) -> tuple[str, dict[str, Any]]:
    """The task, and what else goes into the answer (the caller's `id`).

    A line that begins with `{` is an object with `task`, any other is a task. Raises ValueError for a bad object.
    """
    if not line.lstrip().startswith("{"):
        return line, {}
    try:
        document = json.loads(line)
        if not isinstance(document.get("task"), str):
            raise ValueError("the object has no text `task`")
        extra = {"id": document["id"]} if "id" in document else {}
        if extra:
            to_json(extra)  # Python reads NaN and numbers without end, which no answer could hold
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return document["task"], extra
