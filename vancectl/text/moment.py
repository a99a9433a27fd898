"""Moments, in one spelling everywhere: `2026-01-31T12:00:00.000Z`. Such texts stand in the order of time."""

from __future__ import annotations

import time

_UTC = "+00:00"


def utc_now() -> str:
    """Made without datetime, since the supervisor imports this, too."""
    return utc(time.time())


def utc(seconds: float) -> str:
    """Of seconds since 1970."""
    whole, rest = divmod(round(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{rest:03}Z"


def respelt(moment: str) -> str:
    """As earlier versions wrote it, in this spelling."""
    return moment.removesuffix(_UTC) + "Z" if moment.endswith(_UTC) else moment
