"""One question to a model: fixed parts first, the task last, and data kept apart from orders.

What recipes and tasks say is in JSON strings in which `<`, `>` and all that acts or hides is escaped: no text can close
the block that holds it, and what it says to the reader stays a quotation.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from vancectl.text.printable import without_controls
from vancectl.text.strict_json import JSON_ESCAPES

PROMPT_VERSION = 1
DIGEST_LENGTH = 16
REPLY_SHOWN = 4_000
# Inside JSON, nothing may look like the end of a block.
_ESCAPED = {**JSON_ESCAPES, ord("<"): "\\u003c", ord(">"): "\\u003e"}


@dataclass(frozen=True, slots=True)
class Question:
    """One call: `system` and `context` are stable for an inventory, `request` holds hint and task.

    `names` are the recipes that are shown, `left_out` those that a shortlist left out, nearest first. `corrections` are
    earlier replies, each with what was wrong. `task` is what the request asks about, for a model that looks answers up.
    `warnings` say what it does not hold in whole.
    """

    system: str
    context: str
    request: str
    names: tuple[str, ...]
    corrections: tuple[tuple[str, str], ...] = ()
    task: str = ""
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def worded(self, task: str) -> Question:
        """The same question with the task in other words."""
        return replace(self, task=task, request=self.request.replace(render_task(self.task), render_task(task)))

    @property
    def characters(self) -> int:
        said = sum(len(reply) + len(complaint) for reply, complaint in self.corrections)
        return len(self.system) + len(self.context) + len(self.request) + said

    def corrected(self, reply: str, complaint: str) -> Question:
        return replace(self, corrections=(*self.corrections, (reply[:REPLY_SHOWN], complaint)))

    def as_text(self) -> str:
        """The whole question as one text, for programs that read a prompt.

        Some read `@path` in it as a file to send along: what recipes and tasks say stands in JSON, which has another
        way to write that sign.
        """
        parts = [self.context, self.request]
        for reply, complaint in self.corrections:
            parts.append(f"Your last reply was:\n{quote(reply)}\n{correction(complaint)}")
        return "\n\n".join([self.system, *(part.replace("@", "\\u0040") for part in parts)])

    def schema(self) -> dict[str, Any]:
        """The reply's JSON schema, with the inventory as the only names there are."""
        name = {"anyOf": [{"type": "string", "enum": list(self.names)}, {"type": "null"}]}
        properties = {
            "decision": {"type": "string", "enum": ["MATCH", "NONE"]},
            "recipe": name,
            "rationale": {"type": "string"},
            "evidence": {"type": "string"},
            "runnerUp": name,
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


def correction(complaint: str) -> str:
    """What the model is told after a reply that is no answer."""
    return (
        f"That reply cannot be used: {complaint}. Reply again with a single JSON object as described, and nothing else."
    )


def render_task(task: str) -> str:
    """The task as the question holds it."""
    return f"<task>\n{quote(without_controls(task))}\n</task>"


def quote(value: Any) -> str:
    """JSON in which no text can look like the end of a block. Names stay what they are, since they are asked back."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def question_digest(model: str, question: Question) -> str:
    """The digest of one question, corrections left out: they follow from the replies."""
    return digest("\0".join([str(PROMPT_VERSION), model, question.system, question.context, question.request]))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]
