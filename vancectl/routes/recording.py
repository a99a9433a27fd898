"""Asks the model for the answers that are missing or stale, several tasks at a time, and writes each down at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from vancectl.model.jobs import Jobs, wait_for_any
from vancectl.model.model import Model
from vancectl.programs.secrets import scrub
from vancectl.recordings.recordings import Recording, Recordings, Sample
from vancectl.recordings.replay import Listener
from vancectl.routes.bench import Bench
from vancectl.routes.case import Case
from vancectl.selector.decision import Decision
from vancectl.selector.semantic.stage import Semantic

# How long answers that are under way are waited for after Ctrl-C.
GRACE = 3.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task whose answers are missing, with those that still hold."""

    task: str
    question: str
    held: tuple[Sample, ...]
    missing: int


def find_wanted(bench: Bench, cases: Iterable[Case]) -> list[Wanted]:
    """Each task once, in the order of the cases; what still holds is bound to what holds now."""
    assert bench.replay is not None
    replay = bench.replay
    repeats: dict[str, int] = {}
    for case in cases:
        repeats[case.task] = max(repeats.get(case.task, 1), case.repeat)
    wanted = []
    for task, count in repeats.items():
        question = bench.question(task)
        if question is None:
            continue
        recorded = replay.recorded(question)
        recording = replay.find(question)
        held = recording.samples[:recorded] if recording is not None else ()
        if recording is not None and recorded:
            replay.recordings.rebind(task, recording, replay.binding.question(question), replay.binding)
        if recorded < count:
            wanted.append(Wanted(task, replay.binding.question(question), held, count - recorded))
    return wanted


class Recorder:
    """Takes answers from a live model into a file of recordings."""

    def __init__(
        self, bench: Bench, live: Semantic, recordings: Recordings, models: Callable[[int], Model] | None = None
    ) -> None:
        """`models` gives the model for the first missing answer to a task, the second, and so on."""
        assert bench.replay is not None
        self._bench = bench
        self._live = live
        self._models = models or (lambda _: live.model)
        self._binding = bench.replay.binding
        self._recordings = recordings

    def record(self, wanted: Iterable[Wanted], jobs: int, on_answer: Callable[[], None]) -> dict[str, Decision]:
        """The tasks that could not be answered, each with the decision that says why.

        Nothing that was answered is lost to Ctrl-C; what is under way then gets a few seconds more.
        """
        by_task = {each.task: each for each in wanted}
        running = Jobs(lambda task: self._answer(by_task[task]), jobs)
        futures = {running.submit(task): task for task in by_task}
        unasked: dict[str, Decision] = {}
        try:
            while futures:
                wait_for_any(futures, 60)
                for future in [future for future in futures if future.done()]:
                    task = futures.pop(future)
                    decision = future.result()
                    if decision is not None:
                        unasked[task] = decision
                    on_answer()
        except KeyboardInterrupt:
            running.stop(GRACE)
            raise
        finally:
            self._recordings.save()
        return unasked

    def _answer(self, wanted: Wanted) -> Decision | None:
        """Asks as often as answers are missing; gives the decision of the first question that got none."""
        samples = list(wanted.held)
        failed = None
        for number in range(wanted.missing):
            listener = Listener(self._models(number))
            decision = self._bench.selector.asking(replace(self._live, model=listener)).select(wanted.task)
            if decision.unanswered:
                failed = decision
                break
            # A key that a reply quotes must not end up in a repository.
            samples.append(tuple(replace(reply, text=scrub(reply.text)) for reply in listener.heard))
        if len(samples) > len(wanted.held):
            recording = Recording(wanted.task, wanted.question, self._binding.id, tuple(samples))
            self._recordings.put(recording, self._binding)
        return failed
