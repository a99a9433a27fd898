"""The bars that a summary must reach. Without any, every judged case must be right."""

from __future__ import annotations

from dataclasses import dataclass

from vancectl.routes.summary import Summary
from vancectl.routes.verdict import CaseVerdict


@dataclass(frozen=True, slots=True)
class Bars:
    """The least values, from 0 to 1; None where there is no such bar."""

    accuracy: float | None = None
    in_scope_accuracy: float | None = None
    none_precision: float | None = None
    none_recall: float | None = None

    def failed_cases(self, summary: Summary) -> list[str]:
        """What single cases make fail: stale ones always, wrong ones where there is no bar."""
        failed = []
        stale = summary.count(CaseVerdict.STALE)
        if stale:
            failed.append(f"stale: {stale} of {summary.cases} cases; record them again, or pass --allow-stale")
        if not self._bars(summary) and summary.wrong:
            failed.append(f"wrong: {summary.wrong} of {summary.judged} judged cases")
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
