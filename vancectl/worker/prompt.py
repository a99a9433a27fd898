"""The system prompt: what every worker has to know about itself, then the recipe's own."""

from __future__ import annotations

from collections.abc import Mapping

from vancectl.delegation.prompt import render_prompt
from vancectl.process.preset import DEFAULT_MODEL
from vancectl.worker.payload import Payload

_NO_TOOLS = (
    "You answer in this one turn. You have no tools: you cannot read or write files, run programs, look anything up or "
    "start other processes. Where the task needs one of these, say so plainly and do the part that needs none. Never "
    "claim a step that you did not take."
)
_CHAT = "There is one message and one answer, and no later turn: ask only where nothing can be said without the reply."
_BY_ENGINE = {"arthur": f"{_NO_TOOLS} {_CHAT}", "eddie": f"{_NO_TOOLS} {_CHAT}", "ford": _NO_TOOLS}


def system_prompt(payload: Payload, aliases: Mapping[str, str], also: str = "") -> str:
    """`promptMode: overwrite` leaves the recipe's own prompt alone, but for `also`, which the engine cannot do without.

    Raises UsageError for a template that cannot be rendered: a payload that somebody wrote has it unrendered.
    """
    applied = payload.applied
    own = payload.prompt if payload.prompt is not None else render_prompt(applied, aliases, DEFAULT_MODEL)
    base = "" if applied.get("promptMode") == "overwrite" else _BY_ENGINE.get(payload.engine, "")
    return "\n\n".join(part.strip() for part in (base, own, also) if part.strip())
