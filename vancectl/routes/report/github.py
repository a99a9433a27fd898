"""Workflow commands of GitHub Actions: each becomes an annotation at the case's line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from vancectl.printable import without_controls
from vancectl.routes.coverage import Coverage
from vancectl.routes.report.words import facts, order
from vancectl.routes.summary import Summary
from vancectl.routes.verdict import CaseVerdict, Judged


def render(judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, failures: Sequence[str]) -> str:
    """Failed cases are errors, those that could not be judged warnings, the figures a notice."""
    lines = [_annotation(case) for case in order(judged)]
    lines.extend(f"::error title=routing::{_data(failure)}" for failure in failures)
    if coverage is not None:
        lines.extend(
            f"::warning title=routing coverage::{_data(f'no case exercises the recipe {name}')}"
            for name in coverage.recipes_without
        )
    figures = "; ".join(f"{label} {value}" for label, value in facts(summary) if value)
    return "\n".join([*lines, f"::notice title=routing::{_data(figures)}", ""])


def _annotation(case: Judged) -> str:
    level = "warning" if case.verdict in {CaseVerdict.UNRECORDED, CaseVerdict.ERROR} else "error"
    place = case.case.place
    file, title = _property(_relative(place.path)), _property(f"routing: {case.verdict.value}")
    return f"::{level} file={file},line={place.line},title={title}::{_data(f'{case.case.task!r}: {case.why}')}"


def _relative(path: Path) -> str:
    """As the repository knows it: annotations on absolute paths are not shown in a pull request."""
    top = os.environ.get("GITHUB_WORKSPACE") or os.curdir
    relative = os.path.relpath(path, top)
    return str(path) if relative.startswith("..") else relative.replace(os.sep, "/")


def _data(text: str) -> str:
    return without_controls(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
