"""`vancectl chat`: starts the session's chat process, or finds it."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.options import JsonOption, SessionOption
from vancectl.cli.scope import Scope, scoped

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("chat")
@scoped
def chat(
    scope: Scope,
    message: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MESSAGE…]", help="The first message; `-` reads it from standard input."),
    ] = None,
    session: SessionOption = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the chat process, or leave it running.")] = (
        False
    ),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started, and start nothing.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Start the session's chat process, or find it.

    In a hub project that is eddie, else what session.defaultChatEngine names, else arthur.
    """
    from vancectl.cli.render.answer import Terminal, print_answer
    from vancectl.cli.task import check_one_reader, read_task, warn_of_unread
    from vancectl.delegation.chat import chat_request, free_name
    from vancectl.delegation.request import check_request
    from vancectl.errors import UsageError
    from vancectl.process.caller import find_session
    from vancectl.text.encoding import STDIN

    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    unread = warn_of_unread(output, check_one_reader(message == [STDIN]), "`-` as the message reads it")
    request = chat_request(
        scope.layers.project,
        scope.settings,
        read_task(message or [], None),
        find_session(session),
        wait=wait,
    )
    delegation = scope.delegation(scope.selector(None).select)
    if not dry_run:
        free_name(delegation, request)
    watcher = Terminal(output) if not output.as_json else None
    if (
        request.task
        and not dry_run
        and delegation.store.find(delegation.scope(request), request.name or "") is not None
    ):
        raise UsageError(
            "the chat of this session is under way and takes no further message: nothing was sent",
            remedy="`vancectl processes stop chat` ends it; --session begins another one",
        )
    answer = delegation.run(check_request(request), dry_run=dry_run, watcher=watcher).with_warnings(unread)
    print_answer(answer, output, watcher)
    if answer.error is not None:
        raise answer.error
