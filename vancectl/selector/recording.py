"""The file of recorded answers: JSON lines, sorted, one task a line, so that a diff shows whose answer has changed.

It holds tasks, replies and digests, and nothing of keys, servers or times. Answers that come in are appended at once;
`save` puts them in order. A run that was killed leaves at most one torn line at the end, which is passed over.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from vancectl.errors import Place, UsageError
from vancectl.selector.binding import Binding
from vancectl.selector.model import Reply
from vancectl.storage import write_atomically

VERSION = 1
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
    """All recordings of one file, by task. Threads may add to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_task: dict[str, Recording] = {}
        self._bindings: dict[str, Binding] = {}
        self._journal: IO[bytes] | None = None
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: Path, *, must_exist: bool = False) -> Recordings:
        """Raises UsageError, with the line, for a file that is no recording."""
        recordings = cls(path)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            if must_exist:
                raise UsageError(
                    "there are no recordings", where=Place(path), remedy="`vancectl check --record` makes them"
                ) from None
            return recordings
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise UsageError(f"cannot be read: {reason}", where=Place(path), remedy="make it readable") from None
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

    def find(self, task: str) -> Recording | None:
        return self._by_task.get(task)

    def binding(self, recording: Recording) -> Binding:
        return self._bindings[recording.binding]

    def put(self, recording: Recording, binding: Binding) -> None:
        """Replaces what the task has, and writes it down at once."""
        with self._lock:
            lines: list[Mapping[str, Any]] = []
            if binding.id not in self._bindings:
                self._bindings[binding.id] = binding
                lines.extend(_binding_lines(binding))
            self._by_task[recording.task] = recording
            self._append([*lines, recording.as_json()])

    def rebind(self, task: str, binding: Binding) -> None:
        """The same answer under another binding: its question is still the same, letter by letter."""
        with self._lock:
            held = self._by_task[task]
            self._bindings.setdefault(binding.id, binding)
            self._by_task[task] = Recording(task, held.question, binding.id, held.samples)

    def prune(self, used: Iterable[str]) -> list[str]:
        """Drops all tasks but those used, and gives those that it dropped."""
        kept = set(used)
        dropped = [task for task in self._by_task if task not in kept]
        for task in dropped:
            del self._by_task[task]
        return dropped

    def save(self) -> None:
        """Writes the whole file in order; one that would be empty is removed. Raises UsageError."""
        with self._lock:
            self._close()
            used = {recording.binding for recording in self._by_task.values()}
            lines = [line for key in sorted(used) for line in _binding_lines(self._bindings[key])]
            lines.extend(self._by_task[task].as_json() for task in sorted(self._by_task))
            data = b"".join(map(_line, lines))
            try:
                if data:
                    if not self.path.is_file() or self.path.read_bytes() != data:
                        write_atomically(self.path, data)
                else:
                    self.path.unlink(missing_ok=True)
            except OSError as error:
                raise _unwritable(self.path, error) from None

    def _append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        try:
            if self._journal is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._journal = open(self.path, "ab")  # noqa: SIM115  # open as long as answers come in
                if self._journal.tell() and not self.path.read_bytes().endswith(b"\n"):
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
        *whole, rest = data.split(b"\n")
        heads: dict[str, dict[str, Any]] = {}
        recipes: dict[str, dict[str, str]] = {}
        found: list[tuple[int, Recording]] = []
        for number, line in enumerate([*whole, rest], 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                if "task" in value:
                    found.append((number, _recording(value)))
                elif "recipe" in value:
                    recipes.setdefault(value["inventory"], {})[value["recipe"]] = value["digest"]
                else:
                    heads[value["inventory"]] = value
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                if number > len(whole) or self._is_torn(whole, number):
                    continue
                raise self._corrupt(number) from None
        for key, head in heads.items():
            self._bindings[key] = Binding(
                str(head.get("model")),
                str(head.get("system")),
                str(head.get("catalog")),
                recipes.get(key, {}),
                head.get("promptVersion", 0),
            )
        for number, recording in found:
            if recording.binding not in self._bindings:
                raise self._corrupt(number)
            self._by_task[recording.task] = recording

    def _is_torn(self, whole: list[bytes], number: int) -> bool:
        """Whether a line ends in the middle: a killed run's last, to which a later one appended."""
        return not whole[number - 1].rstrip().endswith(b"}")

    def _corrupt(self, number: int) -> UsageError:
        return UsageError(
            "the line is no recording",
            where=Place(self.path, number),
            remedy="restore the file, or remove the line and run `vancectl check --record`",
        )


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
