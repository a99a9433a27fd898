"""Judges cases by triggers and recordings alone: no key is read, no network touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vancectl.recordings.fingerprint import Changes
from vancectl.recordings.replay import Replay
from vancectl.routes.case import Case
from vancectl.routes.verdict import Judged, Started, judge
from vancectl.selector.decision import Decision

if TYPE_CHECKING:
    from vancectl.model.question import Question
    from vancectl.recordings.recordings import Recordings
    from vancectl.selector.selector import Selector
    from vancectl.selector.semantic.stage import Semantic


@dataclass(frozen=True, slots=True)
class Bench:
    """What cases are judged by: the selector, and stage two that replays.

    `semantic` is None where stage two lacks a part; the selector then says which.
    """

    selector: Selector
    semantic: Semantic | None
    replay: Replay | None
    started: Callable[[Decision, str | None], Started]
    allow_stale: bool = False

    def over(self, recordings: Recordings) -> Bench:
        """The same with the recordings of another file."""
        if self.replay is None or self.semantic is None:
            return self
        replay = Replay(recordings, self.replay.binding, allow_stale=self.allow_stale)
        semantic = replace(self.semantic, model=replay)
        return replace(self, selector=self.selector.asking(semantic), replay=replay, semantic=semantic)

    def question(self, task: str) -> Question | None:
        """What the model would be asked; None where it is not needed, or cannot be asked."""
        if self.semantic is None or not task.strip() or not self.selector.has_recipes:
            return None
        hits = self.selector.index.hits(task)
        return None if self.selector.by_hits(hits) is not None else self.semantic.prompt.question(task, hits)

    def judge(self, case: Case, unasked: Mapping[str, Decision]) -> Judged:
        """`unasked` holds the tasks that could not be recorded in this run, and why."""
        if case.task in unasked:
            return judge(case, [unasked[case.task]], self.started)
        question = self.question(case.task)
        if question is None or self.replay is None:
            return judge(case, [self.selector.select(case.task)], self.started)
        decisions = [self._sample(number).select(case.task) for number in range(case.repeat)]
        return judge(case, decisions, self.started, self.changes(question))

    def changes(self, question: Question) -> Changes | None:
        return self.replay.changes(question) if self.replay is not None else None

    def _sample(self, number: int) -> Selector:
        assert self.replay is not None
        assert self.semantic is not None
        replay = self.replay
        model = Replay(replay.recordings, replay.binding, sample=number, allow_stale=self.allow_stale)
        return self.selector.asking(replace(self.semantic, model=model))
