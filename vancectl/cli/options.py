"""Options that several commands take, each declared once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vancectl.cli.completion import complete_recipe, complete_session, complete_tenant

DEFAULT_JOBS = 8


class Via(StrEnum):
    """How many tasks are asked about: one by one, several at a time, or all at once for later."""

    LIVE = "live"
    BATCHES = "batches"


def duration(text: str | float) -> float:
    """The value of an option that takes seconds: a number, or `5m`, `90s`, `1h30m`. A default is that already."""
    from vancectl.text.duration import parse_duration

    if not isinstance(text, str):
        return text
    try:
        return parse_duration(text)
    except ValueError:
        raise typer.BadParameter(f"`{text}` is no time: write seconds, or 5m, 90s, 1h30m") from None


FieldOption = Annotated[
    str | None,
    typer.Option("--field", metavar="PATH", help="Print one value of the JSON alone, as in `process.reply`."),
]


class Target(StrEnum):
    """Layers that one writes to."""

    PROJECT = "project"
    TENANT = "tenant"


ToOption = Annotated[Target, typer.Option("--to", help="The layer that gets the file.")]
JobsOption = Annotated[
    int, typer.Option("--jobs", metavar="N", min=1, max=1000, help="Ask about so many tasks at a time.")
]
RetryFailedOption = Annotated[
    bool, typer.Option("--retry-failed", help="With --resume: what has failed for itself has another turn, too.")
]
ViaOption = Annotated[
    Via, typer.Option("--via", help="Ask live, or through the Message Batches API: slower, and at a lower price.")
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="The model, or an alias of the settings. [VANCECTL_MODEL]"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, as in a pipe.")]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit with 4 where the model was needed and could not be used.")
]
ReplayOption = Annotated[
    Path | None, typer.Option("--replay", metavar="FILE", help="Take the model's answers from recordings; ask nothing.")
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="NAME",
        help="The session. [VANCECTL_SESSION, else default]",
        autocompletion=complete_session,
    ),
]
OnExitOption = Annotated[
    str | None,
    typer.Option(
        "--on-exit",
        metavar="ARGV",
        help="Call this with the end event as JSON on its standard input: a program, or a JSON list of texts.",
    ),
]
TenantOption = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        metavar="NAME",
        help="The tenant. [VANCECTL_TENANT, else the project's, else default]",
        autocompletion=complete_tenant,
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No warnings.")]
VerboseOption = Annotated[
    int, typer.Option("--verbose", "-v", count=True, show_default=False, help="Say more on stderr.")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Show the way of the task through the stages, and what would be started.")
]
WhyOption = Annotated[
    str | None,
    typer.Option("--why", metavar="NAME", help="Say why this recipe was not chosen.", autocompletion=complete_recipe),
]
