"""Many tasks in one run: a line in, a decision out, in the same order, each as soon as it is made."""

from __future__ import annotations

import os
import sys
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, compress, repeat, zip_longest
from operator import not_
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from vancectl.errors import Place, UsageError
from vancectl.model.jobs import GRACE
from vancectl.text.encoding import STDIN, decode, fault, has_utf16_mark
from vancectl.text.strict_json import MAX_DEPTH, TooDeepError, depth, read_json, to_json

if TYPE_CHECKING:
    from concurrent.futures import Future

    from vancectl.batch.template import Template
    from vancectl.model.jobs import Jobs
    from vancectl.selector.decision import Decision
    from vancectl.selector.selector import Selector


# A line of the batch; bytes where it is not UTF-8, and so no task.
BatchLine: TypeAlias = str | bytes

_BLOCK_BYTES = 1 << 16
# So many lines may wait behind one that the model has not answered.
_WAITING_LINES = 10_000
_PEEK = 0.05
# Stands for a position while a line is rendered: a number that no task's length reaches, 16 digits each.
_MARK = 10**15


class Line(NamedTuple):
    """What a line of the batch is known by: its `id` as JSON text, if it has one, and the digest of its task."""

    number: int
    id: str | None = None
    digest: str | None = None

    def names(self) -> tuple[str, ...]:
        """Under what its answer may stand; an answer of an earlier version has an id only."""
        if self.id is not None:
            return self.name(self.id, self.digest), self.name(self.id, None)
        return (self.name(None, self.digest),) if self.digest is not None else ()

    @staticmethod
    def name(id_: str | None, digest: str | None) -> str:
        return f"{id_ or ''} {digest or ''}"


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
    """One run over many tasks, of which `jobs` are asked about at a time.

    `done` has a 1 for each line that is answered already. With `keyed`, each answer says by a digest which task it is
    the answer to.
    """

    selector: Selector
    write: Callable[[str], None]
    jobs: int
    done: bytearray = field(default_factory=bytearray)
    keyed: bool = False
    template: Template | None = None
    memo: Decision | None = None
    step: Callable[[], None] = lambda: None

    def run(self, path: Path, tally: Tally, lines: list[BatchLine] | None = None) -> None:
        """Decides every line of a file, or those `lines` that were read from it already.

        A bad line gives an object with `error`, and the rest goes on.

        After Ctrl-C, what is under way gets a few seconds, and all that is decided is written.
        """
        answers = _Answers(self, tally)
        number, done = 0, self.done
        try:
            for block in _blocks(path, answers.idle) if lines is None else [lines]:
                for line in block:
                    number += 1
                    if not done or number > len(done) or not done[number - 1]:
                        answers.take(line, number)
                answers.flush()
            answers.drain()
        except KeyboardInterrupt:
            answers.stop()
            raise

    def lines(self, path: Path, lines: list[BatchLine] | None = None) -> Iterator[Line]:
        """What each line is known by; nothing for a bad one."""
        from vancectl.decision_log.log import task_hash

        blocks = _blocks(path, lambda _: None) if lines is None else [lines]
        for number, line in enumerate(chain.from_iterable(blocks), 1):
            try:
                task, extra = self.parse(line)
            except ValueError:
                yield Line(number)
            else:
                yield Line(number, to_json(extra["id"]) if "id" in extra else None, task_hash(task))

    def model_tasks(self, lines: list[BatchLine]) -> list[str]:
        """The tasks that need the model, each once."""
        tasks = []
        for line in compress(lines, map(not_, chain(self.done, repeat(0)))):
            with suppress(ValueError):
                tasks.append(self.parse(line)[0])
        return [task for task in dict.fromkeys(tasks) if self.selector.needs_model(task)]

    def parse(self, line: BatchLine) -> tuple[str, dict[str, Any]]:
        """A line's task, and what else goes into the answer. Raises ValueError for a bad line."""
        if isinstance(line, bytes):
            raise ValueError(_why_no_text(line))
        return self.template.fill(line) if self.template is not None else _parse_line(line)


class _Answers:
    """The answers in the order of the lines: some are there at once, others wait for the model."""

    def __init__(self, batch: Batch, tally: Tally) -> None:
        self._batch = batch
        self._tally = tally
        self._lines = TriggerLines(batch.selector)
        # A line that is ready, or its beginning and the decision to come.
        self._waiting: deque[str | tuple[str, Future[Decision]]] = deque()
        self._jobs: Jobs[Decision] | None = None
        self._templated = batch.template is not None
        self._hash: Callable[[str], str] | None = None
        if batch.keyed:
            from vancectl.decision_log.log import task_hash

            self._hash = task_hash

    def take(self, line: BatchLine, number: int) -> None:
        if self._templated or isinstance(line, bytes) or line.lstrip().startswith("{"):
            try:
                task, extra = self._batch.parse(line)
            except ValueError as error:
                self._tally.bad_lines += 1
                self._waiting.append(to_json({"line": number, "version": 1, "error": f"line {number}: {error}"}))
                return
            head = self._head(task, extra, number)
        else:
            # What most lines are; they pay for nothing else.
            task, head = line, f'{{"line": {number}, '
            if self._hash is not None:
                head = f'{head}"taskHash": "{self._hash(line)}", '
        if self._batch.memo is not None:
            self._waiting.append(self._said(self._batch.memo, head))
            return
        answer = self._lines.answer(task, head)
        if answer is not None:
            self._waiting.append(answer)
            return
        selector = self._batch.selector
        if not selector.needs_model(task) or selector.semantic is None:
            self._waiting.append(self._said(selector.select(task), head))
            return
        if self._jobs is None:
            from vancectl.model.jobs import Jobs

            self._jobs = Jobs(selector.select, self._batch.jobs)
        self._waiting.append((head, self._jobs.submit(task)))
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
            self._batch.step()
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
        from vancectl.model.jobs import wait_for_any

        head = self._waiting[0]
        if not isinstance(head, str):
            wait_for_any([head[1]], timeout)
        self.flush()

    def _head(self, task: str, extra: dict[str, Any], number: int) -> str:
        """How the answer begins: which line or task it belongs to."""
        named: dict[str, Any] = {"id": extra["id"]} if "id" in extra else {"line": number}
        if self._hash is not None:
            named["taskHash"] = self._hash(task)
        return to_json({**named, **extra})[:-1] + ", "

    def _said(self, decision: Decision, head: str) -> str:
        self._tally.count(decision)
        return head + to_json(decision.as_json())[1:]


class TriggerLines:
    """Answers of the trigger stage as JSON lines, rendered once for each set of phrases.

    Two tasks that hit the same phrases get the same decision but for the positions, so that only these are filled in.
    """

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._pieces: dict[tuple[int, ...], list[str] | None] = {}

    def answer(self, task: str, head: str = "{") -> str | None:
        """The line, which begins with `head`; None where the trigger stage does not decide."""
        found = self._selector.index.find(task)
        key = tuple([number for number, _, _ in found])
        if key not in self._pieces:
            self._pieces[key] = self._render(task) if key else None
        pieces = self._pieces[key]
        if pieces is None:
            return None
        if len(found) == 1:
            _, start, end = found[0]
            return f"{head}{pieces[0]}{start}{pieces[1]}{end}{pieces[2]}"
        positions = [str(position) for _, start, end in found for position in (start, end)]
        return head + "".join(chain.from_iterable(zip_longest(pieces, positions, fillvalue="")))

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
        text = to_json(decision._replace(matched=tuple(marked)).as_json())[1:]
        pieces = []
        for place in range(2 * len(marked)):
            key = ("start", "end")[place % 2]
            # With its key, since no text in a JSON string can hold that: its quotes would be escaped.
            piece, _, text = text.partition(f'"{key}": {_MARK + place}')
            pieces.append(f'{piece}"{key}": ')
        return [*pieces, text]


def count_lines(path: Path) -> int:
    """The lines of a file; 0 for what cannot be read twice."""
    if not os.path.isfile(path):
        return 0
    with suppress(OSError), open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK_BYTES), b""))
    return 0


def read_lines(path: Path) -> list[BatchLine]:
    """All lines at once. Raises UsageError where the file cannot be read."""
    return list(chain.from_iterable(_blocks(path, lambda _: None)))


def _blocks(path: Path, idle: Callable[[int], None]) -> Iterator[list[BatchLine]]:
    """The lines in blocks, as they come: the first answer does not wait for the last task."""
    from_stdin = str(path) == STDIN
    if from_stdin and sys.stdin is None:
        raise UsageError("standard input is closed", remedy="name a file, or pipe the tasks in")
    try:
        handle = sys.stdin.fileno() if from_stdin else os.open(path, os.O_RDONLY)
        rest = bytearray()  # a long line comes in many blocks
        data = _read(handle, idle)
        if has_utf16_mark(data):
            yield from _wide(data, handle, path)
            return
        data = data.removeprefix(BOM_UTF8)
        while data:
            whole, newline, data = data.rpartition(b"\n")
            if newline:
                yield _decode(bytes(rest + whole))
                rest = bytearray(data)
            else:
                rest += data
            data = _read(handle, idle)
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise UsageError(f"cannot be read: {reason}", where=Place(path), remedy="name a file, or `-`") from None
    if rest:
        yield _decode(bytes(rest))


def _read(handle: int, idle: Callable[[int], None]) -> bytes:
    idle(handle)
    return os.read(handle, _BLOCK_BYTES)


def _wide(data: bytes, handle: int, path: Path) -> Iterator[list[BatchLine]]:
    """All of a text in UTF-16, whose line ends are no single bytes."""
    parts = [data]
    while data := os.read(handle, _BLOCK_BYTES):
        parts.append(data)
    text = decode(b"".join(parts), path)
    yield [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _decode(data: bytes) -> list[BatchLine]:
    """The lines as text; one that is not UTF-8 stays as it is, and is refused when it is its turn."""
    try:
        return [line.removesuffix("\r") for line in data.decode().split("\n")]
    except UnicodeDecodeError:
        return [_decoded(line.removesuffix(b"\r")) for line in data.split(b"\n")]


def _decoded(line: bytes) -> BatchLine:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line


def _why_no_text(line: bytes) -> str:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return fault(line[error.start :])
    raise AssertionError


def _parse_line(line: str) -> tuple[str, dict[str, Any]]:
    """The task, and what else goes into the answer (the caller's `id`).

    A line that begins with `{` is an object with `task`, any other is a task. Raises ValueError for a bad object.
    """
    if not line.lstrip().startswith("{"):
        return line, {}
    try:
        document = read_json(line)
    except TooDeepError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(document.get("task"), str):
        raise ValueError("the object has no text `task`")
    if "id" not in document:
        return document["task"], {}
    if depth(document["id"]) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    return document["task"], {"id": document["id"]}
