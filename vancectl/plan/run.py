"""Carries a plan out: some children at a time, each under a supervisor of its own, so that none is lost with us."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from vancectl.delegation.answer import Delegated, RecordedDecision, Undecided
from vancectl.delegation.delegation import Delegation
from vancectl.delegation.generated import holds_the_name
from vancectl.errors import UsageError, VancectlError
from vancectl.plan.plan import Child
from vancectl.process.status import OPEN, ProcessStatus
from vancectl.process.store import ExistingProcess, ProcessRecord
from vancectl.process.supervision import current, stop, wait_for
from vancectl.selector.decision import Decision

_STOP_GRACE = 5.0
# Statuses that are started anew with `resume`; with `retry_failed`, so are those that had their turn.
_UNFINISHED: Set[str] = frozenset((ProcessStatus.ABANDONED, ProcessStatus.STOPPED))
_FAILED: Set[str] = frozenset((ProcessStatus.FAILED, ProcessStatus.TIMED_OUT))
SUCCEEDED, FAILING, NONE, RUNNING, PLANNED = "succeeded", "failed", "none", "running", "planned"


@dataclass(slots=True)
class Batch:
    """One run of a plan. `done` is told of each child as it ends, with its place in the plan."""

    delegation: Delegation
    jobs: int
    done: Callable[[int, Delegated], None]
    resume: bool = False
    retry_failed: bool = False
    fail_fast: bool = False
    dry_run: bool = False
    strict: bool = False
    existing: set[int] = field(default_factory=set)
    _ended: threading.Event = field(default_factory=threading.Event)
    _running: dict[int, ProcessRecord] = field(default_factory=dict)
    _decided: dict[str, Decision] = field(default_factory=dict)

    def run(self, children: Sequence[Child]) -> list[Delegated | None]:
        """An answer for each child, in the plan's order; None for those that were not started any more.

        Raises UsageError before anything is started where a child's name has a process that was asked for another
        thing. KeyboardInterrupt stops what runs, and is raised again once that has ended.
        """
        answers: list[Delegated | None] = [None] * len(children)
        for child in children:
            self._check_identity(child)
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
            self.existing.add(place)
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
            answer = delegation.run(child.request, dry_run=self.dry_run, strict=self.strict, supervised=started)
        except VancectlError as error:
            return Delegated(Undecided(), error=error)
        finally:
            self._running.pop(place, None)
        if answer.existing:
            self.existing.add(place)
        if answer.plan is not None:
            plan = answer.plan._replace(on_exit=child.request.on_exit, items=child.items)
            answer = replace(answer, plan=plan)
        return answer

    def _find(self, child: Child) -> ProcessRecord | None:
        return self.delegation.store.find(self.delegation.scope(child.request), child.request.name or "")

    def _started_anew(self) -> Set[str]:
        if not self.resume:
            return set()
        return _UNFINISHED | _FAILED if self.retry_failed else _UNFINISHED

    def _check_identity(self, child: Child) -> None:
        """A name alone proves nothing: rows may have been changed since, and names may count them."""
        record = self._find(child)
        if (
            record is not None
            and record.asked not in {None, child.request.digest()}
            and record.status not in self._started_anew()
        ):
            raise UsageError(
                f"the process `{record.name}` was asked for something else than this child",
                where=child.place,
                remedy="undo the change, name the child differently, or take another --session",
            )
        if record is None and child.formerly is not None:
            earlier = self.delegation.store.find(self.delegation.scope(child.request), child.formerly)
            if earlier is not None and earlier.asked is None:
                raise UsageError(
                    "an earlier version has started this plan, and named its children by their place "
                    f"(`{earlier.name}`): what is done is not certain",
                    where=child.place,
                    remedy="name the children in the plan, or take another session",
                )

    def _known(self, child: Child) -> Delegated | None:
        """What an earlier run has done for this child. With `resume`, what it left unfinished starts anew."""
        store = self.delegation.store
        if not self.resume and not self.dry_run:
            return None  # found out as the name is claimed
        record = self._find(child)
        if record is None:
            return None
        anew = self._started_anew()
        if self.dry_run:
            existing = ExistingProcess(record)
            return None if record.status in anew else Delegated(RecordedDecision(record.decision), process=existing)
        record = current(record, store)
        if not record.ended:
            record = wait_for(record, store)
        if holds_the_name(record):
            return None  # what it generates for this child is still to be started
        if record.status in anew:
            store.release(record)
            return None
        return Delegated(RecordedDecision(record.decision), process=record)

    def _stop_running(self) -> None:
        for record in list(self._running.values()):
            try:
                stop(record, self.delegation.store, _STOP_GRACE)
            except VancectlError:
                continue


def failed(answer: Delegated | None) -> bool:
    """Whether a child did not do what it should: not started, not decided, or not DONE."""
    return answer is None or outcome(answer) == FAILING


def outcome(answer: Delegated) -> str:
    """What became of a child. A bare NONE has started nothing, and so it has not succeeded."""
    if answer.error is not None:
        return FAILING
    record = answer.record
    if record is None:
        return NONE if answer.plan is None else PLANNED
    if record.exit_code == 0:
        return SUCCEEDED
    return RUNNING if record.status in OPEN else FAILING


def summary(
    answers: Sequence[Delegated | None],
    document: Callable[[int], dict[str, Any]],
    existing: Collection[int] = (),
    *,
    dry_run: bool = False,
) -> dict[str, Any]:
    """The plan's answer: counts, then each child in the plan's order.

    In a dry run what is there already counts as `existing` only: nothing has come of this run.
    """
    counted = [
        outcome(answer)
        for place, answer in enumerate(answers)
        if answer is not None and not (dry_run and place in existing)
    ]
    kinds = (SUCCEEDED, FAILING, NONE, RUNNING, *((PLANNED,) if dry_run else ()))
    return {
        "version": 1,
        "children": len(answers),
        **{kind: counted.count(kind) for kind in kinds},
        "notStarted": sum(answer is None for answer in answers),
        "existing": len(existing),
        "answers": [document(place) for place in range(len(answers))],
    }
