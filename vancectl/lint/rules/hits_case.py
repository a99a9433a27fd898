"""A phrase that decides a case against what it expects. Where several recipes are hit, the model still decides."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.selector.triggers.index import single_recipe
from vancectl.text.names import canonical


def find(library: Library) -> Iterator[Finding]:
    for case in library.cases:
        hits = library.index.hits(case.task)
        name = single_recipe(hits)
        right, wrong = (tuple(map(canonical, names)) for names in (case.right_names, case.avoid))
        if name is not None and (name in wrong or (right and name not in right)):
            phrase = hits[0].phrase
            expected = " or ".join(case.right_names) or "another"
            place = library.phrase_place(library.by_name[name], phrase)
            yield RULE.at(place, phrase=phrase, task=case.task, case=str(case.place), expected=expected)


RULE = LintRule(
    code="hits-case",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” decides the case “{task}” ({case}), which expects {expected}",
    remedy="change the phrase, or the case",
    why=(
        "The project's cases (`routes.yaml`, `routes/`, or --cases) say which recipe a task must get; this "
        "phrase alone decides otherwise, before any model is asked."
    ),
    find=find,
)
