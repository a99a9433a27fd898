"""A report for machines: JSON, GitHub's annotations, SARIF 2.1.0."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vancectl import __version__
from vancectl.inventory.finding import Finding
from vancectl.inventory.rule import RULES, Severity
from vancectl.lint.check import Report
from vancectl.printable import visible

VERSION = 1
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPED_IN_PROPERTY = {**_ESCAPED, ":": "%3A", ",": "%2C"}


def as_json(report: Report, *, word_list: bool) -> dict[str, Any]:
    """The whole report; `data` are the pieces of a finding's sentence, for programs."""
    return {
        "version": VERSION,
        "files": report.files,
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "notes": report.count(Severity.NOTE),
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


def github_lines(report: Report, folder: Path) -> Iterator[str]:
    """Workflow commands that GitHub turns into annotations of a change; paths are relative to `folder`."""
    for finding in report.findings:
        properties = {"file": _relative(finding.place.path, folder)}
        if finding.place.line:
            properties["line"] = str(finding.place.line)
        if finding.place.column:
            properties["col"] = str(finding.place.column)
        properties["title"] = finding.code
        shown = ",".join(f"{key}={_escape(value, _ESCAPED_IN_PROPERTY)}" for key, value in properties.items())
        text = _escape(f"{finding.sentence()} ({finding.remedy()})", _ESCAPED)
        yield f"::{_GITHUB[finding.severity]} {shown}::{text}"


def _escape(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(character, character) for character in text)


def as_sarif(report: Report, folder: Path) -> dict[str, Any]:
    """SARIF 2.1.0: one run; silenced findings are results with a suppression."""
    codes = list(dict.fromkeys(finding.code for finding in (*report.findings, *(s.finding for s in report.silenced))))
    results = [_result(finding, codes, folder) for finding in report.findings]
    for each in report.silenced:
        result = _result(each.finding, codes, folder)
        results.append({**result, "suppressions": [{"kind": "inSource", "justification": each.reason}]})
    driver = {
        "name": "vancectl",
        "version": __version__,
        "rules": [_sarif_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {"HERE": {"uri": folder.as_uri() + "/"}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_rule(code: str) -> dict[str, Any]:
    from vancectl.lint.explanations import EXPLANATIONS

    return {
        "id": code,
        "shortDescription": {"text": RULES[code].sentence},
        "fullDescription": {"text": EXPLANATIONS.get(code, RULES[code].remedy)},
        "defaultConfiguration": {"level": RULES[code].severity.value},
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


def _relative(path: Path, folder: Path) -> str:
    return visible(os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path))
