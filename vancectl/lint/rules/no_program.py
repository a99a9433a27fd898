"""A spawn command whose program is not there."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.readiness import missing_program, spawn_templates
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for each in spawn_templates(library):
        problem = missing_program(each.template)
        if problem is not None:
            yield RULE.at(each.place, problem=problem, key=each.template.key)


RULE = LintRule(
    code="no-program",
    severity=Severity.ERROR,
    sentence="`{key}`: {problem}",
    remedy="install it, or name another",
    why="`delegate` would decide, then fail to start anything.",
    find=find,
)
