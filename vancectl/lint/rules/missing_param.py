"""A param that a prompt asks for, and that neither the recipe nor a profile gives."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.fields import asked_names, line_of
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.templates.template import prompt_variables


def find(library: Library) -> Iterator[Finding]:
    known = tuple(prompt_variables({}))
    for recipe, keys, asked in asked_names(library):
        profiles = recipe.profiles.values()
        given = {*recipe.params, *(param for profile in profiles for param in profile.get("params") or ())}
        if asked.variable in known and asked.param is not None and asked.param not in given:
            place = line_of(library, recipe, keys, asked.line)
            yield RULE.at(place, field=".".join(keys), param=asked.param)


RULE = LintRule(
    code="missing-param",
    severity=Severity.WARNING,
    sentence="`{field}` asks for the param `{param}`, which the recipe does not have: a start without it fails",
    remedy="give it a value under `params`, or write {{{{ params.{param} | default('…') }}}}",
    why="Every caller has to know that it is needed, and who starts by a task alone cannot give it.",
    find=find,
)
