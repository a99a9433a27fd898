"""One kind of thing that can be wrong with a file: its code, its weight, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error: it cannot be used as it is. A warning leaves it usable. A note only says what holds."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """`sentence` and `remedy` are filled from a finding's data; `why` says what goes wrong without the rule."""

    code: str
    severity: Severity
    sentence: str
    remedy: str
    why: str
