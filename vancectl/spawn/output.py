"""What a program wrote, as the fields of its process."""

from __future__ import annotations

import os
from typing import Any

from vancectl.strict_json import MAX_DEPTH, depth, read_json

# Of a log, which nobody has bounded, the reply is its end.
_LONGEST = 10_000_000


def read_output(stdout: bytes) -> dict[str, Any]:
    """stdout that is one JSON object is the process's own fields, other text its reply (design, section 5)."""
    text = stdout.decode("utf-8", "replace")
    document = _object(text)
    if document is not None:
        return document
    return {"reply": text} if text else {}


def read_log(path: str) -> dict[str, Any]:
    """The same for a log, in which standard error stands too: there the object may also be the last line."""
    try:
        with open(path, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _LONGEST, 0))
            data = file.read()
    except OSError:
        return {}
    lines = data.strip().rsplit(b"\n", 1)
    last = _object(lines[-1].decode("utf-8", "replace")) if len(lines) > 1 else None
    return last if last is not None else read_output(data)


def _object(text: str) -> dict[str, Any] | None:
    try:
        document = read_json(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) and depth(document) <= MAX_DEPTH else None
