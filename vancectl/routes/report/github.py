"""Annotations of GitHub Actions at the cases' lines: what fails the run is an error, everything else a warning."""

from __future__ import annotations

from collections.abc import Sequence

from vancectl.routes.bar import Result
from vancectl.routes.coverage import Coverage
from vancectl.routes.report.words import facts, order
from vancectl.routes.summary import Summary
from vancectl.routes.verdict import Judged
from vancectl.text.annotation import annotation


def render(judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, result: Result) -> str:
    """The figures are a notice."""
    lines = [_annotation(case, fails=case.verdict in result.failing) for case in order(judged)]
    lines.extend(annotation("error", failure, "routing") for failure in result.failures)
    if coverage is not None:
        lines.extend(
            annotation("warning", f"no case exercises the recipe {name}", "routing coverage")
            for name in coverage.recipes_without
        )
    figures = "; ".join(f"{label} {value}" for label, value in facts(summary) if value)
    return "\n".join([*lines, annotation("notice", figures, "routing"), ""])


def _annotation(case: Judged, *, fails: bool) -> str:
    place = case.case.place
    text = f"{case.case.task!r}: {case.why}"
    return annotation(
        "error" if fails else "warning", text, f"routing: {case.verdict.value}", place.path, place.line
    )  # fmt: skip
