"""Which folders the tenant trusts: there a clone may bring more than recipes and cases (docs/design.md, section 3)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

FOLDERS, REQUIRED = "trust.folders", "trust.required"
# At the end of an entry: all that is below it, whatever repositories and projects there are.
BELOW = "/*"
_BOUNDARIES = (".git", ".vance", "_vance")


def is_trusted(folder: Path, listed: Sequence[str]) -> bool:
    """Whether the tenant's `trust.folders` cover a folder: the folder that holds `.vance`, or a working directory.

    An entry covers its folder and what is in it, but no repository and no project inside: those are others' again. An
    entry that ends in `/*` covers everything below. Links are followed on both sides.
    """
    if not listed:
        return False
    real = os.path.realpath(folder)
    whole = {os.path.realpath(entry) for entry in listed if not entry.endswith(BELOW)}
    below = [os.path.realpath(entry.removesuffix(BELOW) or "/") for entry in listed if entry.endswith(BELOW)]
    if any(real.startswith(entry.rstrip("/") + "/") for entry in below):
        return True
    while True:
        if real in whole:
            return True
        above = os.path.dirname(real)
        if above == real or any(os.path.lexists(os.path.join(real, name)) for name in _BOUNDARIES):
            return False
        real = above


def is_trusted_here(listed: Sequence[str]) -> bool:
    """The same for the working directory; one that is gone is nobody's."""
    try:
        return is_trusted(Path.cwd(), listed)
    except OSError:
        return False


def owner_of(path: Path) -> str:
    """The name of who owns a file or folder, for a message; its number where the system has no name."""
    try:
        number = path.lstat().st_uid
    except OSError:
        return "unknown"
    if os.name == "nt":
        return "its owner"
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
