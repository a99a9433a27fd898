"""`vancectl delegate`: decides, and starts the recipe through the configured spawn command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.completion import complete_engine, complete_profile, complete_recipe
from vancectl.cli.options import (
    ExplainOption,
    FieldOption,
    JsonOption,
    ModelOption,
    OnExitOption,
    ReplayOption,
    SessionOption,
    WhyOption,
    duration,
)
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.delegation.answer import Delegated
    from vancectl.delegation.request import Request


app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("delegate")
@scoped
def delegate(
    scope: Scope,
    task: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TASK…]", help="The task in plain words; `-` reads it from standard input."),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the task from a file.")] = None,
    request: Annotated[
        Path | None,
        typer.Option(
            "--request", metavar="FILE", help="Take the whole request as one JSON object; `-` is standard input."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="The process's name, unique in its session. [generated]"),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            metavar="NAME",
            help="Start this recipe; `auto` leaves the choice to the selector.",
            autocompletion=complete_recipe,
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Start this engine's recipe, or the engine itself.",
            autocompletion=complete_engine,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="A title for people.")] = None,
    steer: Annotated[
        str | None,
        typer.Option(
            "--steer",
            metavar="TEXT",
            help="The first message to the process (steerContent); `-` reads it from standard input.",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="KEY=VALUE", help="A param; VALUE is JSON where it can be, else text (repeatable)."
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="The recipe's profile.", autocompletion=complete_profile),
    ] = None,
    session: SessionOption = None,
    fallback: Annotated[
        bool, typer.Option("--fallback/--no-fallback", help="After NONE, start the fallback recipe.")
    ] = True,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the spawn command, or leave it running.")
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="TIME", parser=duration, help="End the spawn command after this time."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started, and start nothing.")] = False,
    on_exit: OnExitOption = None,
    async_fallback: Annotated[
        bool, typer.Option("--async-fallback", help="Do not wait for a fallback that generates a recipe first.")
    ] = False,
    plan: Annotated[Path | None, typer.Option("--plan", metavar="FILE", hidden=True)] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, max=256, hidden=True)] = 4,
    resume: Annotated[bool, typer.Option("--resume", hidden=True)] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", hidden=True)] = False,
    items_from: Annotated[list[Path] | None, typer.Option("--items-from", metavar="DIR", hidden=True)] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", hidden=True)] = False,
    explain: ExplainOption = False,
    why: WhyOption = None,
    replay: ReplayOption = None,
    model: ModelOption = None,
    json_output: JsonOption = False,
    field: FieldOption = None,
    reply: Annotated[bool, typer.Option("--reply", help="Print the reply alone, once it is there.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 on NONE.")] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Start nothing and exit with 4 where the model was needed and could not be used."
        ),
    ] = False,
) -> None:
    """Decide which recipe fits a task, and start it."""
    from vancectl.cli.assignments import parse_argv, parse_params
    from vancectl.cli.render.answer import Terminal, print_answer
    from vancectl.cli.render.explanation import Account
    from vancectl.cli.task import check_one_reader, read_task, read_text, warn_of_unread
    from vancectl.delegation.request import Request, check_request, parse_request
    from vancectl.errors import UsageError
    from vancectl.text.encoding import STDIN

    if reply and (field is not None or dry_run):
        raise UsageError("--reply goes with neither --field nor --dry-run", remedy="leave one of them out")
    output = scope.output(as_json=json_output, field="process.reply?" if reply else field)
    streams = (task == [STDIN], steer == STDIN, *(str(each) == STDIN for each in (file, request, plan)))
    unread = warn_of_unread(output, check_one_reader(*streams), "`-` as the task or as --steer reads it")
    words = read_task(task or [], file)
    steer = read_text(Path(STDIN)) if steer == STDIN else steer
    partial = any((param, not fallback, not wait, async_fallback)) or any(
        part is not None for part in (words, name, recipe, engine, title, steer, profile, timeout)
    )
    if plan is not None:
        from vancectl.cli.runs.plan import PlanOptions, run_plan

        if partial or request is not None:
            raise UsageError("--plan and parts of a request are both given", remedy="put everything into the plan")
        output.progress("note: `vancectl plan FILE` is the spelling of `delegate --plan FILE` from now on")
        options = PlanOptions(
            plan, session, model, jobs, resume, retry_failed, fail_fast, dry_run, strict, parse_argv(on_exit),
            items_from or [],
        )  # fmt: skip
        run_plan(scope, output, options)
        return
    if resume or retry_failed or fail_fast or items_from:
        raise UsageError(
            "--resume, --retry-failed, --fail-fast and --items-from belong to a plan", remedy="see `vancectl plan`"
        )
    if request is not None:
        if partial or on_exit is not None:
            raise UsageError(
                "--request and parts of a request are both given", remedy="put everything into the request"
            )
        with _refused_as_json(output):
            wanted = parse_request(read_text(request))
    else:
        wanted = check_request(
            Request(
                name,
                words,
                title,
                steer,
                parse_params(param or []),
                recipe,
                engine,
                fallback,
                wait,
                timeout,
                profile,
                on_exit=parse_argv(on_exit),
                async_fallback=async_fallback,
            ),
            name_required=False,
        )
    wanted = _in_session(wanted, session)
    scope.report_findings(output)
    selector = scope.selector(model, replay=replay)
    delegation = scope.delegation(selector.select)
    if why is not None:
        scope.cascade.find(why)  # a mistyped name is told before anything is started
    explaining = explain or why is not None
    # An explanation belongs before the reply, so that nothing is shown while the reply still comes.
    watcher = Terminal(output) if not output.as_json and not explaining else None
    with _refused_as_json(output) if request is not None else nullcontext():
        answer = delegation.run(wanted, dry_run=dry_run, strict=strict, watcher=watcher).with_warnings(unread)
    account = Account(scope, selector, wanted.task or "", answer.decision) if explaining else None
    print_answer(answer, output, watcher, account, explain=explain, why=why)
    if not (dry_run or answer.existing):
        instead = answer.fallback.recipe if answer.fallback is not None else None
        scope.remember(output, "delegate", answer.decision, wanted.task or "", instead)
    _leave(answer, strict=strict, exit_code=exit_code)


def _leave(answer: Delegated, *, strict: bool, exit_code: bool) -> None:
    """With the status that the answer means."""
    from vancectl.errors import ExitStatus

    if answer.error is not None:
        raise answer.error
    if strict and answer.unanswered:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)
    if exit_code and answer.decision.as_json().get("decision") == "NONE":
        raise typer.Exit(ExitStatus.NEGATIVE)


@contextmanager
def _refused_as_json(output: Output) -> Iterator[None]:
    """A request is mostly sent by a program: where it is refused, that is told on stdout as well."""
    from vancectl.errors import VancectlError

    try:
        yield
    except VancectlError as error:
        if output.as_json:
            output.document({"version": 1, "error": error.as_json()})
        raise


def _in_session(request: Request, session: str | None) -> Request:
    from dataclasses import replace

    from vancectl.process.caller import find_session

    return replace(request, session=find_session(session, request.session))
