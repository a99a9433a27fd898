"""A task for many items: `Summarise {{ item.title }}` with the fields of each item's JSON object filled in.

The recipe is chosen once, for the template as it stands, and holds for all items. The grammar is that of plans, of
which a batch knows the fields only: a million items must not take a renderer each.
"""

from __future__ import annotations

import json
import re
from typing import Any

from vancectl.errors import UsageError
from vancectl.text.names import did_you_mean, near_names
from vancectl.text.strict_json import read_json

_FIELD = re.compile(r"\{\{\s*item(?:\.([^\W\d]\w*)|\[\s*(?:'([^']+)'|\"([^\"]+)\")\s*\])\s*\}\}")
_OTHER = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\{\{")
# The grammar of earlier versions. Of JSON in a template no key is a bare word.
_EARLIER = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")


class Template:
    """`{{ item.name }}` or `{{ item["a name"] }}` is a field. Raises UsageError for a template without a field."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._fields = [dot or single or double for dot, single, double in _FIELD.findall(text)]
        rest = _FIELD.sub("", text)
        other, earlier = _OTHER.search(rest), _EARLIER.search(rest)
        if other is not None:
            raise UsageError(
                f"the template has `{other[0]}`, and a batch fills in fields only",
                remedy="write `{{ item.NAME }}`; `vancectl plan` knows conditions and filters",
            )
        if earlier is not None:
            raise UsageError(
                f"`{earlier[0]}` is no field of a template",
                remedy=f"write `{{{{ item.{earlier[1]} }}}}`, as in a plan",
            )
        if not self._fields:
            raise UsageError(
                f"the template `{text}` has no field", remedy="name one, as in: --template 'Summarise {{ item.title }}'"
            )

    def fill(self, line: str) -> tuple[str, dict[str, Any]]:
        """An item's task, and what of the item goes into its answer. Raises ValueError where a field is missing."""
        try:
            item = read_json(line)
        except ValueError as error:
            raise ValueError(f"not JSON ({error})") from None
        if not isinstance(item, dict):
            raise ValueError("the item is no JSON object")
        missing = [name for name in self._fields if not isinstance(item.get(name), str | int | float)]
        if missing:
            meant = did_you_mean(near_names(missing[0], item))
            problem = f"the item has no text or number `{missing[0]}`, which the template names"
            raise ValueError(f"{problem}; {meant}" if meant else problem)

        def filled(found: re.Match[str]) -> str:
            value = item[found[1] or found[2] or found[3]]
            return value if isinstance(value, str) else json.dumps(value)

        task = _FIELD.sub(filled, self.text)
        return task, {**({"id": item["id"]} if "id" in item else {}), "task": task}
