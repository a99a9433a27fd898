"""A report for machines: JSON, GitHub's annotations, SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vancectl import __version__
from vancectl.lint.inspection import Report
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Rule, Severity
from vancectl.text.annotation import annotation

VERSION = 1
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def as_json(report: Report, *, word_list: bool, passed: bool) -> dict[str, Any]:
    """The whole report; `data` are the pieces of a finding's sentence, for programs."""
    return {
        "version": VERSION,
        "files": report.files,
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "notes": report.count(Severity.NOTE),
        "passed": passed,
        "wordList": word_list,
        "findings": [finding_as_json(finding) for finding in report.findings],
        "silenced": [{**finding_as_json(each.finding), "reason": each.reason} for each in report.silenced],
    }


def finding_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "path": str(finding.place.path),
        "line": finding.place.line or None,
        "column": finding.place.column or None,
        "message": finding.sentence(),
        "remedy": finding.remedy(),
        "data": {key: value for key, value in finding.data.items() if key not in {"known", "nearest_to"}},
    }


def github_lines(report: Report, *, strict: bool) -> Iterator[str]:
    """Annotations of a change; with `strict` a warning fails the check, and so is an error."""
    for finding in report.findings:
        level = _GITHUB[finding.severity]
        if strict and finding.severity is Severity.WARNING:
            level = "error"
        place = finding.place
        text = f"{finding.sentence()} ({finding.remedy()})"
        yield annotation(level, text, finding.code, place.path, place.line, place.column)


def as_sarif(report: Report, folder: Path) -> dict[str, Any]:
    """SARIF 2.1.0: one run; silenced findings are results with a suppression."""
    found = (*report.findings, *(each.finding for each in report.silenced))
    rules = {finding.code: finding.rule for finding in found}
    codes = list(rules)
    results = [_result(finding, codes, folder) for finding in report.findings]
    for each in report.silenced:
        result = _result(each.finding, codes, folder)
        results.append({**result, "suppressions": [{"kind": "inSource", "justification": each.reason}]})
    driver = {
        "name": "vancectl",
        "version": __version__,
        "rules": [_sarif_rule(rule) for rule in rules.values()],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {"HERE": {"uri": folder.as_uri() + "/"}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.sentence},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _result(finding: Finding, codes: list[str], folder: Path) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(finding.place.path, folder)}
    if finding.place.line:
        region = {"startLine": finding.place.line}
        if finding.place.column:
            region["startColumn"] = finding.place.column
        location["region"] = region
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity.value,
        "message": {"text": f"{finding.sentence()} ({finding.remedy()})"},
        "locations": [{"physicalLocation": location}],
    }


def _artifact(path: Path, folder: Path) -> dict[str, str]:
    from urllib.parse import quote

    if path.is_relative_to(folder):
        return {"uri": quote(path.relative_to(folder).as_posix()), "uriBaseId": "HERE"}
    return {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}
