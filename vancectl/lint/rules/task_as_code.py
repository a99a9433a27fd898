"""A spawn command in which the task would be run as code."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.readiness import spawn_templates
from vancectl.lint.rule import LintRule
from vancectl.process.code import filled_code
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for each in spawn_templates(library):
        for code in filled_code(each.template.parts())[:1]:
            yield RULE.at(each.place, key=each.template.key, placeholder=code.placeholder, program=code.program)


RULE = LintRule(
    code="task-as-code",
    severity=Severity.ERROR,
    sentence=(
        "`{{{placeholder}}}` in `{key}` is read as code by `{program}`: a task with `$(…)` or quotes would be run"
    ),
    remedy='make it an argument of its own, as in [sh, -c, \'agent "$1"\', sh, "{{task}}"]',
    why=(
        "Tasks, and what recipes hold, are other people's words. Behind `sh -c`, in `python -c` or on the "
        "far side of `ssh` they are a program."
    ),
    find=find,
)
