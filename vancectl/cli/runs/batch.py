"""A batch from the command line: the file of answers, the bar, and what the exit status is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from vancectl.cli.options import DEFAULT_JOBS, Via

if TYPE_CHECKING:
    from vancectl.batch.answers import AnswerFile
    from vancectl.batch.run import Batch, Tally
    from vancectl.cli.render.output import Output
    from vancectl.cli.scope import Scope
    from vancectl.selector.selector import Selector


class BatchOptions(NamedTuple):
    """What the command line says of a batch."""

    path: Path
    output: Path | None = None
    template: str | None = None
    jobs: int = DEFAULT_JOBS
    via: Via = Via.LIVE
    resume: bool = False
    retry_failed: bool = False
    replay: Path | None = None
    model: str | None = None

    def check(self) -> None:
        """Raises UsageError for options that do not go together."""
        from vancectl.errors import UsageError

        if self.retry_failed and not self.resume:
            raise UsageError("--retry-failed belongs to --resume", remedy="give both, or leave it out")
        if self.resume and self.output is None:
            raise UsageError("--resume needs the file of the answers", remedy="name it with --output")
        if self.replay is not None and self.via is not Via.LIVE:
            raise UsageError("--replay and --via are both given", remedy="leave one of them out")


def run_batch(scope: Scope, output: Output, options: BatchOptions, *, exit_code: bool, strict: bool) -> None:
    """Decides every line. Exits with 4, 2 or 1 as the options and the lines have it."""
    from contextlib import closing

    from vancectl.batch.run import Batch, Tally
    from vancectl.batch.template import Template
    from vancectl.errors import ExitStatus

    options.check()
    template = Template(options.template) if options.template is not None else None
    scope.report_findings(output)
    selector: Selector = scope.selector(options.model, many_tasks=True, replay=options.replay)
    for broken in scope.inventory.broken:
        output.warn(f"broken recipe left out: {broken.fault}")
    run = Batch(selector, output.text, options.jobs, template=template)
    if options.output is None:
        tally = _run(scope, output, run, options, Tally())
    else:
        from vancectl.batch.answers import AnswerFile

        answers = AnswerFile(options.output, resume=options.resume, retry_failed=options.retry_failed)
        with closing(answers):
            tally = _run(scope, output, run, options, answers.tally, answers)
    if strict and tally.unanswered:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)
    if tally.bad_lines:
        raise typer.Exit(ExitStatus.USAGE)
    if exit_code and tally.none:
        raise typer.Exit(ExitStatus.NEGATIVE)


def _run(
    scope: Scope, output: Output, run: Batch, options: BatchOptions, tally: Tally, answers: AnswerFile | None = None
) -> Tally:
    from dataclasses import replace

    from vancectl.batch.run import count_lines, read_lines
    from vancectl.cli.render.progress import Progress

    path = options.path
    lines = None
    if answers is not None:
        run = replace(run, write=answers.write, keyed=True)
        if answers.holds_answers:
            lines = (
                None if os.path.isfile(path) else read_lines(path)
            )  # what is read only once is kept for the second time
            run = replace(run, done=answers.match(run.lines(path, lines), path))
        if answers.earlier:
            output.warn(
                f"{answers.earlier} answers of an earlier version do not say which task they answer; "
                "these tasks are decided again"
            )
    # One decision for the template holds for all items; NONE leaves each item to itself.
    memo = run.selector.select(run.template.text) if run.template is not None else None
    # On a terminal that shows the answers, a bar would stand between them.
    hidden = scope.quiet or (answers is None and output.at_terminal)
    progress = Progress("deciding", lambda: count_lines(path) - sum(run.done), quiet=hidden)
    run = replace(run, memo=memo if memo is not None and memo.matches else None, step=progress.step)
    try:
        if options.via is Via.BATCHES and run.memo is None:
            from vancectl.batch.submitted import select_via_batches

            select_via_batches(run, path, tally, output.warn, lines)
        else:
            run.run(path, tally, lines)
    except KeyboardInterrupt:
        if answers is not None:
            output.progress("interrupted; the same command with --resume goes on from here")
        raise
    finally:
        progress.clear()
    return tally
