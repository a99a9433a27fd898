"""A folder of recipes as it is on disk, or as it was in a git revision (`REV:path`)."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import UsageError
from vancectl.routes.blobs import Blob, Git, GitError

_LINK = 0o120000
_SUBMODULE = 0o160000
_MAX_FILES = 50_000
_MAX_TOTAL = 100_000_000  # bytes of all that is read of one revision


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
    with tempfile.TemporaryDirectory(prefix="vancectl-") as folder:
        try:
            _fill(Path(folder), given, revision)
        except GitError as error:
            raise UsageError(f"`{given}` cannot be read: {error.text}", remedy=error.remedy) from None
        except OSError as error:
            raise UsageError(
                f"`{given}` cannot be written out ({error.strerror})", remedy="check it out, and name the folder"
            ) from None
        yield Path(folder)


def _fill(folder: Path, given: str, revision: str) -> None:
    git = Git()
    git.check_revision(revision)
    tree = git.folder(given)
    if tree is None:
        return  # the revision is older or younger than the folder: an empty side
    blobs = git.blobs(tree)
    _check(blobs)
    small = [blob for blob in blobs if not _is_too_large(blob)]
    contents = git.read(small)
    # Links come last, so that nothing is written through one.
    for blob in sorted(blobs, key=lambda each: each.mode == _LINK):
        path = folder / blob.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if blob.mode == _LINK:
            os.symlink(contents[blob.name].replace(b"\0", b"?"), path)
            continue
        with open(path, "xb") as file:
            if blob.name in contents:
                file.write(contents[blob.name])
            else:
                _stand_in(file.fileno())


def _is_too_large(blob: Blob) -> bool:
    from vancectl.inventory.document import MAX_BYTES

    return blob.size > MAX_BYTES


def _stand_in(descriptor: int) -> None:
    """A hole that is as much too large for a recipe as the file whose place it takes, and needs no room."""
    from vancectl.inventory.document import MAX_BYTES

    os.ftruncate(descriptor, MAX_BYTES + 1)


def _check(blobs: list[Blob]) -> None:
    if len(blobs) > _MAX_FILES:
        raise GitError(f"it has more than {_MAX_FILES:,} files", "name a folder that holds recipes only")
    if sum(blob.size for blob in blobs if not _is_too_large(blob)) > _MAX_TOTAL:
        raise GitError(f"its files have more than {_MAX_TOTAL:,} bytes", "name a folder that holds recipes only")
    for blob in blobs:
        shown = os.fsdecode(blob.path)
        if blob.mode == _SUBMODULE:
            raise GitError(f"`{shown}` in it is a submodule, which is not read", "check it out, and name the folder")
        if blob.mode == _LINK and _is_too_large(blob):
            raise GitError(f"the link `{shown}` in it is no link", "look at the tree with `git ls-tree -r`")
        if any(part in ("", ".", "..") for part in shown.split("/")):
            raise GitError(f"`{shown}` in it is no name of a file", "look at the tree with `git ls-tree -r`")
