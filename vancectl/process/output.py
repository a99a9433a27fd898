"""What a program wrote: its reply, and never a field of its record (docs/design.md, section 5)."""

from __future__ import annotations

import json
import os
from typing import Any

from vancectl.programs.secrets import scrub
from vancectl.text.strict_json import MAX_DEPTH, depth, read_json

# Logs are unbounded: only their end counts as the reply.
_LONGEST = 10_000_000


def read_output(stdout: bytes) -> dict[str, Any]:
    """`reply`: the text, or the value where it is one JSON value; no key where nothing was written.

    Secrets that we know never get into a record, however a program came by them.
    """
    text = scrub(stdout.decode("utf-8", "replace"))
    return {"reply": _value(text)} if text else {}


def read_log(path: str) -> dict[str, Any]:
    """The same for a log."""
    try:
        with open(path, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _LONGEST, 0))
            return read_output(file.read())
    except OSError:
        return {}


def last_line_object(reply: object) -> dict[str, Any]:
    """The JSON object that a reply is, or that its last line holds; programs talk before they say their result."""
    if isinstance(reply, str):
        lines = reply.strip().rsplit("\n", 1)
        reply = _value(lines[-1])
    return reply if isinstance(reply, dict) else {}


def _value(text: str) -> Any:
    """A number that would be written in another way stays text: `3.10` is no 3.1."""
    try:
        value = read_json(text)
    except ValueError:
        return text
    if depth(value) > MAX_DEPTH:
        return text
    return text if isinstance(value, int | float) and json.dumps(value) != text.strip() else value
