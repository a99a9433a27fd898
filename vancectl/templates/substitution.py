"""The commonest templates, text with plain `{{ name }}` and `{{ params.name }}`, filled in without Jinja and its child.

What else a template holds, and what is wrong with it, is the sandbox's to answer (vancectl.templates.rendering).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vancectl.templates.written import print_value

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_PLAIN = re.compile(rf"(?<!\{{)\{{\{{[ \t\r\n]*({_NAME}(?:\.{_NAME})*)[ \t\r\n]*\}}\}}")
_MARKS = ("{{", "{%", "{#")
# Of Jinja's own: no variable of this name would be asked for.
_WORDS = frozenset(
    ("true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if", "else", "elif")
)
_RESERVED = _WORDS | {"self", "super", "loop", "caller", "varargs", "kwargs"}
_SCALARS = (str, int, float, type(None))


def substituted(text: str, variables: Mapping[str, Any], most: int) -> str | None:
    """The text with its names filled in; None where that takes more than that, or gives more than `most` characters."""
    pieces = _PLAIN.split(text)  # text, name, text, …
    if any(mark in piece for piece in pieces[::2] for mark in _MARKS):
        return None
    for index in range(1, len(pieces), 2):
        shown = _shown(pieces[index].split("."), variables)
        if shown is None:
            return None
        pieces[index] = shown
    for index in range(0, len(pieces), 2):
        pieces[index] = pieces[index].replace("\r\n", "\n").replace("\r", "\n")
    return "".join(pieces) if sum(map(len, pieces)) <= most else None


def _shown(names: list[str], variables: Mapping[str, Any]) -> str | None:
    if names[0] in _RESERVED:
        return None
    value: Any = variables
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    if not isinstance(value, _SCALARS):
        return None
    try:
        return str(print_value(value))
    except ValueError:  # a number of thousands of digits
        return None
