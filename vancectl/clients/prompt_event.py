"""The event that a client sends for a prompt, and what it is answered: which recipe, skill or agent to use, and why.

Claude Code and Codex call it UserPromptSubmit, Gemini CLI BeforeAgent; the shapes are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vancectl.errors import UsageError
from vancectl.selector.decision import Decision
from vancectl.text.printable import visible
from vancectl.text.strict_json import read_json

_DEFAULT = "UserPromptSubmit"
# A prompt may hold a whole file; phrases are looked for in all of it.
MOST_BYTES = 16 * 1024 * 1024


class PromptEvent(NamedTuple):
    """`directory` is where the client works; None where it does not say so."""

    name: str
    prompt: str
    directory: str | None


def read_event(text: str) -> PromptEvent:
    """Raises UsageError for what is no such event."""
    try:
        event = read_json(text)
    except ValueError as error:
        raise UsageError(f"the event is not JSON: {error}", remedy="a client sends it on standard input") from None
    prompt = event.get("prompt") if isinstance(event, dict) else None
    if not isinstance(prompt, str):
        raise UsageError("the event has no `prompt`", remedy="it belongs to the client's event for a prompt")
    name, directory = event.get("hook_event_name"), event.get("cwd")
    return PromptEvent(
        name if isinstance(name, str) and name else _DEFAULT,
        prompt,
        directory if isinstance(directory, str) and directory else None,
    )


def event_answer(event: PromptEvent, decision: Decision) -> dict[str, Any] | None:
    """None where there is nothing to say: NONE is silent."""
    if not decision.matches or decision.recipe is None:
        return None
    context = f"{_what_to_use(decision.recipe, decision.source)} Why: {visible(decision.rationale)}."
    return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": context}}


def _what_to_use(recipe: str, source: Mapping[str, Any] | None) -> str:
    name = visible(str(source["name"])) if source is not None else ""
    kind = str(source["format"]).rpartition("-")[2] if source is not None else ""
    if kind == "skill":
        return f"For this prompt use the skill `{name}`: load it before you answer."
    if kind == "agent" or (source is not None and str(source["format"]) == "claude-plugin"):
        return f"For this prompt use the agent `{name}`: hand the task to it."
    if kind == "command":
        return f"For this prompt the command `/{name}` is meant: follow it."
    return (
        f"For this prompt the user has the recipe `{visible(recipe)}`: start it with the tool `delegate` of vancectl, "
        f"or with `vancectl delegate --recipe {visible(recipe)} -`, the task on standard input."
    )
