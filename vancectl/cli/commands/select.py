"""`vancectl select`: prints the decision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.options import (
    DEFAULT_JOBS,
    ExplainOption,
    FieldOption,
    JsonOption,
    ModelOption,
    ReplayOption,
    StrictOption,
    Via,
    WhyOption,
)
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
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
    batch: Annotated[Path | None, typer.Option("--batch", metavar="FILE", hidden=True)] = None,
    output_file: Annotated[Path | None, typer.Option("--output", metavar="FILE", hidden=True)] = None,
    resume: Annotated[bool, typer.Option("--resume", hidden=True)] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", hidden=True)] = False,
    template: Annotated[str | None, typer.Option("--template", metavar="TEXT", hidden=True)] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, max=1000, hidden=True)] = DEFAULT_JOBS,
    via: Annotated[Via, typer.Option("--via", hidden=True)] = Via.LIVE,
    replay: ReplayOption = None,
    model: ModelOption = None,
    json_output: JsonOption = False,
    field: FieldOption = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 on NONE.")] = False,
    strict: StrictOption = False,
    explain: ExplainOption = False,
    why: WhyOption = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Show the size of the prompt, part by part, and ask no model.")
    ] = False,
) -> None:
    """Say which recipe fits a task, or that none does, and why."""
    from vancectl.cli.task import check_one_reader, read_task, unread_input, warn_of_unread
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.text.encoding import STDIN

    output = scope.output(as_json=json_output, field=field)
    read = check_one_reader(task == [STDIN], str(file) == STDIN, str(batch) == STDIN)
    words = read_task(task or [], file)
    if batch is not None and words is not None:
        raise UsageError("a task and --batch are both given", remedy="leave one of them out")
    if batch is not None:
        from vancectl.cli.runs.batch import BatchOptions, run_batch

        if explain or why is not None:
            raise UsageError("--batch explains nothing", remedy="give the one task that you want explained")
        output.progress("note: `vancectl batch FILE` is the spelling of `select --batch FILE` from now on")
        options = BatchOptions(batch, output_file, template, jobs, via, resume, retry_failed, replay, model)
        run_batch(scope, output, options, exit_code=exit_code, strict=strict)
        return
    if output_file or resume or retry_failed or template is not None or via is not Via.LIVE:
        raise UsageError(
            "--output, --resume, --retry-failed, --template and --via belong to a batch", remedy="see `vancectl batch`"
        )
    scope.report_findings(output)
    if estimate:
        _print_estimate(scope, output, words or "")
        return
    if words is None:
        remedy = 'say it in words, as in: vancectl select "summarise this report"'
        if not read and unread_input():
            remedy = "`vancectl select -` reads it from standard input"
        raise UsageError("there is no task", remedy=remedy)
    unread = warn_of_unread(output, read, "`-` in place of the task reads it")
    selector = scope.selector(model, replay=replay)
    for broken in scope.inventory.broken:
        output.warn(f"broken recipe left out: {broken.fault}")
    decision = selector.select(words).with_warnings(unread)
    if explain or why is not None:  # a decision itself is as good where something else starts the recipe
        decision = decision.with_warnings(_hindrance(scope, decision))
    _print_decision(scope, selector, words, decision, output, explain=explain, why=why)
    scope.remember(output, "select", decision, words)
    if strict and decision.unanswered:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)
    if exit_code and not decision.matches:
        raise typer.Exit(ExitStatus.NEGATIVE)


def _hindrance(scope: Scope, decision: Decision) -> list[str]:
    """Why the recipe that was chosen cannot be started here."""
    if not decision.matches or decision.engine is None:
        return []
    from vancectl.delegation.hindrance import engine_hindrance
    from vancectl.errors import VancectlError

    try:
        reason = engine_hindrance(scope.settings, decision.engine)
    except VancectlError as error:
        reason = error.what()
    return [f"`{decision.recipe}` cannot be started here: {reason}"] if reason is not None else []


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
    account = shown.Account(scope, selector, task, decision)
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
        raise SettingsError(error.text, remedy="fix it; there is no prompt without it") from None
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
