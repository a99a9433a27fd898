"""How two recipes differ, field by field: what an override changes in the recipe whose place it takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.text.printable import plain_line

# These are mappings whose entries differ one by one.
_OPENED = ("params", "triggers", "modes", "profiles")
_LONGEST = 60
_ITEMS = 6


class Difference(NamedTuple):
    """One field, such as `engine` or `params.model`. A side that lacks it is None."""

    field: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        return {"field": self.field, "before": self.before, "after": self.after}

    def in_words(self) -> str:
        """One line: short values with an arrow, lists by what comes and goes, long texts by their lines."""
        before, after = self.before, self.after
        if isinstance(before, list) or isinstance(after, list):
            old, new = list(before or ()), list(after or ())
            gone = [f"-{_short(item)}" for item in old if not any(same(item, other) for other in new)]
            come = [f"+{_short(item)}" for item in new if not any(same(item, other) for other in old)]
            items = [*come, *gone]
            more = f", and {len(items) - _ITEMS} more" if len(items) > _ITEMS else ""
            return f"{self.field}: {', '.join(items[:_ITEMS]) or 'in another order'}{more}"
        if any(
            isinstance(value, str) and (len(value) > _LONGEST or "\n" in value.strip()) for value in (before, after)
        ):
            return f"{self.field}: {_lines(before, after)}"
        return f"{self.field}: {_short(before)} → {_short(after)}"


def differences(before: Recipe, after: Recipe) -> list[Difference]:
    """What changes on the way from one recipe to the other, in the order of the fields."""
    return list(_compare(before.fields, after.fields, ""))


def changed_fields(before: Recipe, after: Recipe) -> tuple[str, ...]:
    """The names of the fields at the top that differ."""
    keys = dict.fromkeys((*before.fields, *after.fields))
    return tuple(key for key in keys if not same(before.fields.get(key), after.fields.get(key)))


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal to whoever reads a recipe: `1`, `1.0` and `true` are so to Python alone."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def difference_in_words(before: Recipe | BrokenRecipe, after: Recipe | BrokenRecipe) -> str:
    """The names of the fields that differ, for one line."""
    if isinstance(before, BrokenRecipe) or isinstance(after, BrokenRecipe):
        return "one of the two is broken"
    fields = [each.field for each in differences(before, after)]
    return f"they differ in {', '.join(fields)}" if fields else "they say the same"


def _compare(before: Mapping[str, Any], after: Mapping[str, Any], above: str) -> Iterator[Difference]:
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if not above and key in _OPENED and any(map(_is_open, (old, new))) and all(map(_may_open, (old, new))):
            yield from _compare(old or {}, new or {}, f"{key}.")
        elif not same(old, new) or (above and (key in before) is not (key in after)):
            yield Difference(above + key, old, new)


def _is_open(value: Any) -> bool:
    """A mapping with entries to compare one by one."""
    return isinstance(value, dict) and bool(value)


def _may_open(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _short(value: Any) -> str:
    if value is None:
        return "–"
    text = plain_line(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _lines(before: Any, after: Any) -> str:
    import difflib

    old, new = (str(value or "").strip().splitlines() for value in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    gone = come = 0
    first = ""
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            gone, come = gone + end - start, come + new_end - new_start
            first = first or next(iter(new[new_start:new_end] or old[start:end]), "")
    return f"+{come} -{gone} lines, the first: {_short(first)}"
