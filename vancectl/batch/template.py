"""A task for many items: `Summarise {title}` with the fields of each item's JSON object filled in.

The recipe is chosen once, for the template as it stands, and holds for all items (specification, "Selector Memoization
for EXPAND-Batches").
"""

from __future__ import annotations

import json
import re
from typing import Any

from vancectl.errors import UsageError
from vancectl.text.strict_json import read_json

_FIELD = re.compile(r"\{\{|\}\}|\{([^{}\s]+)\}")


class Template:
    """`{name}` is a field, `{{` and `}}` are braces. Raises UsageError for a template without a field."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._fields = [name for name in _FIELD.findall(text) if name]
        if not self._fields:
            raise UsageError(
                f"the template `{text}` has no field",
                remedy="name one in braces, as in: --template 'Summarise {title}'",
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
            raise ValueError(f"the item has no text or number `{missing[0]}`, which the template names")

        def filled(found: re.Match[str]) -> str:
            name = found[1]
            if name is None:
                return found[0][0]
            value = item[name]
            return value if isinstance(value, str) else json.dumps(value)

        task = _FIELD.sub(filled, self.text)
        return task, {**({"id": item["id"]} if "id" in item else {}), "task": task}
