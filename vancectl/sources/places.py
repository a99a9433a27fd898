"""Where sources lie: the folders that the settings name, or by themselves those of programs that are installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vancectl.programs.search import ProgramError, find_program
from vancectl.sources.formats import FORMATS, Format
from vancectl.sources.source import Source

AUTO = "auto"
PROJECT = "{project}"


def find_sources(
    setting: str | Mapping[str, Mapping[str, Any]],
    home: Path | None,
    directory: Path,
    is_trusted: Callable[[Path, Sequence[str]], bool],
) -> tuple[list[Source], list[Source]]:
    """The sources in force, nearest folder of each first, and those of a project that the tenant does not trust.

    A folder that is not there is none. `directory` is the working directory, where the way up to the top of its
    repository begins; `is_trusted` says whether the tenant trusts a folder, or these entries beside its own do.
    """
    if setting == AUTO:
        return list(_installed(home)) if home is not None else [], []
    found: list[Source] = []
    left: list[Source] = []
    for key, block in setting.items() if isinstance(setting, Mapping) else ():
        listed = [str(_at_home(each, home)) for each in block.get("trust") or ()]
        for place, of_project in _folders(block, FORMATS[block["format"]], home, directory):
            source = Source(
                key,
                block["format"],
                place,
                block.get("preset"),
                tuple(block.get("exclude") or ()),
                bool(block.get("triggers")),
                bool(block.get("links")),
                of_project is not None,
            )
            (found if of_project is None or is_trusted(of_project, listed) else left).append(source)
    return found, left


def _installed(home: Path) -> Iterator[Source]:
    """The user's own folders of every program that is on the PATH; one that several programs read counts once."""
    taken: set[str] = set()
    programs: dict[str, bool] = {}
    for name, each in FORMATS.items():
        for folder in each.folders:
            place = _below_home(folder, home)
            if not os.path.isdir(place) or os.path.realpath(place) in taken:
                continue
            if each.program not in programs:
                programs[each.program] = _is_installed(each.program)
            if programs[each.program]:
                taken.add(os.path.realpath(place))
                yield Source(each.key, name, place)


def _is_installed(program: str) -> bool:
    try:
        find_program(program, {"PATH": os.environ.get("PATH", "")})
    except ProgramError:
        return False
    return True


def _folders(
    block: Mapping[str, Any], form: Format, home: Path | None, directory: Path
) -> Iterator[tuple[Path, Path | None]]:
    """Each folder that is there, and the project's folder that it lies in where the setting speaks of the project."""
    given = block.get("path")
    written = [given] if isinstance(given, str) else given or [f"~/{folder}" for folder in form.folders]
    for path in written:
        if path.startswith(PROJECT):
            rest = path.removeprefix(PROJECT).lstrip("/")
            for parent in [directory, *directory.parents]:
                if os.path.isdir(parent / rest):
                    yield parent / rest, parent
                if os.path.exists(parent / ".git"):
                    break
            continue
        place = _at_home(path, home)
        if place is not None and os.path.isdir(place):
            yield place, None


def _at_home(path: str, home: Path | None) -> Path | None:
    if path == "~" or path.startswith("~/"):
        return _below_home(path.removeprefix("~").lstrip("/"), home) if home is not None else None
    return Path(path)


def _below_home(folder: str, home: Path) -> Path:
    """Claude Code's folder may lie elsewhere."""
    claude = os.environ.get("CLAUDE_CONFIG_DIR", "")
    if claude and folder.startswith(".claude/") and os.path.isabs(claude):
        return Path(claude) / folder.removeprefix(".claude/")
    return home / folder
