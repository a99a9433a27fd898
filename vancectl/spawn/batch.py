"""Carries a plan out: some children at a time, each under a supervisor of its own, so that none is lost with us."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from vancectl.errors import VancectlError
from vancectl.selector.decision import Decision
from vancectl.spawn.delegation import Delegated, Delegation
from vancectl.spawn.plan import Child
from vancectl.spawn.session import ABANDONED, DEFAULT_SESSION, OPEN, STOPPED, TIMED_OUT, ProcessRecord
from vancectl.spawn.supervision import current, stop, wait_for

_STOP_GRACE = 5.0
# What an earlier run did not bring to its end; what failed has had its turn.
_UNFINISHED = {ABANDONED, STOPPED}


@dataclass(slots=True)
class Batch:
    """One run of a plan. `done` is told of each child as it ends, with its place in the plan."""

    delegation: Delegation
    jobs: int
    done: Callable[[int, Delegated], None]
    resume: bool = False
    fail_fast: bool = False
    dry_run: bool = False
    strict: bool = False
    _ended: threading.Event = field(default_factory=threading.Event)
    _running: dict[int, ProcessRecord] = field(default_factory=dict)
    _decided: dict[str, Decision] = field(default_factory=dict)

    def run(self, children: Sequence[Child]) -> list[Delegated | None]:
        """An answer for each child, in the plan's order; None for those that were not started any more.

        KeyboardInterrupt stops what runs, and is raised again once that has ended.
        """
        answers: list[Delegated | None] = [None] * len(children)
        self._decide_batches(children)

        def work(place: int) -> None:
            if self._ended.is_set():
                return
            answer = self._one(children[place], place)
            answers[place] = answer
            self.done(place, answer)
            if self.fail_fast and failed(answer):
                self._ended.set()

        with ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(work, place) for place in range(len(children))]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self._ended.set()
                self._stop_running()
                raise
        return answers

    def _decide_batches(self, children: Sequence[Child]) -> None:
        """One call for all children of a template, on its task as it stands there; after NONE each asks for itself."""
        for task in dict.fromkeys(child.batch for child in children):
            if task is not None and task.strip() and sum(child.batch == task for child in children) > 1:
                decision = self.delegation.select(task)
                if decision.matches:
                    self._decided[task] = decision

    def _one(self, child: Child, place: int) -> Delegated:
        known = self._known(child)
        if known is not None:
            return known
        delegation = self.delegation
        decided = self._decided.get(child.batch) if child.batch is not None else None
        if decided is not None:
            delegation = replace(delegation, select=lambda task: decided)

        def started(record: ProcessRecord) -> None:
            self._running[place] = record
            if self._ended.is_set():
                stop(record, delegation.store, _STOP_GRACE)

        try:
            return delegation.run(child.request, dry_run=self.dry_run, strict=self.strict, supervised=started)
        except VancectlError as error:
            return Delegated({"decision": None, "warnings": []}, error=error)
        finally:
            self._running.pop(place, None)

    def _known(self, child: Child) -> Delegated | None:
        """With `resume`: what an earlier run has done for this child; what it left unfinished starts anew."""
        store = self.delegation.store
        if not self.resume or self.dry_run:
            return None
        record = store.find(child.request.session or DEFAULT_SESSION, child.request.name or "")
        if record is None:
            return None
        record = current(record, store)
        if record.status in OPEN:
            record = wait_for(record, store)
        if record.status in _UNFINISHED:
            store.release(record)
            return None
        return Delegated(record.decision, process=record.as_json())

    def _stop_running(self) -> None:
        for record in list(self._running.values()):
            try:
                stop(record, self.delegation.store, _STOP_GRACE)
            except VancectlError:
                continue


def failed(answer: Delegated | None) -> bool:
    """Whether a child did not do what it should: not started, not decided, or not DONE."""
    if answer is None or answer.error is not None:
        return True
    process = answer.process or {}
    return process.get("exitCode") not in {None, 0} or process.get("status") in {*_UNFINISHED, TIMED_OUT}


def summary(answers: Sequence[Delegated | None], document: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    """The plan's answer: counts, then each child in the plan's order."""
    skipped = sum(answer is None for answer in answers)
    bad = sum(failed(answer) for answer in answers if answer is not None)
    return {
        "version": 1,
        "children": len(answers),
        "succeeded": len(answers) - bad - skipped,
        "failed": bad,
        "notStarted": skipped,
        "answers": [document(place) for place in range(len(answers))],
    }
