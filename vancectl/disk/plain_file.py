"""Reads a file that a project may have brought: a plain one, and no link that leaves the project."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from vancectl.disk.folders import FOLDER_NAMES


def project_top(path: Path) -> Path | None:
    """The folder whose `.vance` folder is the nearest one on the way up from `path`; None outside of any project."""
    for parent in Path(os.path.abspath(path)).parents:
        if parent.name not in FOLDER_NAMES and any(os.path.isdir(parent / name) for name in FOLDER_NAMES):
            return parent
    return None


def target_outside(path: Path) -> str | None:
    """Where a path of a project leads to, if by way of links it leaves the project."""
    top = project_top(path)
    target = os.path.realpath(path)
    return target if top is not None and not Path(target).is_relative_to(os.path.realpath(top)) else None


def refusal(path: Path) -> str | None:
    """Why a file is not to be read, before anything is opened; None where nothing speaks against it."""
    target = target_outside(path)
    if target is not None:
        return f"it is a link that leaves the project ({target})"
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        # Who reads it will say so, but for a link, which is more than a file that is missing.
        return f"it is a link to {os.readlink(path)}, which is not there" if os.path.islink(path) else None
    if stat.S_ISREG(mode):
        return None
    return "it is a folder" if stat.S_ISDIR(mode) else "it is a pipe or a device"


def read_plain(path: Path, limit: int) -> bytes:
    """The bytes of a file. Raises OSError whose text says what is wrong, also where there are more than `limit`."""
    reason = refusal(path)
    if reason is not None:
        raise OSError(errno.EINVAL, reason, str(path))
    # O_NONBLOCK: what took the file's place meanwhile must not hang.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device", str(path))
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", str(path))
    return data
