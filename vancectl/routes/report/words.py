"""What the reports for people have in common: which cases they show first, and the figures in words."""

from __future__ import annotations

from collections.abc import Sequence

from vancectl.routes.summary import Summary
from vancectl.routes.verdict import CaseVerdict, Judged

_TOKENS = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadTokens": "read from the cache",
    "cacheWriteTokens": "written to the cache",
}


def order(judged: Sequence[Judged]) -> list[Judged]:
    """The cases that are not right: wrong ones first, then stale, unrecorded and failed ones, each in their order."""
    rank = {CaseVerdict.STALE: 1, CaseVerdict.ERROR: 2, CaseVerdict.UNRECORDED: 3}
    shown = [case for case in judged if case.verdict is not CaseVerdict.RIGHT]
    return sorted(shown, key=lambda case: rank.get(case.verdict, 0))


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Labels and values; a label without a value is left out by who prints them."""
    counts = [
        ("right", summary.count(CaseVerdict.RIGHT)),
        ("wrong", summary.wrong),
        ("stale", summary.count(CaseVerdict.STALE)),
        ("unrecorded", summary.count(CaseVerdict.UNRECORDED)),
        ("errors", summary.count(CaseVerdict.ERROR)),
    ]
    tokens = [f"{summary.tokens[key]:,} {word}" for key, word in _TOKENS.items() if summary.tokens.get(key)]
    return [
        ("cases", f"{summary.cases}: " + ", ".join(f"{count} {word}" for word, count in counts if count)),
        ("accuracy", as_share(summary.accuracy)),
        ("in scope", as_share(summary.in_scope_accuracy)),
        ("NONE precision", as_share(summary.none_precision)),
        ("NONE recall", as_share(summary.none_recall)),
        ("stages", ", ".join(f"{stage} {count}" for stage, count in summary.stages.items())),
        ("stage one only", str(summary.stage_only or "")),
        ("tokens", f"{', '.join(tokens)}, in all answers as recorded" if tokens else ""),
        ("time", f"{summary.seconds:g} s"),
    ]


def as_share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def name_of(case: Judged) -> str:
    """A case's name for a test runner: its id where it has one, else its task."""
    return case.case.id or case.case.task
