"""A folder of recipes as it is on disk, or as it was in a git revision (`REV:path`)."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import UsageError
from vancectl.program import ProgramError, find_program

_SECONDS = 60


@contextlib.contextmanager
def folder_of(given: str) -> Iterator[Path]:
    """The folder itself, or a temporary copy of the revision's. Raises UsageError that says what is wrong."""
    if os.path.isdir(given):
        yield Path(given)
        return
    revision, colon, _ = given.partition(":")
    if not colon or not revision:
        raise UsageError(f"`{given}` is no folder", remedy="name a folder, or a git revision as REV:path")
    if given.startswith("-"):
        raise UsageError(f"`{given}` is no git revision", remedy="write it as REV:path, such as main:.vance/recipes")
    tree = _git(given, "rev-parse", "--verify", "--quiet", "--end-of-options", given).decode().strip()
    top = _git(given, "rev-parse", "--show-toplevel").decode().removesuffix("\n")
    # A tree, not a commit: nothing in its files is then filled in by `export-subst`.
    data = _git(given, "-C", top, "archive", "--format=tar", tree)
    with tempfile.TemporaryDirectory(prefix="vancectl-") as folder:
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                archive.extractall(folder, filter="data")
        except (tarfile.TarError, OSError) as error:
            raise UsageError(
                f"`{given}` cannot be unpacked ({type(error).__name__})", remedy="check it out, and name the folder"
            ) from None
        yield Path(folder)


def _git(given: str, *arguments: str) -> bytes:
    try:
        program = find_program("git")
        done = subprocess.run([program, *arguments], capture_output=True, check=False, timeout=_SECONDS)
    except (ProgramError, OSError, subprocess.TimeoutExpired):
        raise UsageError(
            f"`{given}` names a git revision, but git could not be run", remedy="install git, or name a folder"
        ) from None
    except ValueError:
        raise UsageError("a git revision holds no NUL", remedy="write it as REV:path") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").splitlines()
        detail = f" ({said[0]})" if said else ""
        raise UsageError(
            f"`{given}` is neither a folder nor a folder in a git revision{detail}",
            remedy="write it as REV:path, with the path from the repository's top or beginning with ./",
        )
    return done.stdout
