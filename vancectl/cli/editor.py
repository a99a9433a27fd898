"""The user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from vancectl.errors import UsageError


class NoEditorError(UsageError):
    """There is no editor to start."""


def run_editor(path: Path) -> None:
    """Opens a file and waits. Raises UsageError where the editor cannot be started, or ends with an error."""
    from vancectl.errors import Place
    from vancectl.programs.search import ProgramError, find_program
    from vancectl.programs.secrets import without_credentials

    wanted = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        program, *words = shlex.split(wanted) or [wanted]
        argv = [find_program(program), *words, str(path)]
        status = subprocess.run(argv, env=without_credentials(os.environ), check=False).returncode
    except (ProgramError, OSError, ValueError) as error:
        reason = error.text if isinstance(error, ProgramError) else getattr(error, "strerror", None) or str(error)
        raise NoEditorError(
            f"the editor `{wanted}` cannot be started: {reason}", remedy="set VISUAL or EDITOR"
        ) from None
    if status:
        raise UsageError(
            f"the editor `{wanted}` ended with status {status}, so nothing was saved",
            where=Place(path),
            remedy="your text is there",
        )
