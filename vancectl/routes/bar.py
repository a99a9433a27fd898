"""What a run must reach: bars for the ratios, or else every judged case right. All reports say what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from vancectl.routes.summary import Summary
from vancectl.routes.verdict import CaseVerdict

_UNJUDGED = {
    CaseVerdict.UNRECORDED: "`vancectl check --record` asks for them",
    CaseVerdict.ERROR: "the model could not be asked; each case says why",
}


class Result(NamedTuple):
    """What a report tells of the whole run: what failed, and the verdicts with which a case fails it."""

    failures: tuple[str, ...]
    failing: frozenset[CaseVerdict]


@dataclass(frozen=True, slots=True)
class Bars:
    """The least values, from 0 to 1; None where there is no such bar. With `strict` every case must be judged."""

    accuracy: float | None = None
    in_scope_accuracy: float | None = None
    none_precision: float | None = None
    none_recall: float | None = None
    strict: bool = False

    def failing(self, summary: Summary) -> frozenset[CaseVerdict]:
        """The verdicts that make the run fail: stale always, wrong ones unless there are bars that are reached."""
        failing = {CaseVerdict.STALE}
        if not self._bars(summary) or self.not_reached(summary):
            failing.update(verdict for verdict in CaseVerdict if verdict.wrong)
        if self.strict:
            failing.update((CaseVerdict.UNRECORDED, CaseVerdict.ERROR))
        return frozenset(failing)

    def failed_cases(self, summary: Summary) -> list[str]:
        """What single cases make fail: stale ones always, wrong ones where there is no bar, unjudged ones if strict."""
        failed = []
        stale = summary.count(CaseVerdict.STALE)
        if stale:
            failed.append(f"stale: {stale} of {summary.cases} cases; record them again, or pass --allow-stale")
        if not self._bars(summary) and summary.wrong:
            failed.append(f"wrong: {summary.wrong} of {summary.judged} judged cases")
        if self.strict:
            for verdict, remedy in _UNJUDGED.items():
                if summary.count(verdict):
                    failed.append(f"{verdict.value}: {summary.count(verdict)} of {summary.cases} cases; {remedy}")
        return failed

    def not_reached(self, summary: Summary) -> list[str]:
        """The bars that all cases together do not reach."""
        failed = []
        if not summary.judged and not summary.count(CaseVerdict.STALE):
            failed.append("judged: no case could be judged, and a check that checks nothing is no success")
        for name, bar, value in self._bars(summary):
            if value is None:
                failed.append(f"{name}: no case measures it, so it cannot be {bar:g}")
            elif value < bar:
                failed.append(f"{name}: {value:.4f} is below {bar:g}")
        return failed

    def _bars(self, summary: Summary) -> list[tuple[str, float, float | None]]:
        bars = [
            ("accuracy", self.accuracy, summary.accuracy),
            ("in-scope accuracy", self.in_scope_accuracy, summary.in_scope_accuracy),
            ("NONE precision", self.none_precision, summary.none_precision),
            ("NONE recall", self.none_recall, summary.none_recall),
        ]
        return [(name, bar, value) for name, bar, value in bars if bar is not None]
