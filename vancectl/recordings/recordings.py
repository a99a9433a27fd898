"""The file of recorded answers: JSON lines, sorted, one task a line, so that a diff shows whose answer has changed.

It holds tasks, replies and digests, and nothing of keys, servers or times. Answers that come in are appended at once;
`save` puts them in order. A run that was killed leaves at most one torn line at the end, which is passed over. Another
line that is no recording is an error: nothing that a merge or an editor has damaged is used, or written over.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from vancectl.disk.plain_file import project_top, read_plain
from vancectl.disk.storage import boundary_of, open_below, remove_below, write_below
from vancectl.errors import Place, UsageError
from vancectl.model.model import Reply
from vancectl.recordings.fingerprint import Binding

VERSION = 1
MAX_BYTES = 100_000_000
_BEGINNINGS = (b'{"inventory": "', b'{"task": "')  # of each line that is written
_MARKERS = (b"<" * 7, b"|" * 7, b"=" * 7, b">" * 7)
_TOKENS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_tokens",
    "cacheWriteTokens": "cache_write_tokens",
}

# The replies of one decision: more than one where the first was no answer and was asked for again.
Sample = tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """The answers to one task: `question` is the digest of what was asked, `binding` the id of what held then."""

    task: str
    question: str
    binding: str
    samples: tuple[Sample, ...]

    def as_json(self) -> dict[str, Any]:
        samples = [[_reply_json(reply) for reply in sample] for sample in self.samples]
        return {"task": self.task, "inventory": self.binding, "question": self.question, "samples": samples}


class Recordings:
    """All recordings of one file, by task; one final line end is no part of it. Threads may add to it.

    A task may have answers to several questions, as after a merge: whoever looks it up says which question counts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_task: dict[str, list[Recording]] = {}
        self._whole = 0  # bytes of the file up to the last whole line
        self._bindings: dict[str, Binding] = {}
        self._unended = False  # whether the last line is whole, but has no line end
        self._journal: IO[bytes] | None = None
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: Path, *, must_exist: bool = False) -> Recordings:
        """Raises UsageError, with the line, for a file that is no recording."""
        recordings = cls(path)
        try:
            data = read_plain(path, MAX_BYTES)
        except FileNotFoundError:
            if must_exist:
                raise UsageError(
                    "there are no recordings", where=Place(path), remedy="`vancectl check --record` makes them"
                ) from None
            return recordings
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise UsageError(
                f"cannot be read: {reason}", where=Place(path), remedy="put a file of recordings there"
            ) from None
        recordings._take(data)
        return recordings

    @classmethod
    def none(cls) -> Recordings:
        """Without a file, and never to be saved."""
        return cls(Path())

    def __len__(self) -> int:
        return len(self._by_task)

    @property
    def tasks(self) -> Iterable[str]:
        return self._by_task.keys()

    def find(self, task: str, holds: Callable[[Recording], bool] = lambda _: False) -> Recording | None:
        """The answers for which `holds` is true, else those that were written last."""
        found = self._by_task.get(without_line_end(task), [])
        return next(filter(holds, found), found[-1] if found else None)

    def binding(self, recording: Recording) -> Binding:
        return self._bindings[recording.binding]

    def put(self, recording: Recording, binding: Binding) -> None:
        """Replaces what the task has, and writes it down at once."""
        with self._lock:
            lines: list[Mapping[str, Any]] = []
            if binding.id not in self._bindings:
                self._bindings[binding.id] = binding
                lines.extend(_binding_lines(binding))
            self._by_task[without_line_end(recording.task)] = [recording]
            self._append([*lines, recording.as_json()])

    def rebind(self, task: str, held: Recording, question: str, binding: Binding) -> None:
        """The same answers under another binding: their question is still the same, letter by letter."""
        with self._lock:
            self._bindings.setdefault(binding.id, binding)
            self._by_task[without_line_end(task)] = [Recording(task, question, binding.id, held.samples)]

    def prune(self, used: Iterable[str]) -> list[str]:
        """Drops all tasks but those used, and gives those that it dropped."""
        kept = set(map(without_line_end, used))
        dropped = [task for task in self._by_task if task not in kept]
        for task in dropped:
            del self._by_task[task]
        return dropped

    def save(self) -> None:
        """Writes the whole file in order; one that would be empty is removed. Raises UsageError."""
        with self._lock:
            self._close()
            recordings = [recording for task in sorted(self._by_task) for recording in self._by_task[task]]
            used = {recording.binding for recording in recordings}
            lines = [line for key in sorted(used) for line in _binding_lines(self._bindings[key])]
            lines.extend(recording.as_json() for recording in recordings)
            data = b"".join(map(_line, lines))
            try:
                if not data:
                    if self.path.exists():
                        remove_below(self._boundary, self.path)
                elif not self.path.is_file() or self.path.read_bytes() != data:
                    write_below(self._boundary, self.path, data)
            except OSError as error:
                raise _unwritable(self.path, error) from None

    @property
    def _boundary(self) -> Path:
        return boundary_of(self.path, project_top(self.path))

    def _append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        try:
            if self._journal is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
                self._journal = os.fdopen(open_below(self._boundary, self.path, flags), "ab")
                if os.fstat(self._journal.fileno()).st_size > self._whole:
                    self._journal.truncate(self._whole)  # the line that a killed run left torn
                if self._unended:
                    self._journal.write(b"\n")
            self._journal.write(b"".join(map(_line, lines)))
            self._journal.flush()
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def _close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    # -- reading

    def _take(self, data: bytes) -> None:
        lines = data.split(b"\n")
        heads: dict[str, tuple[int, dict[str, Any]]] = {}
        recipes: dict[str, dict[str, str]] = {}
        found: list[tuple[int, Recording]] = []
        self._whole, self._unended = len(data), bool(lines[-1])
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if line.startswith(_MARKERS):
                raise self._error(number, "holds the conflict markers of a merge, which begin here", _MERGE)
            try:
                value = json.loads(line, object_pairs_hook=_members)
                if "task" in value:
                    found.append((number, _recording(value)))
                elif "recipe" in value:
                    of_inventory = recipes.setdefault(_text(value, "inventory"), {})
                    if of_inventory.setdefault(_text(value, "recipe"), _text(value, "digest")) != value["digest"]:
                        raise ValueError
                elif heads.setdefault(_text(value, "inventory"), (number, value))[1] != value:
                    raise ValueError
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                if number == len(lines) and _is_torn(line, bool(heads)):
                    self._whole, self._unended = len(data) - len(line), False
                    continue
                raise self._error(number, "the line is no recording", _RESTORE) from None
        bindings = {key: self._head(number, head, recipes.get(key, {})) for key, (number, head) in heads.items()}
        self._bindings = {binding.id: binding for binding in bindings.values()}
        lines_of: dict[tuple[str, str], int] = {}
        for number, recording in found:
            if recording.binding not in bindings:
                raise self._error(number, "the line is no recording: the lines of its inventory are missing", _RESTORE)
            self._add(number, replace(recording, binding=bindings[recording.binding].id), lines_of)

    def _head(self, number: int, head: Mapping[str, Any], recipes: dict[str, str]) -> Binding:
        version, prompt = head.get("version", VERSION), head.get("promptVersion", 0)
        if isinstance(version, int) and version > VERSION:
            raise self._error(
                number, "was written by a newer version of vancectl", "install that version, or a newer one"
            )
        model, system, catalog = (head.get(key) for key in ("model", "system", "catalog"))
        if not (isinstance(version, int) and isinstance(prompt, int)) or not all(
            isinstance(text, str) for text in (model, system, catalog)
        ):
            raise self._error(number, "the line is no recording", _RESTORE)
        return Binding(str(model), str(system), str(catalog), recipes, prompt)

    def _add(self, number: int, recording: Recording, lines_of: dict[tuple[str, str], int]) -> None:
        """Takes one line. What a run has written again holds the older answers, too, and takes their place."""
        task = without_line_end(recording.task)
        others = self._by_task.setdefault(task, [])
        key = task, recording.question
        for index, other in enumerate(others):
            if other.question != recording.question:
                continue
            older, newer = sorted((other.samples, recording.samples), key=len)
            if newer[: len(older)] != older:
                text = f"is another answer to the same question than line {lines_of[key]} holds"
                raise self._error(number, text, "keep one of the two lines, as after a merge")
            del others[index]
            recording = replace(recording, samples=newer)
            break
        others.append(recording)
        lines_of[key] = number

    def _error(self, number: int, text: str, remedy: str) -> UsageError:
        return UsageError(text, where=Place(self.path, number), remedy=remedy)


_RESTORE = "restore the file, or remove the line and run `vancectl check --record`"
_MERGE = "choose one side and remove the markers; `vancectl check --record` then asks for what is missing"


def without_line_end(task: str) -> str:
    """One final line end is no part of a task, whether it comes from a file, a block of YAML, or an argument."""
    return task.removesuffix("\n").removesuffix("\r")


def _is_torn(line: bytes, follows_a_head: bool) -> bool:
    """Whether a line is the beginning of one that is written, as a killed run leaves it at the end of the file."""
    begins = [line.startswith(beginning) or beginning.startswith(line) for beginning in _BEGINNINGS]
    return begins[0] or (begins[1] and follows_a_head)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value[key]
    if not isinstance(text, str):
        raise ValueError
    return text


def _recording(value: Mapping[str, Any]) -> Recording:
    samples = tuple(tuple(map(_reply, sample)) for sample in value["samples"])
    task, question, binding = value["task"], value["question"], value["inventory"]
    if not (isinstance(task, str) and isinstance(question, str) and isinstance(binding, str) and all(samples)):
        raise ValueError
    return Recording(task, question, binding, samples)


def _reply(value: Mapping[str, Any]) -> Reply:
    if not isinstance(value["text"], str):
        raise ValueError
    counts = {field: value.get(key) for key, field in _TOKENS.items()}
    if not all(count is None or (isinstance(count, int) and count >= 0) for count in counts.values()):
        raise ValueError
    return Reply(value["text"], 1, **counts)


def _reply_json(reply: Reply) -> dict[str, Any]:
    counts = {key: getattr(reply, field) for key, field in _TOKENS.items()}
    return {"text": reply.text, **{key: count for key, count in counts.items() if count is not None}}


def _binding_lines(binding: Binding) -> Iterator[dict[str, Any]]:
    yield {
        "inventory": binding.id,
        "version": VERSION,
        "promptVersion": binding.prompt_version,
        "model": binding.model,
        "system": binding.system,
        "catalog": binding.catalog,
    }
    for name, text in binding.recipes.items():  # in the inventory's order, which the id depends on
        yield {"inventory": binding.id, "recipe": name, "digest": text}


def _line(value: Mapping[str, Any]) -> bytes:
    # `surrogatepass` would write what no JSON reader takes: escaped, every task comes back as it was.
    text = json.dumps(value, ensure_ascii=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value).encode() + b"\n"


def _unwritable(path: Path, error: OSError) -> UsageError:
    reason = (error.strerror or str(error)).lower()
    return UsageError(f"recordings cannot be written: {reason}", where=Place(path), remedy="make the folder writable")
