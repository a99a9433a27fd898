"""`vancectl check`: routing tests. Judges cases offline; with `--record` it asks the model for what is missing."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.jobs import DEFAULT_JOBS, JobsOption, Via, ViaOption
from vancectl.cli.scope import Scope, scoped
from vancectl.cli.select import JsonOption, ModelOption

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vancectl.cli.output import Output
    from vancectl.inventory.finding import Finding
    from vancectl.routes.case import Case
    from vancectl.routes.check import Bench
    from vancectl.routes.coverage import Coverage
    from vancectl.routes.record import Wanted
    from vancectl.routes.summary import Summary
    from vancectl.routes.verdict import Judged
    from vancectl.selector.decision import Decision
    from vancectl.selector.recording import Recordings
    from vancectl.selector.semantic import Semantic


class Format(StrEnum):
    """How the report is written."""

    TABLE = "table"
    JSON = "json"
    JUNIT = "junit"
    GITHUB = "github"
    TAP = "tap"
    MARKDOWN = "markdown"


app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("check")
@scoped
def check(
    scope: Scope,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE…]", help="Files of cases. [.vance/routes.yaml and .vance/routes/*.yaml]"),
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
    min_accuracy: Annotated[
        float | None, typer.Option("--min-accuracy", metavar="RATIO", min=0, max=1, help="Least share of right cases.")
    ] = None,
    min_in_scope_accuracy: Annotated[
        float | None,
        typer.Option(
            "--min-in-scope-accuracy",
            metavar="RATIO",
            min=0,
            max=1,
            help="The same over the cases for which a recipe is due.",
        ),
    ] = None,
    min_none_precision: Annotated[
        float | None,
        typer.Option(
            "--min-none-precision", metavar="RATIO", min=0, max=1, help="Least share of NONEs that are right."
        ),
    ] = None,
    min_none_recall: Annotated[
        float | None,
        typer.Option(
            "--min-none-recall", metavar="RATIO", min=0, max=1, help="Least share of due NONEs that are given."
        ),
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Also report recipes and triggers that no case exercises.")
    ] = False,
    min_coverage: Annotated[
        float | None,
        typer.Option(
            "--min-coverage", metavar="RATIO", min=0, max=1, help="Least share of recipes and triggers with a case."
        ),
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
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.routes.bar import Bars
    from vancectl.routes.case import read_cases
    from vancectl.routes.names import unknown_names
    from vancectl.routes.summary import summarise
    from vancectl.routes.verdict import CaseVerdict

    started = time.monotonic()
    for bar in (min_accuracy, min_in_scope_accuracy, min_none_precision, min_none_recall, min_coverage):
        if bar is not None and not 0 <= bar <= 1:  # `nan` passes every other comparison
            raise UsageError("a bar is no number from 0 to 1", remedy="write it as in: --min-accuracy 0.95")
    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    paths = _files(scope, files or [])
    read = read_cases(paths)
    findings = [*read.findings, *unknown_names(read.cases, scope.inventory, scope.cascade)]
    if findings:
        raise bad_cases(findings, output)
    for broken in scope.inventory.broken:
        output.warn(f"broken recipe left out: {broken.fault}")
    run = _Run(scope, output, model, allow_stale=allow_stale)
    judged = run.judge(read.cases, replay, record_with=(via, jobs) if record else None)
    if prune:
        run.prune(paths, read.cases)
    summary = summarise(judged, time.monotonic() - started)
    covered = _coverage(scope, read.cases, judged) if coverage or min_coverage is not None else None
    bars = Bars(min_accuracy, min_in_scope_accuracy, min_none_precision, min_none_recall)
    not_reached = bars.not_reached(summary)
    if covered is not None and min_coverage is not None:
        not_reached.extend(covered.failures(min_coverage))
    failures = [*bars.failed_cases(summary), *not_reached]
    chosen = report_format or (Format.JSON if output.as_json else Format.TABLE)
    # Reports that list every case as a test say by each one what fails; only what no case says is added there.
    by_case = chosen in {Format.JUNIT, Format.GITHUB, Format.TAP}
    _print(output, chosen, judged, summary, covered, not_reached if by_case else failures)
    unjudged = summary.count(CaseVerdict.ERROR) + summary.count(CaseVerdict.UNRECORDED)
    for failure in failures:
        output.warn(failure)
    if unjudged:
        output.warn(f"{unjudged} of {summary.cases} cases could not be judged: they need the model; {_advice(record)}")
    if strict and unjudged:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)
    if failures:
        raise typer.Exit(ExitStatus.NEGATIVE)


class _Run:
    """One run over the cases: a bench, and the recordings of each file of cases."""

    def __init__(self, scope: Scope, output: Output, model: str | None, *, allow_stale: bool) -> None:
        from vancectl.routes.assembly import assemble_bench

        self._scope = scope
        self._output = output
        self._model = model
        self._recordings: dict[Path, Recordings] = {}
        self._bench = assemble_bench(scope.cascade, scope.candidates, scope.settings, model, allow_stale=allow_stale)

    def judge(self, cases: Sequence[Case], replay: Path | None, record_with: tuple[Via, int] | None) -> list[Judged]:
        """All verdicts, in the order of the cases."""
        from vancectl.routes.files import recordings_of
        from vancectl.selector.recording import Recordings

        by_file: dict[Path, list[Case]] = {}
        for case in cases:
            by_file.setdefault(replay or recordings_of(case.place.path), []).append(case)
        benches, unasked = {}, {}
        for path, own in by_file.items():
            self._recordings[path] = Recordings.read(path, must_exist=replay is not None and record_with is None)
            benches[path] = self._bench.over(self._recordings[path])
            unasked[path] = self._record(benches[path], path, own, *record_with) if record_with else {}
        return [
            benches[path].judge(case, unasked[path])
            for case in cases
            for path in [replay or recordings_of(case.place.path)]
        ]

    def _record(self, bench: Bench, path: Path, cases: Sequence[Case], via: Via, jobs: int) -> dict[str, Decision]:
        from vancectl.cli.progress import Progress
        from vancectl.routes.record import Recorder, find_wanted
        from vancectl.selector.assembly import assemble_semantic
        from vancectl.selector.model import ModelError

        if bench.replay is None:
            return {}
        wanted = find_wanted(bench, cases)
        if not wanted:
            self._recordings[path].save()
            return {}
        scope = self._scope
        try:
            live = assemble_semantic(scope.cascade, scope.candidates, scope.settings, self._model)
        except ModelError:
            # No key, or nothing to ask: the selector's own decision says why, once for each task.
            selector = scope.selector(self._model)
            return {each.task: selector.select(each.task) for each in wanted}
        if via is Via.BATCHES:
            return self._record_via_batches(bench, path, wanted, live)
        progress = Progress("recording", len(wanted), quiet=scope.quiet)
        try:
            recorder = Recorder(bench, live, self._recordings[path])
            return recorder.record(wanted, jobs, progress.step)
        finally:
            progress.clear()

    def _record_via_batches(
        self, bench: Bench, path: Path, wanted: Sequence[Wanted], live: Semantic
    ) -> dict[str, Decision]:
        from dataclasses import replace

        from vancectl.cli.batches import collect, open_batches
        from vancectl.routes.record import Recorder
        from vancectl.selector.batches import Answered, request_id

        batches = open_batches(live, self._output)
        name = live.model.name
        questions = {
            request_id(name, question, number): question
            for each in wanted
            for question in [bench.question(each.task)]
            if question is not None
            for number in range(each.missing)
        }
        replies = collect(batches, questions)
        once = replace(live, max_attempts=1)
        recorder = Recorder(bench, once, self._recordings[path], lambda number: Answered(name, replies, number))
        unasked = recorder.record(wanted, 1, lambda: None)
        batches.close()
        return unasked

    def prune(self, files: Sequence[Path], cases: Sequence[Case]) -> None:
        """Cases in files that were not named keep their recordings, too."""
        from vancectl.errors import UsageError
        from vancectl.routes.case import read_cases
        from vancectl.routes.files import unnamed_siblings

        others = read_cases(unnamed_siblings(files))
        broken = next((finding for finding in others.findings if finding.code != "no-cases"), None)
        if broken is not None:
            raise UsageError(
                f"nothing is pruned, since other cases here cannot be read: {broken.sentence()}",
                where=broken.place,
                remedy=broken.remedy(),
            )
        used = {case.task for case in (*cases, *others.cases)}
        for path, recordings in self._recordings.items():
            dropped = recordings.prune(used)
            recordings.save()
            if dropped:
                self._output.warn(f"{path}: {len(dropped)} recordings dropped that no case uses")


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


def bad_cases(findings: Sequence[Finding], output: Output) -> Exception:
    """All but the last are said here; the last ends the command."""
    from vancectl.errors import UsageError

    errors = [UsageError(finding.sentence(), where=finding.place, remedy=finding.remedy()) for finding in findings]
    for error in errors[:-1]:
        output.error(error)
    return errors[-1]


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
    failures: Sequence[str],
) -> None:
    if chosen is Format.TABLE:
        from vancectl.cli.check_table import print_tables

        print_tables(output, judged, summary, coverage)
        return
    if chosen is Format.JSON:
        from vancectl.routes.report.document import document

        output.document(document(judged, summary, coverage, failures))
        return
    from importlib import import_module

    module = import_module(f"vancectl.routes.report.{chosen.value}")
    output.prose(module.render(judged, summary, coverage, failures))
