"""The report as one JSON document; keys are only ever added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vancectl.routes.bar import Result
from vancectl.routes.coverage import Coverage
from vancectl.routes.summary import Summary
from vancectl.routes.verdict import Judged

VERSION = 1


def document(judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, result: Result) -> dict[str, Any]:
    return {
        "version": VERSION,
        "passed": not result.failures,
        "failures": list(result.failures),
        "summary": summary.as_json(),
        "coverage": coverage.as_json() if coverage is not None else None,
        "cases": [case.as_json() for case in judged],
    }
