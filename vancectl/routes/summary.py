"""The figures over all cases. Every ratio is None where there is nothing to measure it by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from vancectl.routes.case import NONE
from vancectl.routes.verdict import CaseVerdict, Judged

_TOKENS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_tokens",
    "cacheWriteTokens": "cache_write_tokens",
}


@dataclass(frozen=True, slots=True)
class RecipeFigures:
    """One recipe's cases: due, decided, and both at once."""

    recipe: str
    due: int
    decided: int
    right: int

    @property
    def precision(self) -> float | None:
        return ratio(self.right, self.decided)

    @property
    def recall(self) -> float | None:
        return ratio(self.right, self.due)

    def as_json(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe,
            "due": self.due,
            "decided": self.decided,
            "right": self.right,
            "precision": self.precision,
            "recall": self.recall,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """`judged` counts the cases with a verdict of right or wrong: accuracies are over these alone."""

    cases: int
    judged: int
    verdicts: dict[str, int]
    accuracy: float | None
    in_scope_accuracy: float | None
    none_precision: float | None
    none_recall: float | None
    recipes: tuple[RecipeFigures, ...]
    confusions: tuple[tuple[str, str, int], ...]
    stages: dict[str, int]
    tokens: dict[str, int]
    stage_only: int
    seconds: float

    def count(self, verdict: CaseVerdict) -> int:
        return self.verdicts.get(verdict.value, 0)

    @property
    def wrong(self) -> int:
        return self.judged - self.count(CaseVerdict.RIGHT)

    def as_json(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "judged": self.judged,
            "right": self.count(CaseVerdict.RIGHT),
            "wrong": self.wrong,
            "unrecorded": self.count(CaseVerdict.UNRECORDED),
            "stale": self.count(CaseVerdict.STALE),
            "errors": self.count(CaseVerdict.ERROR),
            "verdicts": self.verdicts,
            "accuracy": self.accuracy,
            "inScopeAccuracy": self.in_scope_accuracy,
            "nonePrecision": self.none_precision,
            "noneRecall": self.none_recall,
            "stages": self.stages,
            "stageOneOnly": self.stage_only,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "confusions": [
                {"expected": expected, "decided": decided, "count": count}
                for expected, decided, count in self.confusions
            ],
            "recipes": [figures.as_json() for figures in self.recipes],
        }


def summarise(judged: Sequence[Judged], seconds: float) -> Summary:
    """The figures, and the time that the whole run took."""
    verdicts = Counter(case.verdict.value for case in judged)
    certain = [case for case in judged if case.verdict.judged]
    right = verdicts[CaseVerdict.RIGHT.value]
    in_scope = [case for case in certain if case.case.in_scope]
    figures = _figures(case for case in certain if case.truth is not None and case.decided is not None)
    none = figures.pop(NONE, RecipeFigures(NONE, 0, 0, 0))
    confused = Counter(
        (case.truth, case.decided)
        for case in certain
        if case.truth is not None and case.decided is not None and case.truth != case.decided
    )
    uses = [use for case in judged for use in case.uses]
    return Summary(
        cases=len(judged),
        judged=len(certain),
        verdicts={verdict.value: verdicts[verdict.value] for verdict in CaseVerdict if verdicts[verdict.value]},
        accuracy=ratio(right, len(certain)),
        in_scope_accuracy=ratio(sum(case.verdict is CaseVerdict.RIGHT for case in in_scope), len(in_scope)),
        none_precision=none.precision,
        none_recall=none.recall,
        recipes=tuple(figures[name] for name in sorted(figures)),
        confusions=tuple(
            (expected, decided, count)
            for (expected, decided), count in sorted(confused.items(), key=lambda item: (-item[1], item[0]))
        ),
        stages=dict(sorted(Counter(case.decision.stage.value for case in judged).items())),
        tokens={key: sum(getattr(use, field) or 0 for use in uses) for key, field in _TOKENS.items()},
        stage_only=sum(case.stage_only for case in judged),
        seconds=round(seconds, 3),
    )


def _figures(judged: Iterable[Judged]) -> dict[str, RecipeFigures]:
    due: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    both: Counter[str] = Counter()
    for case in judged:
        assert case.truth is not None
        assert case.decided is not None
        due[case.truth] += 1
        decided[case.decided] += 1
        both[case.truth] += case.truth == case.decided
    return {name: RecipeFigures(name, due[name], decided[name], both[name]) for name in due.keys() | decided.keys()}


def ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
