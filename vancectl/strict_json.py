"""JSON as every reader takes it, with nothing in it that could act on a terminal which shows it."""

from __future__ import annotations

import json
from typing import Any

from vancectl.printable import TAGS, UNSAFE, well_formed

# JSON escapes the C0 controls itself; the others would still act on a terminal that shows it, or hide what it says.
JSON_ESCAPES = {code: json.dumps(chr(code))[1:-1] for code in UNSAFE | TAGS if code >= 0x7F}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def to_json(value: Any, indent: int | None = None) -> str:
    """Strict JSON in readable UTF-8, with every character escaped that could act on a terminal."""
    # An encoder is kept, since json.dumps makes a new one for each call that is not plain.
    encoder = _ENCODER if indent is None else json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=indent)
    text = encoder.encode(value)
    # Nothing printable is unsafe, and asking that is far quicker than translating.
    return text if text.isprintable() else well_formed(text).translate(JSON_ESCAPES)
