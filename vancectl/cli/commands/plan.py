"""`vancectl plan`: carries out a plan, many delegations in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vancectl.cli.options import JsonOption, ModelOption, OnExitOption, RetryFailedOption, SessionOption
from vancectl.cli.scope import Scope, scoped

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("plan")
@scoped
def plan(
    scope: Scope,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The plan; `-` is standard input.")],
    session: SessionOption = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, max=256, help="Children at a time.")] = 4,
    resume: Annotated[
        bool, typer.Option("--resume", help="Start only what an earlier run of the plan did not bring to its end.")
    ] = False,
    retry_failed: RetryFailedOption = False,
    items_from: Annotated[
        list[Path] | None,
        typer.Option(
            "--items-from", metavar="DIR", help="The plan may read items below this folder, too (repeatable)."
        ),
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Start no further child once one has failed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started, and start nothing.")] = False,
    on_exit: OnExitOption = None,
    model: ModelOption = None,
    json_output: JsonOption = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 4 where the model was needed and could not be used.")
    ] = False,
) -> None:
    """Start all children of a plan, and wait for them."""
    from vancectl.cli.assignments import parse_argv
    from vancectl.cli.runs.plan import PlanOptions, run_plan
    from vancectl.cli.task import check_one_reader, warn_of_unread
    from vancectl.text.encoding import STDIN

    output = scope.output(as_json=json_output)
    warn_of_unread(output, check_one_reader(str(file) == STDIN), "`-` as the file reads it")
    options = PlanOptions(
        file, session, model, jobs, resume, retry_failed, fail_fast, dry_run,
        strict, parse_argv(on_exit), items_from or [],
    )  # fmt: skip
    run_plan(scope, output, options)
