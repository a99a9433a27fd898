"""A plan from the command line: how far it is, and one answer that holds all children's."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.cli.scope import Scope
    from vancectl.delegation.answer import Delegated
    from vancectl.plan.plan import Child

_PROGRESS_SECONDS = 1.0


class PlanOptions(NamedTuple):
    """What the command line says of a plan."""

    path: Path
    session: str | None
    model: str | None
    jobs: int
    resume: bool
    retry_failed: bool
    fail_fast: bool
    dry_run: bool
    strict: bool
    on_exit: list[str]
    items_from: list[Path]


def run_plan(scope: Scope, output: Output, options: PlanOptions) -> None:
    """The exit status is 3 where a child has failed. Raises UsageError for options that do not go together."""
    from dataclasses import replace

    from vancectl.cli.task import read_text
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.plan.plan import Limits, read_plan
    from vancectl.plan.run import Batch, summary
    from vancectl.process.output import shortened
    from vancectl.text.encoding import STDIN

    if options.retry_failed and not options.resume:
        raise UsageError("--retry-failed belongs to --resume", remedy="give both, or leave it out")
    path, on_exit, dry_run = options.path, options.on_exit, options.dry_run
    limits = Limits(options.items_from, may_call=bool(on_exit) or bool(scope.settings["spawn.planOnExit"]))
    children = read_plan(path, options.session, limits, read_text(path) if str(path) == STDIN else None)
    if on_exit:
        children = [replace(child, request=replace(child.request, on_exit=on_exit)) for child in children]
    scope.report_findings(output)
    delegation = scope.delegation(scope.selector(options.model).select)
    progress = Progress(children, output, "planned" if dry_run else "done")
    batch = Batch(
        delegation, options.jobs, progress.done,
        resume=options.resume, retry_failed=options.retry_failed, fail_fast=options.fail_fast, dry_run=dry_run,
        strict=options.strict,
    )  # fmt: skip
    try:
        answers = batch.run(children)
    except KeyboardInterrupt:
        output.progress(
            f"interrupted: {progress.count} of {len(children)} children have ended, what ran was stopped; "
            "the same command with --resume goes on from here"
        )
        raise

    def document(place: int) -> dict[str, Any]:
        answer = answers[place]
        name = {"name": children[place].request.name}
        if answer is None:
            return name
        whole = answer.as_json()
        whole.update({key: shortened(whole[key]) for key in ("generator", "process") if key in whole})
        return {**name, **whole}

    whole = summary(answers, document, batch.existing, dry_run=dry_run)
    if output.as_json:
        output.document(whole)
    else:
        _print_table(children, answers, output)
        output.prose(_in_words(whole, dry_run=dry_run))
        if dry_run:
            _print_reach(children, output)
    if whole["failed"] or whole["notStarted"]:
        raise typer.Exit(ExitStatus.SPAWN_FAILED)
    if options.strict and any(answer is not None and answer.unanswered for answer in answers):
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)


def _in_words(whole: dict[str, Any], *, dry_run: bool) -> str:
    """The counts in a sentence; those of 0 are left out."""
    if dry_run:
        said = f"{whole['planned']} would be started, {whole['existing']} are there already"
        kinds = {"failed": "could not be started", "none": "would start nothing (NONE)"}
    else:
        said = f"{whole['succeeded']} of {whole['children']} children succeeded, {whole['failed']} failed"
        kinds = {
            "none": "started nothing (NONE)",
            "running": "are still running",
            "notStarted": "were not started",
            "existing": "were there already",
        }
    return ", ".join([said, *(f"{whole[key]} {words}" for key, words in kinds.items() if whole[key])]) + "\n"


def _print_reach(children: list[Child], output: Output) -> None:
    """What a plan reads and calls beside the recipes that it starts."""
    for file in dict.fromkeys(child.items for child in children if child.items is not None):
        output.prose(f"reads {file}\n")
    for argv in dict.fromkeys(tuple(child.request.on_exit) for child in children if child.request.on_exit):
        output.prose(f"calls at the end of a child: {' '.join(argv)}\n")


class Progress:
    """Tells on stderr how far it is: on a terminal now and then, and each child with `--verbose`."""

    def __init__(self, children: list[Child], output: Output, word: str) -> None:
        self._children = children
        self._word = word
        self.count = 0
        self._output = output
        self._lock = threading.Lock()
        self._failed = 0
        self._told = time.monotonic()
        self._watched = sys.stderr is not None and sys.stderr.isatty()

    def done(self, place: int, answer: Delegated) -> None:
        from vancectl.plan.run import failed

        with self._lock:
            self.count += 1
            self._failed += failed(answer)
            name = self._children[place].request.name
            if answer.error is not None:
                self._output.warn(f"{name}: {answer.error.what()}")
            self._output.note(f"{name}: {_status(answer)}")
            last = self.count == len(self._children)
            if self._watched and (last or time.monotonic() - self._told >= _PROGRESS_SECONDS):
                self._told = time.monotonic()
                self._output.progress(f"{self.count} of {len(self._children)} {self._word}, {self._failed} failed")


def _status(answer: Delegated | None) -> str:
    if answer is None:
        return "not started"
    if answer.process is not None:
        return answer.process.status
    return answer.error.what() if answer.error is not None else "planned" if answer.plan is not None else "NONE"


def _print_table(children: list[Child], answers: list[Delegated | None], output: Output) -> None:
    rows = []
    for child, answer in zip(children, answers, strict=True):
        recipe = None
        if answer is not None:
            recipe = answer.fallback.recipe if answer.fallback is not None else answer.decision.recipe
        rows.append((str(child.request.name), _status(answer), str(recipe or ""), child.request.task or ""))
    output.table(("name", "status", "recipe", "task"), rows, empty="no children", one_line=True)
