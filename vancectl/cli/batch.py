"""Many tasks in one run: a line in, a decision out, in the same order, each as soon as it is made."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Any

from vancectl.cli.jobs import GRACE
from vancectl.cli.task import STDIN
from vancectl.errors import Place, UsageError
from vancectl.strict_json import to_json

if TYPE_CHECKING:
    from concurrent.futures import Future

    from vancectl.cli.progress import Progress
    from vancectl.cli.template import Template
    from vancectl.selector.decision import Decision
    from vancectl.selector.jobs import Jobs
    from vancectl.selector.selector import Selector


_BLOCK_BYTES = 1 << 16
# So many lines may wait behind one that the model has not answered.
_WAITING_LINES = 10_000
_PEEK = 0.05
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


@dataclass(frozen=True, slots=True)
class Batch:
    """One run over many tasks: `skip` lines are done already, `jobs` tasks are asked about at a time."""

    selector: Selector
    write: Callable[[str], None]
    jobs: int
    skip: int = 0
    template: Template | None = None
    memo: Decision | None = None
    progress: Progress | None = None

    def run(self, path: Path, tally: Tally, lines: list[str] | None = None) -> None:
        """Decides every line of a file, or those `lines` that were read from it already.

        A bad line gives an object with `error`, and the rest goes on.

        After Ctrl-C, what is under way gets a few seconds, and all that is decided is written.
        """
        answers = _Answers(self, tally)
        number = 0
        try:
            for block in _blocks(path, answers.idle) if lines is None else [lines]:
                for line in block:
                    number += 1
                    if number > self.skip:
                        answers.take(line, number)
                answers.flush()
            answers.drain()
        except KeyboardInterrupt:
            answers.stop()
            raise
        if number < self.skip:
            raise UsageError(
                f"{self.skip} answers are written already, but there are only {number} tasks",
                where=Place(path),
                remedy="name the batch that the answers belong to",
            )

    def model_tasks(self, lines: list[str]) -> list[str]:
        """The tasks that need the model, each once."""
        tasks = []
        for line in lines[self.skip :]:
            with suppress(ValueError):
                tasks.append(self.parse(line)[0])
        return [task for task in dict.fromkeys(tasks) if self.selector.needs_model(task)]

    def parse(self, line: str) -> tuple[str, dict[str, Any]]:
        """A line's task, and what else goes into the answer. Raises ValueError for a bad line."""
        return self.template.fill(line) if self.template is not None else _parse_line(line)


class _Answers:
    """The answers in the order of the lines: some are there at once, others wait for the model."""

    def __init__(self, batch: Batch, tally: Tally) -> None:
        self._batch = batch
        self._tally = tally
        self._lines = TriggerLines(batch.selector)
        self._waiting: deque[str | tuple[dict[str, Any], Future[Decision]]] = deque()
        self._jobs: Jobs[Decision] | None = None

    def take(self, line: str, number: int) -> None:
        try:
            task, extra = self._batch.parse(line)
        except ValueError as error:
            self._tally.bad_lines += 1
            self._waiting.append(to_json({"version": 1, "error": f"line {number}: {error}"}))
            return
        if self._batch.memo is not None:
            self._waiting.append(self._said(self._batch.memo, extra))
            return
        answer = self._lines.answer(task) if not extra else None
        if answer is not None:
            self._waiting.append(answer)
            return
        selector = self._batch.selector
        if not selector.needs_model(task) or selector.semantic is None:
            self._waiting.append(self._said(selector.select(task), extra))
            return
        if self._jobs is None:
            from vancectl.selector.jobs import Jobs

            self._jobs = Jobs(selector.select, self._batch.jobs)
        self._waiting.append((extra, self._jobs.submit(task)))
        if len(self._waiting) > _WAITING_LINES:
            self._wait()

    def flush(self) -> None:
        """Writes what is decided, up to the first line that is not."""
        ready = []
        while self._waiting:
            head = self._waiting[0]
            if isinstance(head, str):
                ready.append(head)
            elif head[1].done() and not head[1].cancelled():
                ready.append(self._said(head[1].result(), head[0]))
            else:
                break
            self._waiting.popleft()
            if self._batch.progress is not None:
                self._batch.progress.step()
        if ready:
            self._batch.write("\n".join([*ready, ""]))

    def drain(self) -> None:
        self.flush()
        while self._waiting:
            self._wait()

    def idle(self, handle: int) -> None:
        """Before more is read: as long as nothing comes in, answers go out as they are made."""
        self.flush()
        while self._waiting and not select([handle], [], [], 0)[0]:
            self._wait(_PEEK)

    def stop(self) -> None:
        if self._jobs is not None:
            try:
                self._jobs.stop(GRACE)
            finally:
                self.flush()

    def _wait(self, timeout: float = 60) -> None:
        from vancectl.selector.jobs import wait_for_any

        head = self._waiting[0]
        if not isinstance(head, str):
            wait_for_any([head[1]], timeout)
        self.flush()

    def _said(self, decision: Decision, extra: dict[str, Any]) -> str:
        self._tally.count(decision)
        return to_json({**extra, **decision.as_json()})


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


def read_lines(path: Path) -> list[str]:
    """All lines at once. Raises UsageError where the file cannot be read."""
    return list(chain.from_iterable(_blocks(path, lambda _: None)))


def _blocks(path: Path, idle: Callable[[int], None]) -> Iterator[list[str]]:
    """The lines in blocks, as they come: the first answer does not wait for the last task."""
    from_stdin = str(path) == STDIN
    if from_stdin and sys.stdin is None:
        raise UsageError("standard input is closed", remedy="name a file, or pipe the tasks in")
    try:
        handle = sys.stdin.fileno() if from_stdin else os.open(path, os.O_RDONLY)
        rest = bytearray()  # a long line comes in many blocks
        while data := _read(handle, idle):
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


def _read(handle: int, idle: Callable[[int], None]) -> bytes:
    idle(handle)
    return os.read(handle, _BLOCK_BYTES)


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
