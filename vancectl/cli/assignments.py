"""Values in words of the command line: `KEY=VALUE`, and programs with their arguments."""

from __future__ import annotations

import json
from typing import Any


def parse_argv(text: str | None) -> list[str]:
    """A JSON list of texts, or the name of a program: nothing is split, and no shell is asked. Raises UsageError."""
    from vancectl.errors import UsageError
    from vancectl.text.strict_json import read_json

    if text is None:
        return []
    if not text.lstrip().startswith("["):
        return [text]
    try:
        argv = read_json(text)
    except ValueError:
        argv = None
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        raise UsageError(
            "--on-exit is no JSON list of texts", remedy='write a program, or a list such as ["notify-send", "done"]'
        )
    return argv


def parse_params(assignments: list[str]) -> dict[str, Any]:
    """`KEY=VALUE`, split at the first `=` only. Raises UsageError."""
    from vancectl.errors import UsageError

    params: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"`--param {assignment}` is no assignment", remedy="write --param KEY=VALUE")
        params[key.strip()] = _param(text)
    return params


def _param(text: str) -> Any:
    """JSON where it can be, else text; so is a number that would be written in another way (`3.10`, `1e3`, `-0`)."""
    from vancectl.text.strict_json import read_json

    try:
        value = read_json(text)
    except ValueError:
        return text
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return text if is_number and json.dumps(value) != text.strip() else value
