"""What the commands for agent programs share: which clients there are, and how an entry for one is shown or written."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from vancectl.cli.scope import Scope
    from vancectl.clients.client import Entry

WriteOption = Annotated[bool, typer.Option("--write", help="With --install: write it there.")]


class Hooked(StrEnum):
    """Clients that call a hook for each prompt."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"


class Served(StrEnum):
    """Clients that take tools from a server."""

    CLAUDE = "claude"
    CODEX = "codex"
    VSCODE = "vscode"
    OPENCODE = "opencode"
    GEMINI = "gemini"


def print_entry(
    scope: Scope,
    entry_of: Callable[[str, Sequence[str], Path, Path], Entry],
    client: str,
    arguments: Sequence[str],
    *,
    write: bool,
) -> None:
    """Prints an entry and its file; with `write` lays it into that file. Raises UsageError where that cannot be."""
    from vancectl.disk.storage import boundary_of, write_below
    from vancectl.errors import Place, UsageError
    from vancectl.inventory.project import top_of

    output = scope.output()
    entry = entry_of(client, [_program(), *arguments], Path(os.path.expanduser("~")), top_of(Path.cwd()))
    if not write:
        output.prose(entry.text())
        output.progress(f"note: this belongs into {entry.file}; --write puts it there")
        if entry.note:
            output.progress(f"note: {entry.note}")
        return
    try:
        before = entry.file.read_text(encoding="utf-8") if os.path.exists(entry.file) else None
        merged = entry.merged(before)
        if merged is not None:
            write_below(boundary_of(entry.file, top_of(Path.cwd())), entry.file, merged.encode())
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        place = Place(entry.file)
        raise UsageError(f"cannot be written: {reason}", where=place, remedy="put it there yourself") from None
    said = "it was there already" if merged is None else "written"
    if output.as_json:
        output.document({"client": client, "path": str(entry.file), "written": merged is not None})
    else:
        output.prose(f"{entry.file}: {said}\n")
    if entry.note:
        output.progress(f"note: {entry.note}")


def _program() -> str:
    """As a client finds us: by name where the PATH leads to this very installation."""
    own = str(Path(sys.executable).with_name("vancectl"))
    found = shutil.which("vancectl")
    same = found is not None and os.path.exists(own) and os.path.samefile(found, own)
    return "vancectl" if same else own
