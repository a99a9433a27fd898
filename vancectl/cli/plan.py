"""`vancectl delegate --plan`: many delegations in one run, and one answer that holds them all."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from vancectl.cli.output import Output
    from vancectl.cli.scope import Scope
    from vancectl.spawn.delegation import Delegated
    from vancectl.spawn.plan import Child

_PROGRESS_SECONDS = 1.0


def run_plan(
    path: Path,
    scope: Scope,
    output: Output,
    session: str | None,
    model: str | None,
    *,
    jobs: int,
    resume: bool,
    fail_fast: bool,
    dry_run: bool,
    strict: bool,
) -> None:
    """The exit status is 3 where a child has failed."""
    from vancectl.errors import ExitStatus
    from vancectl.folders import state_dir
    from vancectl.inventory.catalog import load_catalog
    from vancectl.spawn.batch import Batch, summary
    from vancectl.spawn.delegation import Delegation
    from vancectl.spawn.plan import read_plan
    from vancectl.spawn.session import ProcessStore

    children = read_plan(path, session)
    scope.report_findings(output)
    delegation = Delegation(
        scope.cascade, load_catalog, scope.settings, ProcessStore(state_dir()), scope.selector(model).select
    )
    progress = Progress(children, output)
    batch = Batch(delegation, jobs, progress.done, resume=resume, fail_fast=fail_fast, dry_run=dry_run, strict=strict)
    answers = batch.run(children)

    def document(place: int) -> dict[str, Any]:
        answer = answers[place]
        name = {"name": children[place].request.name}
        return {**name, **answer.as_json()} if answer is not None else name

    whole = summary(answers, document)
    if output.as_json:
        output.document(whole)
    else:
        _print_table(children, answers, output)
        output.prose(f"{whole['succeeded']} of {whole['children']} children succeeded, {whole['failed']} failed\n")
    if whole["failed"] or whole["notStarted"]:
        raise typer.Exit(ExitStatus.SPAWN_FAILED)


class Progress:
    """Tells on stderr how far it is: on a terminal now and then, and each child with `--verbose`."""

    def __init__(self, children: list[Child], output: Output) -> None:
        self._children = children
        self._output = output
        self._lock = threading.Lock()
        self._count = self._failed = 0
        self._told = time.monotonic()
        self._watched = sys.stderr is not None and sys.stderr.isatty()

    def done(self, place: int, answer: Delegated) -> None:
        from vancectl.spawn.batch import failed

        with self._lock:
            self._count += 1
            self._failed += failed(answer)
            name = self._children[place].request.name
            if answer.error is not None:
                self._output.warn(f"{name}: {answer.error.what()}")
            self._output.note(f"{name}: {_status(answer)}")
            last = self._count == len(self._children)
            if self._watched and (last or time.monotonic() - self._told >= _PROGRESS_SECONDS):
                self._told = time.monotonic()
                self._output.progress(f"{self._count} of {len(self._children)} done, {self._failed} failed")


def _status(answer: Delegated | None) -> str:
    if answer is None:
        return "not started"
    if answer.process is not None:
        return str(answer.process["status"])
    return answer.error.what() if answer.error is not None else "planned" if answer.plan is not None else "NONE"


def _print_table(children: list[Child], answers: list[Delegated | None], output: Output) -> None:
    rows = []
    for child, answer in zip(children, answers, strict=True):
        decision = answer.decision if answer is not None else {}
        recipe = answer.fallback.recipe if answer is not None and answer.fallback else decision.get("recipe")
        rows.append((str(child.request.name), _status(answer), str(recipe or ""), child.request.task or ""))
    output.table(("name", "status", "recipe", "task"), rows, empty="no children", one_line=True)
