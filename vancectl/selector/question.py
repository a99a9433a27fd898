"""The question to the model: fixed parts first, the task last, and data kept apart from orders.

System prompt, engine catalog and inventory are the same bytes for one inventory, so that a prompt cache can serve
them. What recipes and tasks say stands in JSON strings in which `<`, `>` and all that acts or hides is escaped: no text
can close the block that it stands in, and what it says to the reader stays a quotation (specification,
process-delegate 4.3).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from vancectl.inventory.catalog import EngineCatalog
from vancectl.inventory.recipe import Recipe
from vancectl.invisible import without_invisible
from vancectl.printable import plain_line, without_controls
from vancectl.selector.decision import Hit
from vancectl.strict_json import JSON_ESCAPES

PROMPT_VERSION = 1
ORDER = "Pick the matching recipe (or NONE) and emit a single JSON object now."
REPLY_SHOWN = 4_000
# Inside JSON, nothing may look like the end of a block.
_ESCAPED = {**JSON_ESCAPES, ord("<"): "\\u003c", ord(">"): "\\u003e"}


@dataclass(frozen=True, slots=True)
class Question:
    """One call: `system` and `context` are stable for an inventory, `request` holds hint and task.

    `names` are the recipes that may be answered. `corrections` are earlier replies, each with what was wrong. `task` is
    what the request asks about, for a model that looks answers up.
    """

    system: str
    context: str
    request: str
    names: tuple[str, ...]
    corrections: tuple[tuple[str, str], ...] = ()
    task: str = ""

    def worded(self, task: str) -> Question:
        """The same question with the task in other words."""
        return replace(self, task=task, request=self.request.replace(_render_task(self.task), _render_task(task)))

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


def render_context(catalog: EngineCatalog, recipes: Sequence[Recipe]) -> str:
    """Engine catalog and inventory as the model reads them."""
    lines = "\n".join(render_recipe(recipe) for recipe in recipes)
    return (
        f"<engine-catalog>\n{catalog.render_for_prompt()}\n</engine-catalog>\n\n"
        f"The inventory, one recipe a line:\n<inventory>\n{lines}\n</inventory>"
    )


def render_recipe(recipe: Recipe) -> str:
    """One line of the inventory. The description goes in whole: its last words may be the ones that decide."""
    return quote(
        {"name": recipe.name, "engine": recipe.engine, "description": plain_line(without_invisible(recipe.description))}
    )


def render_request(task: str, hits: Sequence[Hit]) -> str:
    """Hint, task and order: all that differs between two questions over one inventory."""
    names = list(dict.fromkeys(hit.recipe for hit in hits))
    hint = f"Hint: trigger phrases of these recipes occur in the task: {quote(names)}\n\n" if names else ""
    return f"{hint}The task, as a JSON string:\n{_render_task(task)}\n\n{ORDER}"


def _render_task(task: str) -> str:
    return f"<task>\n{quote(without_controls(task))}\n</task>"


def quote(value: Any) -> str:
    """JSON in which no text can look like the end of a block. Names stay what they are, since they are asked back."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)
