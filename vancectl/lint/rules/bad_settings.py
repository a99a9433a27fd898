"""Settings that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.errors import SettingsError
from vancectl.lint.library import Library
from vancectl.lint.readiness import place_of, templates
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    settings = library.settings
    faults = [settings] if isinstance(settings, SettingsError) else templates(settings).faults
    for error in faults:
        yield RULE.at(place_of(error), problem=error.what(), advice=error.remedy)


RULE = LintRule(
    code="bad-settings",
    severity=Severity.ERROR,
    sentence="the settings cannot be used: {problem}",
    remedy="{advice}",
    why="With broken settings nothing can be started, and the model stage cannot be put together.",
    find=find,
)
