"""`vancectl delegate`: decides, and starts the recipe through the configured spawn command."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.commands.select import JsonOption, ModelOption, ReplayOption
from vancectl.cli.completion import complete_recipe
from vancectl.cli.jobs import RetryFailedOption
from vancectl.cli.render.explanation import ExplainOption, WhyOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.render.explanation import Account
    from vancectl.cli.render.output import Output
    from vancectl.delegation.delegation import Delegated
    from vancectl.delegation.request import Request


# Of a process, what stands in the decision or in its first line, or matters to scripts only. The rest, such as the
# fields of the program's own JSON, is for people too.
_SAID = frozenset(("id", "name", "session", "status", "recipe", "engine", "pid", "exitCode", "startedAt", "endedAt"))

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
        str | None, typer.Option("--name", help="The process's name, unique in its session. [generated]")
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
        str | None, typer.Option("--engine", metavar="NAME", help="Start this engine's recipe, or the engine itself.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="A title for people.")] = None,
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
    profile: Annotated[str | None, typer.Option("--profile", metavar="NAME", help="The recipe's profile.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="The session. [VANCECTL_SESSION, else default]")
    ] = None,
    fallback: Annotated[
        bool, typer.Option("--fallback/--no-fallback", help="After NONE, start the fallback recipe.")
    ] = True,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the spawn command, or leave it running.")
    ] = True,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="End the spawn command after this time.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started, and start nothing.")] = False,
    on_exit: Annotated[
        str | None,
        typer.Option(
            "--on-exit",
            metavar="ARGV",
            help="Call this with the end event as JSON on its standard input: a program, or a JSON list of texts.",
        ),
    ] = None,
    async_fallback: Annotated[
        bool, typer.Option("--async-fallback", help="Do not wait for a fallback that generates a recipe first.")
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", metavar="FILE", help="Start all children of this plan, and wait for them; `-` is standard input."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, max=256, help="Children at a time.")] = 4,
    resume: Annotated[
        bool, typer.Option("--resume", help="Start only what an earlier run of the plan did not bring to its end.")
    ] = False,
    retry_failed: RetryFailedOption = False,
    items_from: Annotated[
        list[Path] | None,
        typer.Option("--items-from", metavar="DIR", help="A plan may read items below this folder, too (repeatable)."),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Start no further child of the plan once one has failed.")
    ] = False,
    explain: ExplainOption = False,
    why: WhyOption = None,
    replay: ReplayOption = None,
    model: ModelOption = None,
    json_output: JsonOption = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Start nothing and exit with 4 where the model was needed and could not be used."
        ),
    ] = False,
) -> None:
    """Decide which recipe fits a task, and start it."""
    from vancectl.cli.render.explanation import Account
    from vancectl.cli.task import check_one_reader, read_task, read_text, warn_of_unread
    from vancectl.delegation.delegation import Delegation
    from vancectl.delegation.request import Request, check_request, parse_request
    from vancectl.disk.folders import state_dir
    from vancectl.errors import ExitStatus, UsageError
    from vancectl.inventory.catalog import load_catalog
    from vancectl.process.store import ProcessStore
    from vancectl.text.encoding import STDIN

    output = scope.output(as_json=json_output)
    streams = (task == [STDIN], steer == STDIN, *(str(each) == STDIN for each in (file, request, plan)))
    warn_of_unread(output, check_one_reader(*streams), "`-` as the task or as --steer reads it")
    words = read_task(task or [], file)
    steer = read_text(Path(STDIN)) if steer == STDIN else steer
    session = session or os.environ.get("VANCECTL_SESSION")
    parts = (words, name, recipe, engine, title, steer, profile, timeout)
    partial = bool(param) or not fallback or not wait or async_fallback or any(part is not None for part in parts)
    _check_plan_options(plan, resume=resume, retry_failed=retry_failed, others=fail_fast or bool(items_from))
    if plan is not None:
        from vancectl.cli.commands.plan import run_plan

        if partial or request is not None:
            raise UsageError("--plan and parts of a request are both given", remedy="put everything into the plan")
        run_plan(
            plan, scope, output, session, model,
            jobs=jobs, resume=resume, retry_failed=retry_failed, fail_fast=fail_fast, dry_run=dry_run, strict=strict,
            on_exit=parse_argv(on_exit), items_from=items_from or [],
        )  # fmt: skip
        return
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
    delegation = Delegation(scope.cascade, load_catalog, scope.settings, ProcessStore(state_dir()), selector.select)
    if why is not None:
        scope.cascade.find(why)  # a mistyped name is told before anything is started
    explaining = explain or why is not None
    # An explanation belongs before the reply, so that nothing is shown while the reply still comes.
    watcher = Terminal(output) if not output.as_json and not explaining else None
    with _refused_as_json(output) if request is not None else nullcontext():
        answer = delegation.run(wanted, dry_run=dry_run, strict=strict, watcher=watcher)
    account = Account(scope, selector, wanted.task or "", answer.decision) if explaining else None
    print_answer(answer, output, watcher, account, explain=explain, why=why)
    if not (dry_run or answer.existing):
        instead = answer.fallback.recipe if answer.fallback is not None else None
        scope.remember(output, "delegate", answer.decision, wanted.task or "", instead)
    if answer.error is not None:
        raise answer.error
    if strict and answer.unanswered:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)


def _check_plan_options(plan: Path | None, *, resume: bool, retry_failed: bool, others: bool) -> None:
    from vancectl.errors import UsageError

    if retry_failed and not resume:
        raise UsageError("--retry-failed belongs to --resume", remedy="give both, or leave it out")
    if plan is None and (resume or others):
        raise UsageError(
            "--resume, --fail-fast and --items-from belong to --plan", remedy="leave them out, or name a plan"
        )


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


def parse_argv(text: str | None) -> list[str]:
    """A JSON list of texts, or the name of a program: nothing is split, and no shell is asked. Raises UsageError."""
    from vancectl.errors import UsageError
    from vancectl.text.strict_json import read_json

    if text is None:
        return []
    if not text.lstrip().startswith("["):
        return [text]
    try:
        argv = read_json(text)
    except ValueError:
        argv = None
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        raise UsageError(
            "--on-exit is no JSON list of texts", remedy='write a program, or a list such as ["notify-send", "done"]'
        )
    return argv


def parse_params(assignments: list[str]) -> dict[str, Any]:
    """`KEY=VALUE`, split at the first `=` only. Raises UsageError."""
    from vancectl.errors import UsageError

    params: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"`--param {assignment}` is no assignment", remedy="write --param KEY=VALUE")
        params[key.strip()] = _param(text)
    return params


def _param(text: str) -> Any:
    """JSON where it can be, else text; so is a number that would be written in another way (`3.10`, `1e3`, `-0`)."""
    from vancectl.text.strict_json import read_json

    try:
        value = read_json(text)
    except ValueError:
        return text
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return text if is_number and json.dumps(value) != text.strip() else value


def _in_session(request: Request, session: str | None) -> Request:
    from dataclasses import replace

    return request if request.session is not None else replace(request, session=session)


class Terminal:
    """Shows a person the decision before the start, and the reply as it comes, unless that is JSON."""

    def __init__(self, output: Output) -> None:
        import codecs

        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_json: bool | None = None
        self._name = ""
        self._at_line_start = True
        self.decided = False
        self.replied = False

    def on_start(self, answer: Delegated, name: str) -> None:
        self.decided = True
        self._name = name
        self._output.facts(decided_facts(answer))

    def on_output(self, data: bytes) -> None:
        text = self._decoder.decode(data)
        if self._is_json is None and text.strip():
            # One JSON object is the process's fields, and is shown as these at the end.
            self._is_json = text.lstrip().startswith("{")
        if self._is_json is not False or not text:
            return
        if not self.replied:
            self._output.facts([("process", self._name)])
            self._output.text("\n")
        self._output.prose(text)
        self._at_line_start = text.endswith("\n")
        self.replied = True

    def end(self) -> None:
        if self.replied and not self._at_line_start:
            self._output.text("\n")


def decided_facts(answer: Delegated, *, explain: bool = False) -> list[tuple[str, str]]:
    from vancectl.cli.render.decision import decision_facts

    facts = decision_facts(answer.as_json(), explain=explain)
    if answer.fallback is not None:
        facts.append(("fallback", f"{answer.fallback.recipe} ({answer.fallback.source})"))
        facts.append(("generated", answer.fallback.generated or ""))
    facts.append(("outcome", answer.outcome or ""))
    return facts


def print_answer(
    answer: Delegated,
    output: Output,
    watcher: Terminal | None,
    account: Account | None = None,
    *,
    explain: bool = False,
    why: str | None = None,
) -> None:
    from vancectl.cli.render.explanation import print_explanation, print_why

    document = answer.as_json()
    for warning in document["warnings"]:
        output.warn(warning)
    reason = account.why(why) if account is not None and why is not None else None
    if output.as_json:
        if account is not None and explain:
            document["explanation"] = account.explanation.as_json()
        if reason is not None:
            document["why"] = reason.as_json()
        output.document(document)
        return
    if watcher is not None and watcher.replied:
        watcher.end()  # the reply is the last that is said; what failed is told on stderr
        return
    facts = decided_facts(answer, explain=explain) if watcher is None or not watcher.decided else []
    if answer.plan is not None:
        facts.append(("plan", json.dumps(answer.plan["argv"], ensure_ascii=False)))
    process = dict(answer.process or {})
    reply = process.pop("reply", None)
    if process:
        facts.append(("process", f"{process['name']} {process['status']}"))
        facts.extend((key, _in_words(value)) for key, value in process.items() if key not in _SAID)
    output.facts(facts)
    if account is not None and explain:
        print_explanation(account.explanation, document, output)
    if reason is not None:
        print_why(reason, output)
    if reply is not None:
        from vancectl.text.printable import printable

        output.text("\n" + printable(_in_words(reply), layout=True).removesuffix("\n") + "\n")


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
