"""`vancectl init`: begins a project."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Voice, voiced

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class Host(StrEnum):
    """Who runs the checks of a change."""

    GITHUB = "github"
    GITLAB = "gitlab"
    JENKINS = "jenkins"


@app.command("init")
@voiced
def init(
    voice: Voice,
    ci: Annotated[Host | None, typer.Option("--ci", metavar="HOST", help="Write the job for this host, too.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Begin a project: a recipe to copy from, cases for it, and a job for CI.

    Nothing is overwritten. It belongs to the top of the repository, whichever folder of it one is in.
    """
    from vancectl.inventory.beginning import begin_project
    from vancectl.inventory.project import top_of

    output = voice.output(as_json=json_output)
    begun = begin_project(top_of(Path.cwd()), ci.value if ci is not None else None)
    following = (
        'vancectl select "write release notes for 2.4"',
        "vancectl check",
        'vancectl recipes new NAME --description "What it does, and when" --trigger "a phrase"',
    )
    if output.as_json:
        written, kept = ([str(path) for path in paths] for paths in (begun.written, begun.kept))
        output.document({"folder": str(begun.folder), "written": written, "kept": kept, "next": list(following)})
        return
    for path in begun.written:
        output.prose(f"written: {_shown(path)}\n")
    for path in begun.kept:
        output.prose(f"was there, and stays as it is: {_shown(path)}\n")
    if not begun.written:
        output.prose(f"nothing to write: {_shown(begun.folder)} has recipes\n")
    output.prose("next:\n" + "".join(f"  {command}\n" for command in following))


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
