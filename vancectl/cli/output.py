"""Everything that is printed: results on stdout, everything else on stderr. The only importer of rich."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from vancectl.errors import ExitStatus, VancectlError
from vancectl.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

# JSON escapes the C0 controls itself; these would still act on a terminal that shows it.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
Row = Sequence[str]


class Output:
    """Where one command prints. `as_json` is true with `--json` and wherever stdout is no terminal."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, verbose: int = 0) -> None:
        self.as_json = as_json or not sys.stdout.isatty()
        self._quiet = quiet
        self._verbose = verbose

    # -- stdout

    def document(self, value: Any) -> None:
        """One JSON document."""
        self.text(to_json(value, indent=2) + "\n")

    def array(self, values: Iterable[Any]) -> None:
        """A JSON array, one element a line: quick to write, and a diff shows the elements that changed."""
        self.text("[" + ",".join("\n" + to_json(value) for value in values) + "\n]\n")

    def line(self, value: Any) -> None:
        """One JSON value on a line of its own, at once."""
        self.text(to_json(value) + "\n")

    def text(self, text: str) -> None:
        """UTF-8 whatever the locale says: JSON knows no other encoding."""
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            close_pipe()

    def table(self, columns: Row, rows: Iterable[Row], *, empty: str) -> None:
        """Rows for people. The first column is never cut, since it is what one types next."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for index, column in enumerate(columns):
            table.add_column(column, no_wrap=index == 0, overflow="fold" if index == 0 else "ellipsis")
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        if table.row_count:
            self.rich(table)
        else:
            self.text(empty + "\n")

    def facts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Labels and values for people; empty values are left out, line breaks in values are kept."""
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for label, value in pairs:
            if value:
                grid.add_row(label, Text(printable(value, layout=True)))
        self.rich(grid)

    def rich(self, renderable: Any) -> None:
        try:
            _console().print(renderable)
            sys.stdout.flush()
        except BrokenPipeError:
            close_pipe()

    # -- stderr

    def warn(self, text: str) -> None:
        if not self._quiet:
            _to_stderr(f"warning: {text}")

    def note(self, text: str) -> None:
        """Only with `--verbose`."""
        if self._verbose:
            _to_stderr(f"note: {text}")

    def error(self, error: VancectlError) -> None:
        print_error(error)


def print_error(error: VancectlError) -> None:
    """What, where, and what mends it."""
    where = f"{error.where}: " if error.where else ""
    _to_stderr(f"error: {where}{error.what()}")
    if error.remedy:
        _to_stderr(f"  help: {error.remedy}")


def to_json(value: Any, indent: int | None = None) -> str:
    """Strict JSON in readable UTF-8, with every character escaped that could act on a terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return _UNSAFE_IN_JSON.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"


def _to_stderr(text: str) -> None:
    try:
        sys.stderr.write(printable(text, layout=True) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # nobody listens; the exit status still tells


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False)


def close_pipe() -> None:
    """The reader has gone (`| head`): end as a program does that the signal ends, without a word.

    stdout is pointed elsewhere first, else the interpreter would complain when it flushes at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(ExitStatus.PIPE_CLOSED)
