"""The file that a batch's answers go into. A run that was cut off is taken up again by what was answered.

An answer is known by its `id` and the digest of its task (`taskHash`), never by where it stands: lines may have been
inserted, removed or moved in the meantime. Only whole lines count, and one run writes at a time.
"""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from vancectl.batch.run import Line, Tally
from vancectl.disk.lock import HeldError, Lock
from vancectl.errors import Place, UsageError
from vancectl.model.reason import Reason, is_answer, is_passing
from vancectl.text.strict_json import read_json, to_json

_NUMBERED = re.compile(rb'\A\{"line": \d+')
_ABSENT = -1
_NONE, _UNANSWERED, _BITS = 2, 1, 2


class AnswerFile:
    """Opens and locks the file. Raises UsageError; what the file holds is left as it was then."""

    def __init__(self, path: Path, *, resume: bool, retry_failed: bool = False) -> None:
        self._path = path
        self._retry_failed = retry_failed
        self.tally = Tally()
        self.earlier = 0  # answers of an earlier version, which do not say which task they answer
        self.dropped = 0  # what is no answer to go on with
        # By what an answer is known: where it stands, with what it counts for in the last two bits; a list where equal
        # tasks have several. A million of them must fit.
        self._held: dict[str, int | list[int]] = {}
        self._kept = array("q")  # for each line of the batch, where its answer stands
        self._end = 0
        self._in_order = True
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(path)
        except OSError as error:
            raise self._failed("cannot be written", error) from None
        try:
            self._file: IO[bytes] = open(path, "a+b")  # noqa: SIM115  # open for the whole run
            self._read(resume=resume)
        except OSError as error:
            self._release()
            raise self._failed("cannot be written", error) from None
        except BaseException:
            self._release()
            raise

    def _read(self, *, resume: bool) -> None:
        """What is there already. Half a line was left by a run that was killed, and counts for nothing."""
        if not self._file.seekable() or not os.fstat(self._file.fileno()).st_size:
            return
        if not resume:
            raise UsageError(
                "holds answers already", where=Place(self._path), remedy="go on with --resume, or name another file"
            )
        self._file.seek(0)
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            self._take(line, number)
            self._end += len(line)
        if not self._held:
            self._cut()

    def _take(self, line: bytes, number: int) -> None:
        try:
            value = read_json(line.decode())
            answered = "decision" in value or "error" not in value
            reason = Reason(value["reason"]) if answered else None
            none = answered and value["decision"] == "NONE"
            key = _key(value)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self._fault(number, "the line is no answer of a batch", "name the file of the answers") from None
        unanswered = reason is None or not is_answer(reason)
        if reason is None or is_passing(reason) or (self._retry_failed and unanswered) or key is None:
            self.earlier += key is None and not (reason is None or is_passing(reason))
            self.dropped += 1
            self._in_order = False
            return
        if value.get("line", number) != number:
            self._in_order = False
        entry = self._end << _BITS | none * _NONE | unanswered * _UNANSWERED
        others = self._held.setdefault(key, entry)
        if others != entry:
            self._held[key] = [*others, entry] if isinstance(others, list) else [others, entry]

    @property
    def holds_answers(self) -> bool:
        """Whether there is something to `match`."""
        return bool(self._held)

    def match(self, lines: Iterable[Line], batch: Path) -> bytearray:
        """For each line of the batch 1 where its answer is here. Raises UsageError for an answer to no task of it.

        Nothing is written before that is sure: to name the wrong batch must not cost an answer.
        """
        ids: dict[str, int] = {}
        latest = gap = _ABSENT
        for line in lines:
            entry = self._find(line)
            if entry is None:
                self._kept.append(_ABSENT)
                gap = line.number
                if line.id is not None:
                    ids.setdefault(line.id, line.number)
                continue
            place = entry >> _BITS
            self._in_order = self._in_order and gap == _ABSENT and place > latest
            latest = place
            self._kept.append(place)
            self.tally.none += bool(entry & _NONE)
            self.tally.unanswered += bool(entry & _UNANSWERED)
        if self._held:
            self._in_order = True  # and so it stays as it is
            raise self._without_task(ids, batch)
        self._cut()
        return bytearray(place != _ABSENT for place in self._kept)

    def _find(self, line: Line) -> int | None:
        """The answer, which is then taken."""
        for key in line.names():
            found = self._held.pop(key, None)
            if isinstance(found, list):
                if len(found) > 1:
                    self._held[key] = found[1:]
                return found[0]
            if found is not None:
                return found
        return None

    def _without_task(self, ids: dict[str, int], batch: Path) -> UsageError:
        entry = min(found[0] if isinstance(found, list) else found for found in self._held.values())
        self._file.seek(0)
        number = self._file.read(entry >> _BITS).count(b"\n") + 1
        value = json.loads(self._file.readline())
        given = to_json(value["id"]) if "id" in value else None
        if given in ids:
            what = f"the task with the id {given} has changed since it was answered, in line {ids[given]} of {batch}"
        else:
            named = f"the id {given}" if given else f"what was line {value.get('line', number)}"
            what = f"the answer is to a task that {batch} does not hold: {named}"
        return self._fault(number, what, "name the batch of these answers, or take the line out of the file")

    def write(self, text: str) -> None:
        try:
            self._file.write(text.encode("utf-8", "replace"))
            self._file.flush()
        except OSError as error:
            raise self._failed("cannot be written", error) from None

    def close(self) -> None:
        """Brings the answers into the order of the batch, where that is another than the one they were made in."""
        try:
            if not self._in_order:
                self._sort()
        except OSError as error:
            raise self._failed("cannot be sorted", error) from None
        finally:
            self._release()

    def _sort(self) -> None:
        from vancectl.disk.storage import replacement

        with replacement(self._path) as sorted_, open(self._path, "rb") as fresh:
            os.fchmod(sorted_.fileno(), os.fstat(fresh.fileno()).st_mode & 0o777)
            fresh.seek(self._end)
            new = (line for line in fresh if line.endswith(b"\n"))
            for number, place in enumerate(self._kept, 1):
                if place == _ABSENT:
                    sorted_.write(next(new, b""))
                    continue
                self._file.seek(place)
                sorted_.write(_NUMBERED.sub(b'{"line": %d' % number, self._file.readline(), count=1))
            sorted_.writelines(new)

    def _cut(self) -> None:
        self._file.truncate(self._end)
        self._file.seek(0, os.SEEK_END)

    def _release(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()
        if self._lock is not None:
            self._lock.release()

    def _fault(self, number: int, what: str, remedy: str) -> UsageError:
        return UsageError(what, where=Place(self._path, number), remedy=remedy)

    def _failed(self, what: str, error: OSError) -> UsageError:
        reason = (error.strerror or str(error)).lower()
        return UsageError(f"{what}: {reason}", where=Place(self._path), remedy="name a file that can be written")


def _key(value: dict[str, Any]) -> str | None:
    """As `Line.names`; None where an answer of an earlier version says nothing of its task."""
    from vancectl.decision_log.log import task_hash

    digest = value.get("taskHash")
    if digest is None and isinstance(value.get("task"), str):
        digest = task_hash(value["task"])
    if "id" in value:
        return Line.name(to_json(value["id"]), digest)
    return Line.name(None, digest) if isinstance(digest, str) else None


def _lock(path: Path) -> Lock | None:
    """None for what is no regular file (`/dev/null`): nothing can be taken up again there."""
    if os.path.exists(path) and not os.path.isfile(path):
        return None
    try:
        return Lock(path.with_name(f"{path.name}.lock"))
    except HeldError as error:
        who = f"the process {error.holder}" if error.holder else "another process"
        raise UsageError(
            f"{who} writes its answers there", where=Place(path), remedy="let it end, or name another file"
        ) from None
