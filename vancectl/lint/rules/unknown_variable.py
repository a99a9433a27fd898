"""A variable in a prompt that there is not."""

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
        if asked.variable not in known:
            place = line_of(library, recipe, keys, asked.line)
            yield RULE.at(place, field=".".join(keys), name=asked.variable, known=known, nearest_to=asked.variable)


RULE = LintRule(
    code="unknown-variable",
    severity=Severity.ERROR,
    sentence="`{field}` asks for the variable `{name}`, which there is not{nearest}",
    remedy="use params.NAME for a param; {{% raw %}} … {{% endraw %}} holds braces that are meant as they are",
    why=(
        "A prompt with a hole in it would only show in what a model answers, so that a start with an unknown name is "
        "refused."
    ),
    find=find,
)
