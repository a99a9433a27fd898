"""What an editor is told of a file: a line that names its schema, and a copy of the schema in the same project.

The path is relative, so that it holds for everyone who checks the project out, whatever is installed there and without
a network. A copy that is there stays as it is: a schema accepts keys that it does not know.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from vancectl.disk.storage import create_below
from vancectl.errors import UsageError
from vancectl.reading.schemas import schema_path

_LINE = re.compile(r"(?m)^# yaml-language-server: \$schema=.*\n")
_FOLDER = "schemas"


def with_line(text: str, shape: str, folder: Path, path: Path) -> str:
    """The text of a new file `path` below `folder`, with the line that yaml-language-server reads."""
    schema = os.path.relpath(folder / _FOLDER / f"{shape}.json", path.parent)
    return f"# yaml-language-server: $schema={Path(schema).as_posix()}\n{_LINE.sub('', text)}"


def write_schema(shape: str, folder: Path) -> None:
    """Copies the schema to where the line says. Raises as create_below does, but for one that is there."""
    with contextlib.suppress(FileExistsError):
        create_below(folder, folder / _FOLDER / f"{shape}.json", schema_path(shape).read_bytes())


def offer_schema(shape: str, folder: Path) -> str:
    """The same, where it is no harm if that cannot be done; gives the warning then."""
    try:
        write_schema(shape, folder)
    except (OSError, UsageError) as error:
        return f"the schema for editors was not written into {folder}: {error}"
    return ""
