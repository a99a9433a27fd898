"""`vancectl mcp`: a server of tools for agent programs, over the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from vancectl.cli.clients import Served, WriteOption, print_entry
from vancectl.cli.options import SessionOption
from vancectl.cli.scope import Scope, scoped

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("mcp")
@scoped
def mcp(
    scope: Scope,
    session: SessionOption = None,
    install: Annotated[
        Served | None, typer.Option("--install", metavar="CLIENT", help="Print what makes a client use it, and end.")
    ] = None,
    write: WriteOption = False,
) -> None:
    """Serve an agent program: select, delegate, recipes, processes.

    It speaks the Model Context Protocol on standard input and output. The options of scope hold for every call; the
    folder is the one that the client starts it in.
    """
    from vancectl.errors import UsageError

    if install is not None:
        from vancectl.clients.client import server_entry

        tail = ["mcp", *scope.words(), *(["--session", session] if session else [])]
        print_entry(scope, server_entry, install.value, tail, write=write)
        return
    if write:
        raise UsageError("--write belongs to --install", remedy="name the client: --install claude")
    from vancectl.mcp.server import serve
    from vancectl.process.caller import adopt_depth

    adopt_depth()
    serve([sys.executable, "-P", "-m", "vancectl"], scope.words(), scope.words(of_processes=True), session)
