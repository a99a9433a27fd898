"""Spans of time as people write them: `90`, `90s`, `5m`, `1h30m`, `1.5h`."""

from __future__ import annotations

import re

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([hms])")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?\s*[hms]\s*)+")


def parse_duration(text: str) -> float:
    """Seconds; a bare number is that already. Raises ValueError."""
    plain = text.strip().lower()
    if _WHOLE.fullmatch(plain):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(plain))
    return float(plain)
