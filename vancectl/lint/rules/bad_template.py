"""A prompt that is no valid template."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.fields import line_of, templates
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.templates.template import template_fault


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.recipes:
        for keys, text in templates(recipe):
            fault = template_fault(text)
            if fault is None:
                continue
            place = line_of(library, recipe, keys, fault.line)
            yield RULE.at(place, field=".".join(keys), problem=fault.problem)


RULE = LintRule(
    code="bad-template",
    severity=Severity.ERROR,
    sentence="`{field}` is no valid template: {problem}",
    remedy="fix the template, or quote its braces",
    why=(
        "Prompts are templates with `{{ variable }}`, `{% if %}`, `{% elseif %}`, `{% else %}` and `{% for "
        "%}`. One that does not compile fails when the recipe runs."
    ),
    find=find,
)
