"""Which parts of a spawn command a shell or an interpreter reads as code: what is filled in there would be run."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

# Who reads code in an argument, and behind which option. `ssh` hands all of its arguments to a shell far away.
_OPTIONS = {
    **dict.fromkeys(("sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh"), r"-\w*c"),
    **dict.fromkeys(("su", "runuser", "script", "flock"), r"-\w*c|--command"),
    **dict.fromkeys(("pwsh", "powershell"), r"-(c|command)"),
    **dict.fromkeys(("python", "pypy"), r"-\w*c"),
    **dict.fromkeys(("perl", "ruby", "lua", "osascript", "Rscript"), r"-\w*e"),
    **dict.fromkeys(("node", "bun"), r"-[ep]|--eval|--print"),
    "php": "-r",
    "deno": "eval",
}
_REMOTE = "ssh"
# Placeholders for what comes from a task, a caller or a recipe; all others are ours.
_GIVEN = re.compile(
    r"(?<!\{)(?:\{\{)*\{(task|message|title|name|session|project|recipe|engine|profile|model|fallback_models"
    r"|allowed\w+|defaultActiveSkills|params\.[^{}]+)\}"
)


class Code(NamedTuple):
    """A placeholder that stands in code, and whose code it is."""

    part: str
    placeholder: str
    program: str


def filled_code(parts: Sequence[str]) -> list[Code]:
    """The placeholders in the code of a command's shells and interpreters."""
    found: list[Code] = []
    for index, part in enumerate(parts):
        program = re.sub(r"[\d.]+$", "", os.path.basename(part))
        if program == _REMOTE:
            read = list(parts[index + 1 :])
        elif program in _OPTIONS:
            option = re.compile(_OPTIONS[program], re.IGNORECASE)
            rest = parts[index + 1 :]
            place = next((number for number, each in enumerate(rest) if option.fullmatch(each)), len(rest))
            read = list(rest[place + 1 : place + 2])
        else:
            continue
        found.extend(Code(each, name, program) for each in read for name in _GIVEN.findall(each))
    return found
