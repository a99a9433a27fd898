"""Writes files: whole or not at all, so that no reader and no crash meets half of one, and never through a link.

Recipes, recordings and maps lie in folders that may have come with a clone. A link in one of them could lead anywhere,
so what is written below such a folder is opened one component at a time, and a link is refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from vancectl.errors import Place, UsageError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_NOT_PLAIN = "not a plain file"


class LinkError(UsageError):
    """What should be written to lies behind a link, or is one."""

    def __init__(self, link: Path) -> None:
        super().__init__(
            "is a link, and nothing is written through one",
            where=Place(link),
            remedy="replace it by what it leads to, or remove it",
        )


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces `path`. Creates its folder; raises OSError and leaves the old file where that fails."""
    with replacement(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacement(path: Path) -> Iterator[IO[bytes]]:
    """The same for what is written piece by piece: it stands in place of `path` at the end of the block."""
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write_below(boundary: Path, path: Path, data: bytes) -> None:
    """Replaces `path`, which lies below `boundary`, as a whole. Creates the folders between.

    The file keeps its mode; a new one gets the usual one, since it is meant for version control. Raises LinkError where
    anything below `boundary` on the way is a link, or the file itself; OSError where writing fails.
    """
    folder = _open_folder(boundary, path)
    try:
        mode = _mode(folder, path)
        temporary = f".{path.name[:100]}.{os.urandom(6).hex()}"
        handle = os.open(temporary, _NEW, 0o666, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                file.write(data)
            os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def create_below(boundary: Path, path: Path, data: bytes) -> None:
    """Writes a file that is not there yet, as write_below does. Raises FileExistsError where it is."""
    handle = open_below(boundary, path, _NEW)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def open_below(boundary: Path, path: Path, flags: int) -> int:
    """Opens `path`, which lies below `boundary`, for writing in place or at its end. Creates the folders between.

    `flags` as for os.open (O_CREAT is up to the caller). Raises as write_below does; what is no plain file is refused.
    """
    folder = _open_folder(boundary, path)
    try:
        # O_NONBLOCK: opening a pipe that nobody reads must not hang.
        handle = os.open(path.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666, dir_fd=folder)
    except OSError as error:
        if _is_link(path.name, folder):
            raise LinkError(path) from None
        raise error from None
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, _NOT_PLAIN, str(path))
    return handle


def remove_below(boundary: Path, path: Path) -> None:
    """Removes a file that is there, and nothing behind a link on the way to it. Raises as write_below does."""
    folder = _open_folder(boundary, path)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path.name, dir_fd=folder)
    finally:
        os.close(folder)


def boundary_of(path: Path, project: Path | None) -> Path:
    """Below which folder no link may lie on the way to `path`, a file that a user has named.

    The project's folder where the path leads into it, by whatever name of that folder; elsewhere only the file itself
    must be no link, since all else on the way is the user's own.
    """
    if project is not None:
        for parent in path.parents:
            with contextlib.suppress(OSError):
                if os.path.samefile(parent, project):
                    return parent
    return path.parent


def _open_folder(boundary: Path, path: Path) -> int:
    """The open folder of `path`, reached from `boundary` without following a link."""
    parts = path.relative_to(boundary).parts[:-1]
    if os.pardir in parts:
        raise ValueError(f"{path} leaves {boundary}")
    if not boundary.is_dir():  # a file or a dead link in its place fails as one, not as a file that is there already
        with contextlib.suppress(FileExistsError):
            boundary.mkdir(parents=True)
    handle = os.open(boundary, _FOLDER & ~os.O_NOFOLLOW)
    for number, part in enumerate(parts, 1):
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=handle)
            below = os.open(part, _FOLDER, dir_fd=handle)
        except OSError as error:
            if _is_link(part, handle):
                raise LinkError(boundary.joinpath(*parts[:number])) from None
            raise error from None
        finally:
            os.close(handle)
        handle = below
    return handle


def _is_link(name: str, folder: int) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    return False


def _mode(folder: int, path: Path) -> int | None:
    """The mode of the file that is there; None where there is none."""
    try:
        mode = os.lstat(path.name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        raise LinkError(path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, _NOT_PLAIN, str(path))
    return stat.S_IMODE(mode)
