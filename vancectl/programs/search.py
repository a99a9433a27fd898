"""The one search for a program: an absolute path, or a bare name in the absolute folders of the PATH it will have.

What lies in the working directory may have come with a project. So a relative path is refused, and the parts of a PATH
that are empty or relative are not searched; the PATH that the program is handed stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_HEAD = 512  # what is read of a file to tell a script from a program, and to find its interpreter


class ProgramError(Exception):
    """There is no such program, or it cannot be run. `text` names it and says why."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class RelativeProgramError(ProgramError):
    """The program is named by a path that only the working directory makes whole."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the program `{name}` is named by a relative path, so that the working directory would choose what runs; "
            "write its absolute path, or a bare name that is on the PATH"
        )


def find_program(name: str, environment: Mapping[str, str] | None = None) -> str:
    """The absolute path of a program, for a child with this environment (ours, where there is none).

    Raises ProgramError where there is none, or where the system would not run it.
    """
    path = (environment if environment is not None else os.environ).get("PATH", os.defpath)
    if os.sep not in name:
        found = _search(name, path)
    elif os.path.isabs(name):
        found = name
    else:
        raise RelativeProgramError(name)
    _check_runs(name, found, path)
    return found


def _search(name: str, path: str) -> str:
    """The first that can be executed, else the first that is there, for what is wrong with it is worth saying."""
    folders = path.split(os.pathsep)
    there = [
        candidate
        for folder in folders
        if os.path.isabs(folder) and os.path.isfile(candidate := os.path.join(folder, name))
    ]
    runs = next((candidate for candidate in there if os.access(candidate, os.X_OK)), None)
    if runs is not None or there:
        return runs or there[0]
    text = f"the program `{name}` is not on the PATH"
    if name and any(not os.path.isabs(folder) and os.path.isfile(os.path.join(folder, name)) for folder in folders):
        text += "; the relative parts of the PATH are not searched"
    raise ProgramError(text)


def _check_runs(name: str, found: str, path: str) -> None:
    if os.path.isdir(found):
        raise ProgramError(f"the program `{name}` is a folder")
    if not os.path.exists(found):
        raise ProgramError(f"the program `{name}` is not there")
    if not os.access(found, os.X_OK):
        raise ProgramError(f"the program `{name}` is not executable")
    try:
        with open(found, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return  # what cannot be read may still be run
    if head.startswith(b"#!"):
        _check_interpreter(name, os.fsdecode(head[2:].partition(b"\n")[0]), path)
    elif b"\0" not in head:  # every format of programs has one; a text has none
        raise ProgramError(f"the program `{name}` is no program: a script needs a first line such as `#!/bin/sh`")


def _check_interpreter(name: str, line: str, path: str) -> None:
    """The interpreter of a script, also where `env` is to find it."""
    interpreter, _, argument = line.strip().partition(" ")
    if not os.path.isabs(interpreter) or not os.path.isfile(interpreter):
        raise ProgramError(f"the program `{name}` names an interpreter in its first line that is not there")
    wanted = argument.strip().removeprefix("-S").split()
    if os.path.basename(interpreter) != "env" or not wanted or wanted[0].startswith("-") or "=" in wanted[0]:
        return
    try:
        if os.sep not in wanted[0]:
            _search(wanted[0], path)
    except ProgramError:
        raise ProgramError(
            f"the program `{name}` names an interpreter in its first line that is not on the PATH: `{wanted[0]}`"
        ) from None
