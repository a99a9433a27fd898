"""Workflow commands of GitHub Actions: the one writer of annotations, and a guard against those that a text brings."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vancectl.text.printable import visible, without_controls

# What a runner takes for a command: `::name` at the beginning of a line, `##[name]` and `##vso[name]` anywhere. Where a
# line begins is not known before it is wrapped.
_COMMAND = re.compile(
    r":(?=:(?:error|warning|notice|debug|group|endgroup|add-|remove-|stop-|echo|save-|set-|internal-))"
    r"|#(?=#(?:\[|\w+\[))",
    re.I,
)


def annotation(level: str, text: str, title: str, path: Path | None = None, line: int = 0, column: int = 0) -> str:
    """One line. `level` is error, warning or notice; `line` and `column` count from 1, and 0 leaves them out."""
    file = _file(path) if path is not None else ""
    properties = (("file", file), ("line", line), ("col", column), ("title", title))
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties if value)
    return f"::{level} {shown}::{_data(text)}"


def workspace() -> Path:
    """The folder that annotations are relative to: the top of the checkout, or else the working directory."""
    return Path(os.path.abspath(os.environ.get("GITHUB_WORKSPACE") or os.curdir))


def without_commands(text: str) -> str:
    r"""`text` in which no line is a command to who reads a log: `\x3a:error::`."""
    return _COMMAND.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _file(path: Path) -> str:
    """As the repository knows it: annotations on absolute paths are not shown in a pull request."""
    top = workspace()
    real = Path(os.path.realpath(path.parent), path.name)
    for absolute, above in ((Path(os.path.abspath(path)), top), (real, Path(os.path.realpath(top)))):
        if absolute.is_relative_to(above):
            return visible(absolute.relative_to(above).as_posix())
    return visible(str(path))


def _data(text: str) -> str:
    return without_controls(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
