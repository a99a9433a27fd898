"""The Test Anything Protocol, version 14: a line a case, with the evidence as a YAML block below those that fail."""

from __future__ import annotations

import json
from collections.abc import Sequence

from vancectl.routes.bar import Result
from vancectl.routes.coverage import Coverage
from vancectl.routes.report.words import name_of
from vancectl.routes.summary import Summary
from vancectl.routes.verdict import CaseVerdict, Judged
from vancectl.text.printable import plain_line


def render(judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, result: Result) -> str:
    """What fails the run is `not ok`; bars that were not reached are tests of their own."""
    lines = ["TAP version 14", f"1..{len(judged) + len(result.failures)}"]
    for number, case in enumerate(judged, 1):
        lines.extend(_lines(number, case, fails=case.verdict in result.failing))
    for number, failure in enumerate(result.failures, len(judged) + 1):
        lines.append(f"not ok {number} - {_description(failure)}")
    return "\n".join([*lines, ""])


def _lines(number: int, case: Judged, *, fails: bool) -> list[str]:
    said = f"{number} - {_description(name_of(case))}"
    if case.verdict is CaseVerdict.RIGHT:
        return [f"ok {said}"]
    if not fails and not case.verdict.judged:
        return [f"ok {said} # SKIP {case.verdict.value}: {_description(case.why)}"]
    block = {
        "verdict": case.verdict.value,
        "message": case.why,
        "task": case.case.task,
        "at": {"file": str(case.case.place.path), "line": case.case.place.line},
    }
    # JSON is YAML; each value on one line.
    return [
        # A wrong case that the bars bear: known to be so, and no failure.
        f"not ok {said}" + ("" if fails else f" # TODO {case.verdict.value}: the bars are reached"),
        "  ---",
        *(f"  {key}: {json.dumps(value, ensure_ascii=True)}" for key, value in block.items()),
        "  ...",
    ]


def _description(text: str) -> str:
    """`#` begins a directive, and a number alone would be one too many."""
    return plain_line(text).replace("\\", "\\\\").replace("#", "\\#") or "(blank task)"
