"""`vancectl check`: routing tests. Judges cases offline; with `--record` it asks the model for what is missing."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.options import DEFAULT_JOBS, JobsOption, JsonOption, ModelOption, Via, ViaOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vancectl.cli.render.output import Output
    from vancectl.routes.bar import Result
    from vancectl.routes.case import Case, Cases
    from vancectl.routes.coverage import Coverage
    from vancectl.routes.summary import Summary
    from vancectl.routes.verdict import Judged


class Format(StrEnum):
    """How the report is written."""

    TABLE = "table"
    JSON = "json"
    JUNIT = "junit"
    GITHUB = "github"
    TAP = "tap"
    MARKDOWN = "markdown"


def _ratio(flag: str, says: str) -> Any:
    return typer.Option(flag, metavar="RATIO", min=0, max=1, help=says)


app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("check")
@scoped
def check(
    scope: Scope,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE…]", help="Files of cases. [.vance/routes.yaml and those below .vance/routes/]"),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Ask the model for answers that are missing or stale.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Drop recordings that no case uses.")] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", metavar="FILE", help="The file of recordings. [routes.recorded.jsonl beside the cases]"
        ),
    ] = None,
    allow_stale: Annotated[bool, typer.Option("--allow-stale", help="Let stale recordings count.")] = False,
    jobs: JobsOption = DEFAULT_JOBS,
    via: ViaOption = Via.LIVE,
    model: ModelOption = None,
    min_accuracy: Annotated[float | None, _ratio("--min-accuracy", "Least share of right cases.")] = None,
    min_in_scope_accuracy: Annotated[
        float | None, _ratio("--min-in-scope-accuracy", "The same over the cases for which a recipe is due.")
    ] = None,
    min_none_precision: Annotated[
        float | None, _ratio("--min-none-precision", "Least share of NONEs that are right.")
    ] = None,
    min_none_recall: Annotated[
        float | None, _ratio("--min-none-recall", "Least share of due NONEs that are given.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Also report recipes and triggers that no case exercises.")
    ] = False,
    min_coverage: Annotated[
        float | None, _ratio("--min-coverage", "Least share of recipes and triggers with a case.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 4 where a case could not be judged for want of the model.")
    ] = False,
    report_format: Annotated[
        Format | None, typer.Option("--format", help="The report's format. [table on a terminal, json in a pipe]")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Check that tasks get the recipes that cases say, without a key and without a network."""
    from vancectl.cli.render.check import bad_cases
    from vancectl.cli.runs.check import CheckRun
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.routes.bar import Bars, Result
    from vancectl.routes.names import unknown_names
    from vancectl.routes.summary import summarise
    from vancectl.routes.verdict import CaseVerdict

    started = time.monotonic()
    for bar in (min_accuracy, min_in_scope_accuracy, min_none_precision, min_none_recall, min_coverage):
        if bar is not None and not 0 <= bar <= 1:  # `nan` passes every other comparison
            raise UsageError("a bar is no number from 0 to 1", remedy="write it as in: --min-accuracy 0.95")
    output = scope.output(as_json=json_output)
    paths, read = _read(scope, output, files or [])
    findings = [*read.findings, *unknown_names(read.cases, scope.inventory, scope.cascade)]
    if findings:
        raise bad_cases(findings, output)
    for broken in scope.inventory.broken:
        output.warn(f"broken recipe left out: {broken.fault}")
    run = CheckRun(scope, output, model, allow_stale=allow_stale)
    try:
        judged = run.judge(read.cases, replay, (via, jobs) if record else None, prune=prune)
        if prune:
            run.prune(paths, read.cases)
    finally:
        run.close()
    summary = summarise(judged, time.monotonic() - started)
    covered = _coverage(scope, read.cases, judged) if coverage or min_coverage is not None else None
    bars = Bars(min_accuracy, min_in_scope_accuracy, min_none_precision, min_none_recall, strict)
    not_reached = bars.not_reached(summary)
    if covered is not None and min_coverage is not None:
        not_reached.extend(covered.failures(min_coverage))
    failures = [*bars.failed_cases(summary), *not_reached]
    chosen = report_format or (Format.JSON if output.as_json else Format.TABLE)
    # Reports that list every case as a test say by each one what fails; only what no case says is added there.
    by_case = chosen in {Format.JUNIT, Format.GITHUB, Format.TAP}
    shown = Result(tuple(not_reached if by_case else failures), bars.failing(summary))
    _print(output, chosen, judged, summary, covered, shown)
    unjudged = summary.count(CaseVerdict.ERROR) + summary.count(CaseVerdict.UNRECORDED)
    for failure in failures:
        output.warn(failure)
    if unjudged and not strict:
        output.warn(f"{unjudged} of {summary.cases} cases could not be judged: they need the model; {_advice(record)}")
    if strict and unjudged:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)
    if failures:
        raise typer.Exit(ExitStatus.NEGATIVE)


def _read(scope: Scope, output: Output, files: list[Path]) -> tuple[list[Path], Cases]:
    """The cases. What other programs one machine has must not make another's answers stale: they are asked for."""
    from vancectl.routes.case import read_cases
    from vancectl.routes.files import not_read

    wants_sources, scope.with_sources = scope.with_sources, False
    for finding in not_read(scope.layers.project.folder) if scope.layers.project is not None and not files else ():
        output.warn(finding.line())
    paths = _files(scope, files)
    read = read_cases(paths)
    if wants_sources and any(case.with_sources for case in read.cases):
        scope.bring_sources()
    scope.report_findings(output)
    return paths, read


def _files(scope: Scope, given: list[Path]) -> list[Path]:
    from vancectl.errors import UsageError
    from vancectl.routes.files import as_typed, default_files

    if given:
        return list(dict.fromkeys(given))
    project = scope.layers.project
    found = [as_typed(file) for file in default_files(project.folder)] if project is not None else []
    if not found:
        where = str(project.folder / "routes.yaml") if project is not None else ".vance/routes.yaml"
        raise UsageError("there are no cases to check", remedy=f"write them into {where}, or name a file")
    return found


def _coverage(scope: Scope, cases: Iterable[Case], judged: Sequence[Judged]) -> Coverage:
    from vancectl.routes.coverage import measure

    return measure(scope.inventory.recipes, judged)


def _advice(record: bool) -> str:
    return "see why in the report" if record else "`vancectl check --record` asks it, --strict makes this a failure"


def _print(
    output: Output,
    chosen: Format,
    judged: Sequence[Judged],
    summary: Summary,
    coverage: Coverage | None,
    result: Result,
) -> None:
    if chosen is Format.TABLE:
        from vancectl.cli.render.check import print_tables

        print_tables(output, judged, summary, coverage, result)
        return
    if chosen is Format.JSON:
        from vancectl.routes.report.document import document

        output.document(document(judged, summary, coverage, result))
        return
    from importlib import import_module

    module = import_module(f"vancectl.routes.report.{chosen.value}")
    output.prose(module.render(judged, summary, coverage, result))
