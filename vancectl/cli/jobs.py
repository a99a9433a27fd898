"""The options of commands that ask a model about many tasks."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

DEFAULT_JOBS = 8


class Via(StrEnum):
    """How many tasks are asked about: one by one, several at a time, or all at once for later."""

    LIVE = "live"
    BATCHES = "batches"


JobsOption = Annotated[
    int, typer.Option("--jobs", metavar="N", min=1, max=1000, help="Ask about so many tasks at a time.")
]
RetryFailedOption = Annotated[
    bool, typer.Option("--retry-failed", help="With --resume: what has failed for itself has another turn, too.")
]
ViaOption = Annotated[
    Via, typer.Option("--via", help="Ask live, or through the Message Batches API: slower, and at a lower price.")
]
