"""What the decision log tells: which stages decide, which recipes are chosen, and which never are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from vancectl.errors import UsageError
from vancectl.text.moment import utc

_AGE = re.compile(r"(\d+)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class History:
    """`entries` are those that were asked for, oldest first; the counts are over the whole time that was asked for.

    `unread` counts lines of the log that are no entries.
    """

    entries: tuple[dict[str, Any], ...]
    stages: dict[str, int]
    recipes: dict[str, int]
    fallbacks: dict[str, int]
    never_chosen: tuple[str, ...]
    unread: int

    def as_json(self) -> dict[str, Any]:
        total = sum(self.stages.values())
        return {
            "version": 1,
            "total": total,
            "stages": {
                stage: {"count": count, "rate": round(count / total, 4)} for stage, count in self.stages.items()
            },
            "recipes": self.recipes,
            "fallbacks": self.fallbacks,
            "neverChosen": list(self.never_chosen),
            "unreadLines": self.unread,
            "decisions": list(self.entries),
        }


def look_back(
    entries: Iterable[dict[str, Any] | None],
    inventory: Sequence[str],
    *,
    since: datetime | None = None,
    recipe: str | None = None,
    stage: str | None = None,
    scope: tuple[str, str | None] | None = None,
) -> History:
    """Counts over everything since a time; `recipe` and `stage` only pick the entries.

    `scope` leaves out what was decided for another tenant or project. Entries of an earlier version do not say.
    """
    found: list[dict[str, Any]] = []
    unread = 0
    limit = utc(since.timestamp()) if since is not None else ""
    for entry in entries:
        if entry is None:
            unread += 1
        elif str(entry["time"]) >= limit and (
            scope is None or "project" not in entry or (entry.get("tenant"), entry["project"]) == scope
        ):
            found.append(entry)
    stages = Counter(str(entry["stage"]) for entry in found)
    recipes = Counter(str(entry["recipe"]) for entry in found if entry["recipe"])
    fallbacks = Counter(str(entry["fallback"]) for entry in found if entry.get("fallback"))
    picked = tuple(
        entry
        for entry in found
        if (recipe is None or recipe in (entry["recipe"], entry.get("fallback"))) and stage in (None, entry["stage"])
    )
    return History(
        picked,
        dict(stages.most_common()),
        dict(recipes.most_common()),
        dict(fallbacks.most_common()),
        tuple(name for name in inventory if name not in recipes),
        unread,
    )


def parse_since(text: str, now: datetime) -> datetime:
    """A date, a date and time (UTC where no zone is said), or an age such as `7d`, `12h`. Raises UsageError."""
    age = _AGE.fullmatch(text.strip())
    try:
        if age:
            return now - timedelta(**{_UNITS[age[2]]: int(age[1])})
        given = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(f"`{text}` is no time", remedy="give a date (2026-01-31), or an age (30m, 12h, 7d)") from None
    return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
