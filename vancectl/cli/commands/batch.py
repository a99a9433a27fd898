"""`vancectl batch`: decides many tasks in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vancectl.cli.options import (
    DEFAULT_JOBS,
    JobsOption,
    ModelOption,
    ReplayOption,
    RetryFailedOption,
    StrictOption,
    Via,
    ViaOption,
)
from vancectl.cli.scope import Scope, scoped

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("batch")
@scoped
def batch(
    scope: Scope,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="JSON lines with `task`, or a task a line; `-` is standard input."),
    ],
    output_file: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the answers to this file.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Decide only what has no answer yet in the file of --output.")
    ] = False,
    retry_failed: RetryFailedOption = False,
    template: Annotated[
        str | None,
        typer.Option(
            "--template", metavar="TEXT", help="The task of every item, with {{ item.field }}: decided only once."
        ),
    ] = None,
    jobs: JobsOption = DEFAULT_JOBS,
    via: ViaOption = Via.LIVE,
    replay: ReplayOption = None,
    model: ModelOption = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 where any decision is NONE.")] = False,
    strict: StrictOption = False,
) -> None:
    """Decide many tasks: a line in, a decision out, in the same order."""
    from vancectl.cli.runs.batch import BatchOptions, run_batch
    from vancectl.cli.task import check_one_reader, warn_of_unread
    from vancectl.text.encoding import STDIN

    output = scope.output(as_json=True)
    warn_of_unread(output, check_one_reader(str(file) == STDIN), "`-` as the file reads it")
    options = BatchOptions(file, output_file, template, jobs, via, resume, retry_failed, replay, model)
    run_batch(scope, output, options, exit_code=exit_code, strict=strict)
