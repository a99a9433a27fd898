"""A recipe of another program in a project that is not trusted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.inventory.foreign import untrusted_files
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    for name, path in untrusted_files(library.cascade.layers):
        yield RULE.at(Place(Path(path)), name=name)


RULE = LintRule(
    code="untrusted-source",
    severity=Severity.WARNING,
    sentence="`{name}` is left out: it lies in a project that is not trusted",
    remedy="`vancectl trust` trusts the folder",
    why="An agent of a clone may run programs as soon as it is started.",
    find=find,
)
