"""`vancectl hook`: says of each prompt of an agent program which recipe, skill or agent is meant for it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from vancectl.cli.clients import Hooked, WriteOption, print_entry
from vancectl.cli.options import duration
from vancectl.cli.scope import Scope, scoped

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("hook")
@scoped
def hook(
    scope: Scope,
    with_model: Annotated[
        float | None,
        typer.Option(
            "--with-model", metavar="TIME", parser=duration, help="Ask the model where no phrase decides, for so long."
        ),
    ] = None,
    install: Annotated[
        Hooked | None, typer.Option("--install", metavar="CLIENT", help="Print what makes a client call it, and end.")
    ] = None,
    write: WriteOption = False,
) -> None:
    """Say of each prompt of an agent program what is meant for it.

    Reads the client's event on standard input, and names the recipe, skill or agent to use; on NONE it says nothing.
    It never blocks a prompt: whatever goes wrong is a line on standard error, and the exit status is 0.
    """
    from vancectl.errors import UsageError

    if install is not None:
        from vancectl.clients.client import hook_entry

        limit = ["--with-model", f"{with_model:g}"] if with_model is not None else []
        print_entry(scope, hook_entry, install.value, ["hook", *scope.words(), *limit], write=write)
        return
    if write:
        raise UsageError("--write belongs to --install", remedy="name the client: --install claude")
    from vancectl.errors import VancectlError

    try:
        _answer(scope, with_model)
    except VancectlError as error:
        from vancectl.cli.render.output import to_stderr

        to_stderr(f"vancectl hook: {error.what()}; {error.remedy}")


def _answer(scope: Scope, with_model: float | None) -> None:
    from vancectl.clients.prompt_event import MOST_BYTES, event_answer, read_event
    from vancectl.errors import UsageError

    output = scope.output(as_json=True)
    with open(0, "rb", closefd=False) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"the event has more than {MOST_BYTES:,} bytes", remedy="the prompt is left as it is")
    event = read_event(data.decode("utf-8", "replace"))
    if event.directory is not None and os.path.isdir(event.directory):
        os.chdir(event.directory)
    selector = scope.selector(None)
    decision = selector.by_trigger(event.prompt) if event.prompt.strip() else None
    if decision is None and with_model is not None:
        scope.assign(f"selector.timeout={max(with_model, 0.001)}")
        decision = selector.select(event.prompt)
    if decision is None:
        return
    answer = event_answer(event, decision)
    if answer is not None:
        output.line(answer)
    elif decision.unanswered:
        output.warn(decision.rationale)
    scope.remember(output, "hook", decision, event.prompt)
