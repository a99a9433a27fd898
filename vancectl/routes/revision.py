"""A folder of recipes as it is on disk, or as it was in a git revision (`REV:path`)."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vancectl.errors import UsageError
from vancectl.routes.blobs import LINK, MAX_OUTPUT, SUBMODULE, Blob, Git, GitError

_MAX_FILES = 50_000
_MAX_TOTAL = MAX_OUTPUT - 100 * _MAX_FILES  # bytes of all that is read of one revision


class Side(NamedTuple):
    """One side of a comparison: a folder, empty where the revision or the working tree lacks it."""

    folder: Path
    missing: bool = False


@contextlib.contextmanager
def folders_of(before: str, after: str) -> Iterator[tuple[Side, Side]]:
    """Both sides of a comparison, as folder_of gives them. One may lack the folder that the other has, not both."""
    with contextlib.ExitStack() as stack:
        sides = [stack.enter_context(folder_of(given, other)) for given, other in ((before, after), (after, before))]
        if all(side.missing for side in sides):
            raise UsageError(f"neither `{before}` nor `{after}` is there", remedy="look at the path of the folder")
        yield sides[0], sides[1]


@contextlib.contextmanager
def folder_of(given: str, other: str = "") -> Iterator[Side]:
    """The folder itself, or a temporary copy of the revision's. Raises UsageError that says what is wrong.

    A revision that has no such folder is older or younger than it; so is a working tree without the folder that
    `other` names in a revision.
    """
    if os.path.isdir(given):
        yield Side(Path(given))
        return
    revision, colon, path = given.partition(":")
    with tempfile.TemporaryDirectory(prefix="vancectl-") as folder:
        if not os.path.lexists(given) and _names(other, given):
            yield Side(Path(folder), missing=True)
            return
        if not colon or not revision:
            raise UsageError(f"`{given}` is no folder", remedy="name a folder, or a git revision as REV:path")
        if given.startswith("-"):
            raise UsageError(
                f"`{given}` is no git revision", remedy="write it as REV:path, such as main:.vance/recipes"
            )
        try:
            side = _fill(Path(folder), revision, path)
        except GitError as error:
            raise UsageError(f"`{given}` cannot be read: {error.text}", remedy=error.remedy) from None
        except OSError as error:
            raise UsageError(
                f"`{given}` cannot be written out ({error.strerror})", remedy="check it out, and name the folder"
            ) from None
        yield side


def _names(expression: str, folder: str) -> bool:
    """Whether REV:path is about this folder of the working tree."""
    revision, colon, path = expression.partition(":")
    return bool(colon and revision) and os.path.normpath(path) == os.path.normpath(folder)


def _fill(folder: Path, revision: str, path: str) -> Side:
    git = Git()
    git.check_revision(revision)
    tree, full = git.folder(revision, path)
    # As deep as in the repository, so that a link by way of the folders above leads where it leads there.
    folder = folder / full
    folder.mkdir(parents=True, exist_ok=True)
    if tree is None:
        return Side(folder, missing=True)
    blobs = git.blobs(tree)
    _check(blobs)
    small = [blob for blob in blobs if not _is_too_large(blob)]
    contents = git.read(small)
    # Links come last, so that nothing is written through one.
    for blob in sorted(blobs, key=lambda each: each.mode == LINK):
        place = folder / blob.path
        place.parent.mkdir(parents=True, exist_ok=True)
        if blob.mode == LINK:
            os.symlink(contents[blob.name].replace(b"\0", b"?"), place)
            continue
        with open(place, "xb") as file:
            if blob.name in contents:
                file.write(contents[blob.name])
            else:
                _stand_in(file.fileno())
    return Side(folder)


def _is_too_large(blob: Blob) -> bool:
    from vancectl.reading.document import MAX_BYTES

    return blob.size > MAX_BYTES


def _stand_in(descriptor: int) -> None:
    """A hole that is as much too large for a recipe as the file whose place it takes, and needs no room."""
    from vancectl.reading.document import MAX_BYTES

    os.ftruncate(descriptor, MAX_BYTES + 1)


def _check(blobs: list[Blob]) -> None:
    if len(blobs) > _MAX_FILES:
        raise GitError(f"it has more than {_MAX_FILES:,} files", "name a folder that holds recipes only")
    if sum(blob.size for blob in blobs if not _is_too_large(blob)) > _MAX_TOTAL:
        raise GitError(f"its files have more than {_MAX_TOTAL:,} bytes", "name a folder that holds recipes only")
    for blob in blobs:
        shown = os.fsdecode(blob.path)
        if blob.mode == SUBMODULE:
            raise GitError(f"`{shown}` in it is a submodule, which is not read", "check it out, and name the folder")
        if blob.mode == LINK and _is_too_large(blob):
            raise GitError(f"the link `{shown}` in it is no link", "look at the tree with `git ls-tree -r`")
        if any(part in ("", ".", "..") for part in shown.split("/")):
            raise GitError(f"`{shown}` in it is no name of a file", "look at the tree with `git ls-tree -r`")
