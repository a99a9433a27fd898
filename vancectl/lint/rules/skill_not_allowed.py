"""A skill that is active from the start and not allowed."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.recipes:
        allowed = recipe.fields.get("allowedSkills")
        for skill in recipe.fields.get("defaultActiveSkills", ()):
            if allowed is not None and skill not in allowed:
                yield RULE.at(library.outline(recipe.path).item(("defaultActiveSkills",), skill), skill=skill)


RULE = LintRule(
    code="skill-not-allowed",
    severity=Severity.WARNING,
    sentence="the skill `{skill}` is active but not in `allowedSkills`",
    remedy="allow it, or drop it",
    why="With `allowedSkills` given, a skill that is not in it cannot be active from the start.",
    find=find,
)
