"""`vancectl recipes lint`: what is wrong with the library, for people, CI and code hosts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.completion import complete_rule
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.inventory.cascade import Cascade
    from vancectl.lint.inspection import Report
    from vancectl.routes.case import Cases


class ReportFormat(StrEnum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


@scoped
def lint_recipes(
    scope: Scope,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH…]", help="Report only these files and folders.")
    ] = None,
    report_format: Annotated[
        ReportFormat | None, typer.Option("--format", help="How to report. [text on a terminal, else json]")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 on warnings, too.")] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="CODE",
            help="Say what a rule is for; `all` lists every rule.",
            autocompletion=complete_rule,
        ),
    ] = None,
    cases: Annotated[
        list[Path] | None,
        typer.Option("--cases", metavar="FILE", help="Hold phrases against these cases. [the project's]"),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Check recipes, settings and catalog, and report what will go wrong."""
    from vancectl.errors import ExitStatus
    from vancectl.inventory.catalog import load_catalog
    from vancectl.lint.inspection import check, merged
    from vancectl.lint.wordlist import find_word_list
    from vancectl.reading.rule import Severity

    output = scope.output(as_json=json_output or report_format is ReportFormat.JSON)
    if explain is not None:
        _explain(explain, output)
        return
    words = find_word_list()
    if words is None:
        output.note("the rules on common words need a list of words: pip install 'vancectl[lint]'")
    inside, outside = _sorted_out(scope, paths or [])
    read = _cases(scope, cases)
    reports = []
    # What is in a layer is judged there, whatever else is named.
    for cascade, within in _cascades(scope, inside, outside):
        judged = check(cascade, load_catalog, lambda: scope.settings, words=words, cases=read, within=within)
        reports.append(judged)
    report = merged(reports)
    passed = not (report.count(Severity.ERROR) or (strict and report.count(Severity.WARNING)))
    _print(report, output, report_format, word_list=words is not None, strict=strict, passed=passed)
    if not passed:
        raise typer.Exit(ExitStatus.NEGATIVE)


def _sorted_out(scope: Scope, paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The paths that are in a layer, or that are no recipes by where they stand; and all others."""
    from vancectl.errors import UsageError

    inside: list[Path] = []
    outside: list[Path] = []
    for path in paths:
        absolute = path.absolute()
        if not os.path.exists(absolute):
            raise UsageError(f"there is no {path}", remedy="name a recipe's file or a folder")
        (inside if _is_known(scope, absolute) else outside).append(absolute)
    return inside, outside


def _is_known(scope: Scope, path: Path) -> bool:
    from vancectl.disk.folders import FOLDER_NAMES
    from vancectl.inventory.layer import LayerKind

    for layer in scope.layers.nearest_first:
        folder = layer.directory
        # Beside a layer's recipes stand its settings, cases and catalog, which are no recipes.
        around = folder if layer.kind is LayerKind.DIRECTORY else folder.parent
        if path.is_relative_to(around) or folder.is_relative_to(path):
            return True
    parts = path.parts
    number = next((number for number, part in enumerate(parts) if part in FOLDER_NAMES), len(parts))
    below = parts[number + 1 :]
    return path.name == "settings.yaml" or (os.path.isfile(path) and bool(below) and below[0] != "recipes")


def _cascades(scope: Scope, inside: list[Path], outside: list[Path]) -> Iterator[tuple[Cascade, list[Path]]]:
    """What to check, and the paths to tell of in it.

    A folder that is in no layer is checked as if it were the nearest: so a library can be tried before it is used.
    """
    from vancectl.inventory.cascade import Cascade
    from vancectl.inventory.layer import Layer, LayerKind

    if inside or not outside:
        yield scope.cascade, inside
    if outside:
        folders = dict.fromkeys(path if os.path.isdir(path) else path.parent for path in outside)
        extra = [Layer(LayerKind.DIRECTORY, folder) for folder in folders]
        layers = scope.layers._replace(nearest_first=(*extra, *scope.layers.nearest_first))
        yield Cascade(layers, use_cache=False), outside


def _cases(scope: Scope, given: Sequence[Path] | None) -> Cases:
    from vancectl.routes.case import read_cases
    from vancectl.routes.files import default_files, not_read

    project = scope.layers.project
    if given or project is None:
        return read_cases(given or ())
    read = read_cases(default_files(project.folder))
    return read._replace(findings=(*read.findings, *not_read(project.folder)))


def _print(
    report: Report, output: Output, wanted: ReportFormat | None, *, word_list: bool, strict: bool, passed: bool
) -> None:
    from vancectl.lint import formats
    from vancectl.text.annotation import workspace

    if wanted is ReportFormat.GITHUB:
        output.text("".join(f"{line}\n" for line in formats.github_lines(report, strict=strict)))
    elif wanted is ReportFormat.SARIF:
        output.document(formats.as_sarif(report, workspace()))
    elif output.as_json and wanted is not ReportFormat.TEXT:
        output.document(formats.as_json(report, word_list=word_list, passed=passed))
    else:
        from vancectl.cli.render.lint import print_report

        print_report(report, output, Path.cwd(), passed=passed)


def _explain(code: str, output: Output) -> None:
    from vancectl.errors import UsageError
    from vancectl.lint.rules import every_rule
    from vancectl.text.names import did_you_mean, near_names

    rules = every_rule()
    if code == "all":
        rows = [
            {"code": each, "severity": rule.severity.value, "sentence": rule.sentence} for each, rule in rules.items()
        ]
        if output.as_json:
            output.array(rows)
        else:
            cells = ((row["code"], row["severity"], row["sentence"]) for row in rows)
            output.table(("code", "severity", "says"), cells, empty="no rules")
        return
    if code not in rules:
        near = near_names(code, rules, most=1)
        raise UsageError(f"there is no rule `{code}`", remedy=did_you_mean(near, "`--explain all` lists every rule"))
    rule = rules[code]
    facts = {
        "code": code,
        "severity": rule.severity.value,
        "sentence": rule.sentence,
        "remedy": rule.remedy,
        "explanation": rule.why,
    }
    if output.as_json:
        output.document(facts)
    else:
        output.facts(
            [("rule", code), ("severity", facts["severity"]), ("says", rule.sentence), ("remedy", rule.remedy),
             ("why", facts["explanation"]), ("allow it", f"# lint: allow {code} - the reason")]
        )  # fmt: skip
