"""A spawn command in which a task may become an option of the program."""

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
        parts = each.template.parts()
        arguments, code = parts[1:], {found.part for found in filled_code(parts)}
        for placeholder in ("task", "message"):
            alone = next((n for n, part in enumerate(arguments) if part.startswith(f"{{{placeholder}}}")), None)
            if alone is not None and "--" not in arguments[:alone] and arguments[alone] not in code:
                yield RULE.at(each.place, key=each.template.key, placeholder=placeholder)


RULE = LintRule(
    code="task-as-option",
    severity=Severity.WARNING,
    sentence=(
        "`{{{placeholder}}}` is an argument of its own in `{key}`: a task that begins with `-` would be an "
        "option of the program"
    ),
    remedy='put "--" before it, or give the task on stdin',
    why="A task may begin with `-`. Behind `--`, or on stdin, it stays a task.",
    find=find,
)
