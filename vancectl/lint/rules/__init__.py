"""The rules that only `recipes lint` holds files to, since they take the whole library, or more time than a start has.

Each module here is one rule: a `LintRule` with the name `RULE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from vancectl.lint.rule import LintRule
from vancectl.reading.rule import Rule
from vancectl.reading.rules import RULES


@cache
def lint_rules() -> tuple[LintRule, ...]:
    """In the order of their files' names."""
    modules = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{module}").RULE for module in modules)


def every_rule() -> Mapping[str, Rule]:
    """By code: the readers' rules, then lint's own."""
    return {**RULES, **{rule.code: rule for rule in lint_rules()}}
