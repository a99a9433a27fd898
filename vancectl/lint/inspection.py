"""The whole check of a library: what the readers and each rule find, less what files allow."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vancectl.errors import CatalogError, Place
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.catalog import EngineCatalog
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.lint.library import Library
from vancectl.lint.outline import Allowance
from vancectl.lint.rules import every_rule, lint_rules
from vancectl.lint.wordlist import WordList
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.routes.case import Cases
from vancectl.settings.settings import Settings

NO_CASES = Cases((), ())


@dataclass(frozen=True, slots=True)
class Silenced:
    """A finding that a comment in its file allows, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a check came to, in the order of files and lines. `files` is how many recipe files were looked at."""

    findings: tuple[Finding, ...]
    silenced: tuple[Silenced, ...]
    files: int

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)


def merged(reports: Sequence[Report]) -> Report:
    """One report of several checks; what two of them tell is told once."""
    findings = {_key(finding): finding for report in reports for finding in report.findings}
    silenced = {_key(each.finding): each for report in reports for each in report.silenced}
    return Report(
        tuple(sorted(findings.values(), key=_order)),
        tuple(sorted(silenced.values(), key=lambda each: _order(each.finding))),
        sum(report.files for report in reports),
    )


def _key(finding: Finding) -> tuple[str, Place, str]:
    return finding.code, finding.place, finding.sentence()


def check(
    cascade: Cascade,
    load_catalog: Callable[[], EngineCatalog],
    load_settings: Callable[[], Settings],
    *,
    words: WordList | None = None,
    cases: Cases = NO_CASES,
    within: Sequence[Path] = (),
) -> Report:
    """Checks everything, since recipes are judged by their neighbours; `within` picks files and folders to tell of."""
    library = Library(cascade, load_settings, load_catalog, words, cases.cases)
    files = [path for path in _files(library) if _is_within(path, within)]
    found = [
        *_readers_findings(library),
        *cases.findings,
        *(finding for rule in lint_rules() for finding in rule.find(library)),
    ]
    places: set[tuple[str, Place]] = set()
    wanted = []
    for finding in found:
        # One place may be wrong in several ways, but is told of each only once, whoever else it clashes with.
        key = (finding.code, finding.place)
        if _is_within(finding.place.path, within) and (finding.place.line == 0 or key not in places):
            places.add(key)
            wanted.append(finding)
    findings, silenced = _silence(library, files, wanted)
    return Report(
        tuple(sorted(findings, key=_order)), tuple(sorted(silenced, key=lambda each: _order(each.finding))), len(files)
    )


def _files(library: Library) -> Iterator[Path]:
    for entry in library.entries:
        yield Path(entry.recipe.path)
        yield from (Path(file.path) for file in entry.shadows)


def _readers_findings(library: Library) -> Iterator[Finding]:
    """What was found as files were read, those that are hidden included, and as the cascade read its folders."""
    yield from library.cascade.findings
    if not isinstance(library.catalog, CatalogError):
        yield from library.catalog.findings
        yield from library.catalog.warnings
    for entry in library.entries:
        yield from _of_recipe(entry.recipe)
        for file in entry.shadows:
            hidden = library.shadowed(file)
            if not (isinstance(hidden, BrokenRecipe) and hidden.findings is file.findings):
                yield from file.findings
            yield from _of_recipe(hidden)


def _of_recipe(recipe: Recipe | BrokenRecipe) -> Sequence[Finding]:
    return recipe.findings if isinstance(recipe, BrokenRecipe) else recipe.warnings


def _is_within(path: Path, within: Sequence[Path]) -> bool:
    return not within or any(path.is_relative_to(each) for each in within)


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return (os.fspath(finding.place.path), finding.place.line, finding.place.column, finding.code)


def _silence(
    library: Library, files: Iterable[Path], findings: Iterable[Finding]
) -> tuple[list[Finding], list[Silenced]]:
    """Findings that no comment allows, those that one does, and what is wrong with the comments themselves.

    What breaks a file cannot be allowed: the file would not work for that.
    """
    by_path: dict[Path, list[Allowance]] = defaultdict(list)
    left: list[Finding] = []
    for path in dict.fromkeys([*files, *(finding.place.path for finding in findings)]):
        if path.suffix == ".yaml" and os.path.isfile(path):
            for allowance in library.outline(path).allowances():
                fault = _fault(allowance)
                if fault is None:
                    by_path[path].append(allowance)
                else:
                    left.append(fault)
    used: set[Place] = set()
    silenced: list[Silenced] = []
    for finding in findings:
        allowed = next(
            (
                each
                for each in by_path[finding.place.path]
                if each.code == finding.code and not finding.breaks and each.covers(finding.place.line)
            ),
            None,
        )
        if allowed is None:
            left.append(finding)
        else:
            used.add(allowed.place)
            silenced.append(Silenced(finding, allowed.reason))
    for allowances in by_path.values():
        left.extend(
            Finding("allow-unused", each.place, {"allowed": each.code}) for each in allowances if each.place not in used
        )
    return left, silenced


def _fault(allowance: Allowance) -> Finding | None:
    known = every_rule()
    if allowance.code not in known:
        data = {"allowed": allowance.code, "known": tuple(known), "nearest_to": allowance.code}
        return Finding("allow-unknown", allowance.place, data)
    if not allowance.reason:
        return Finding("allow-without-reason", allowance.place, {"allowed": allowance.code})
    return None
