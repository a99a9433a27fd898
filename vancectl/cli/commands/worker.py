"""`vancectl worker`: runs the recipe of a payload through the Messages API. The default spawn command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from vancectl.cli.scope import Voice, voiced

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("worker")
@voiced
def worker(
    voice: Voice,
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="The payload; `-`, the default, is standard input.")
    ] = Path("-"),
    answer: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write the answer to a file in place of standard output."),
    ] = None,
) -> None:
    """Run the recipe of a payload through the Messages API.

    `delegate` starts it where nothing else is configured. The answer is written to standard output as it comes.
    """
    from vancectl.cli.task import read_text
    from vancectl.errors import Place, SpawnError, UsageError
    from vancectl.text.encoding import STDIN
    from vancectl.worker.payload import parse_payload
    from vancectl.worker.run import run_payload

    if str(file) == STDIN and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError(
            "the worker reads a payload on standard input",
            remedy="start recipes with `vancectl delegate`, which gives it one",
        )
    payload = parse_payload(read_text(file))
    warn = voice.output().warn
    if answer is None:
        run_payload(payload, voice.output().prose, warn)
        return
    try:
        with answer.open("w", encoding="utf-8") as written:
            run_payload(payload, lambda text: _write(written, text), warn)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpawnError(
            f"the answer cannot be written: {reason}", where=Place(answer), remedy="fix --output"
        ) from None


def _write(file: TextIO, text: str) -> None:
    file.write(text)
    file.flush()
