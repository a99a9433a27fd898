"""`vancectl select`: prints the decision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.options import (
    DEFAULT_JOBS,
    ExplainOption,
    JobsOption,
    JsonOption,
    ModelOption,
    ReplayOption,
    RetryFailedOption,
    StrictOption,
    Via,
    ViaOption,
    WhyOption,
)
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.batch.answers import AnswerFile
    from vancectl.batch.run import Batch, Tally
    from vancectl.cli.render.output import Output
    from vancectl.selector.decision import Decision
    from vancectl.selector.selector import Selector


app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("select")
@scoped
def select(
    scope: Scope,
    task: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TASK…]", help="The task in plain words; `-` reads it from standard input."),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the task from a file.")] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch",
            metavar="FILE",
            help="Decide many tasks: JSON lines with `task`, or a task a line; `-` is standard input.",
        ),
    ] = None,
    output_file: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the answers of --batch to this file.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Decide only what has no answer yet in the file of --output.")
    ] = False,
    retry_failed: RetryFailedOption = False,
    template: Annotated[
        str | None,
        typer.Option(
            "--template", metavar="TEXT", help="The task of every item of --batch, with {fields}: decided only once."
        ),
    ] = None,
    jobs: JobsOption = DEFAULT_JOBS,
    via: ViaOption = Via.LIVE,
    replay: ReplayOption = None,
    model: ModelOption = None,
    json_output: JsonOption = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 on NONE.")] = False,
    strict: StrictOption = False,
    explain: ExplainOption = False,
    why: WhyOption = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Show the size of the prompt, part by part, and ask no model.")
    ] = False,
) -> None:
    """Say which recipe fits a task, or that none does, and why."""
    from vancectl.cli.task import check_one_reader, read_task, unread_input
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.text.encoding import STDIN

    output = scope.output(as_json=json_output)
    read = check_one_reader(task == [STDIN], str(file) == STDIN, str(batch) == STDIN)
    words = read_task(task or [], file)
    if batch is not None and words is not None:
        raise UsageError("a task and --batch are both given", remedy="leave one of them out")
    if batch is None and (output_file or resume or template is not None or via is not Via.LIVE):
        raise UsageError("--output, --resume, --template and --via are for --batch", remedy="name a file with --batch")
    _check_resuming(output_file, resume=resume, retry_failed=retry_failed)
    if replay is not None and via is not Via.LIVE:
        raise UsageError("--replay and --via are both given", remedy="leave one of them out")
    scope.report_findings(output)
    if estimate:
        _print_estimate(scope, output, words or "")
        return
    dropped = not read and unread_input()
    if batch is None and words is None:
        remedy = 'say it in words, as in: vancectl select "summarise this report"'
        raise UsageError(
            "there is no task", remedy="`vancectl select -` reads it from standard input" if dropped else remedy
        )
    if dropped:
        output.warn("standard input holds something that is not read; `-` in place of the task reads it")
    selector = scope.selector(model, many_tasks=batch is not None, replay=replay)
    for broken in scope.inventory.broken:
        output.warn(f"broken recipe left out: {broken.fault}")
    if batch is not None:
        _refuse_explaining(explain=explain, why=why)
        tally = _select_batch(
            scope, output, selector, batch, output_file, template, jobs,
            resume=resume, retry_failed=retry_failed, via=via,
        )  # fmt: skip
        none, unanswered, bad_lines = tally.none, tally.unanswered, tally.bad_lines
    else:
        decision = selector.select(words or "")
        _print_decision(scope, selector, words or "", decision, output, explain=explain, why=why)
        scope.remember(output, "select", decision.as_json(), words or "")
        none, unanswered, bad_lines = int(not decision.matches), int(decision.unanswered), 0
    if strict and unanswered:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)
    if bad_lines:
        raise typer.Exit(ExitStatus.USAGE)
    if exit_code and none:
        raise typer.Exit(ExitStatus.NEGATIVE)


def _check_resuming(output_file: Path | None, *, resume: bool, retry_failed: bool) -> None:
    from vancectl.errors import UsageError

    if retry_failed and not resume:
        raise UsageError("--retry-failed belongs to --resume", remedy="give both, or leave it out")
    if resume and output_file is None:
        raise UsageError("--resume needs the file of the answers", remedy="name it with --output")


def _select_batch(
    scope: Scope,
    output: Output,
    selector: Selector,
    path: Path,
    output_file: Path | None,
    template: str | None,
    jobs: int,
    *,
    resume: bool,
    retry_failed: bool,
    via: Via,
) -> Tally:
    from contextlib import closing

    from vancectl.batch.run import Batch, Tally
    from vancectl.batch.template import Template

    run = Batch(selector, output.text, jobs, template=Template(template) if template is not None else None)
    if output_file is None:
        return _run_batch(scope, output, run, path, Tally(), via)
    from vancectl.batch.answers import AnswerFile

    with closing(AnswerFile(output_file, resume=resume, retry_failed=retry_failed)) as answers:
        return _run_batch(scope, output, run, path, answers.tally, via, answers)


def _run_batch(
    scope: Scope, output: Output, run: Batch, path: Path, tally: Tally, via: Via, answers: AnswerFile | None = None
) -> Tally:
    from dataclasses import replace

    from vancectl.batch.run import count_lines, read_lines
    from vancectl.cli.render.progress import Progress

    lines = None
    if answers is not None:
        run = replace(run, write=answers.write, keyed=True)
        if answers.holds_answers:
            lines = None if path.is_file() else read_lines(path)  # what is read only once is kept for the second time
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
        if via is Via.BATCHES and run.memo is None:
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


def _refuse_explaining(*, explain: bool, why: str | None) -> None:
    from vancectl.errors import UsageError

    if explain or why is not None:
        raise UsageError("--batch explains nothing", remedy="give the one task that you want explained")


def _print_decision(
    scope: Scope, selector: Selector, task: str, decision: Decision, output: Output, *, explain: bool, why: str | None
) -> None:
    """The decision, and where it was asked for the way that led to it."""
    for warning in decision.warnings[len(scope.inventory.faults) :]:  # those are told already
        output.warn(warning)
    if not explain and why is None:
        if output.as_json:
            output.document(decision.as_json())
        else:
            from vancectl.cli.render.decision import decision_facts

            output.facts(decision_facts(decision.as_json()))
        return
    from vancectl.cli.render import explanation as shown
    from vancectl.cli.render.decision import decision_facts

    document = decision.as_json()
    account = shown.Account(scope, selector, task, document)
    reason = account.why(why) if why is not None else None
    would = shown.outlook(scope, decision, task) if explain else None
    if output.as_json:
        if would is not None:
            document["explanation"] = {**account.explanation.as_json(), "outlook": would}
        if reason is not None:
            document["why"] = reason.as_json()
        output.document(document)
        return
    output.facts(decision_facts(document, explain=explain))
    if would is not None:
        shown.print_explanation(account.explanation, document, output)
        shown.print_outlook(would, document, output)
    if reason is not None:
        shown.print_why(reason, output)


def _print_estimate(scope: Scope, output: Output, task: str) -> None:
    """What one question would hold; trigger hits count as they would for a real one."""
    from vancectl.assembly import assemble_prompt
    from vancectl.errors import SettingsError
    from vancectl.model.model import ModelError
    from vancectl.selector.triggers.index import TriggerIndex

    try:
        prompt = assemble_prompt(scope.cascade, scope.candidates, scope.settings)
    except ModelError as error:
        raise SettingsError(error.text, remedy="mend it; there is no prompt without it") from None
    parts = prompt.parts(task, TriggerIndex(scope.inventory.recipes).hits(task))
    total = sum(part.characters for part in parts)
    if output.as_json:
        tokens = sum(part.tokens for part in parts)
        output.document({"characters": total, "tokens": tokens, "parts": [part.as_json() for part in parts]})
        return
    output.table(
        ("part", "characters", "tokens (estimate)"),
        ((part.name, str(part.characters), str(part.tokens)) for part in parts),
        empty="nothing is sent",
    )
