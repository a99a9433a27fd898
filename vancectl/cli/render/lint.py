"""A report of `recipes lint` for people: file by file, one finding a paragraph, and what it came to."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from vancectl.reading.rule import Severity

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output, Part
    from vancectl.lint.inspection import Report
    from vancectl.reading.finding import Finding

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}


def print_report(report: Report, output: Output, folder: Path, *, passed: bool) -> None:
    """Files under the working directory are named from there."""
    lines: list[list[Part]] = []
    for path, findings in groupby(report.findings, key=lambda finding: finding.place.path):
        shown = path.relative_to(folder) if path.is_relative_to(folder) else path
        lines.append([(str(shown), "bold")])
        for finding in findings:
            lines.extend(_of_finding(finding))
        lines.append([])
    # Only --strict lets a check without an error fail, and then what failed it is worth a word.
    failed = "" if passed or report.count(Severity.ERROR) else "; warnings fail a strict check"
    lines.append([(_summary(report) + failed, "bold" if report.findings else "green")])
    output.styled(lines)


def _of_finding(finding: Finding) -> list[list[Part]]:
    place = finding.place
    where = f"{place.line}:{place.column}" if place.column else str(place.line or "")
    head: list[Part] = [
        (f"  {where:<7}", ""),
        (f"{finding.severity.value:<8}", _STYLES[finding.severity]),
        (f"{finding.code}", "bold"),
    ]
    return [head, [(f"         {finding.sentence()}", "")], [(f"         → {finding.remedy()}", "dim")]]


def _summary(report: Report) -> str:
    counts = [
        f"{number} {severity.value}{'' if number == 1 else 's'}"
        for severity in Severity
        if (number := report.count(severity))
    ]
    silenced = f", {len(report.silenced)} silenced" if report.silenced else ""
    return f"{report.files} recipe files: {', '.join(counts) or 'nothing to report'}{silenced}"
