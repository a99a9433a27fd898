"""Everything that is printed: results on stdout, everything else on stderr. The only importer of rich."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from vancectl.errors import ExitStatus, VancectlError
from vancectl.text.printable import printable
from vancectl.text.strict_json import to_json

if TYPE_CHECKING:
    from rich.console import Console

Row = Sequence[str]
# A piece of a line and how it looks, as rich has it: `bold red`, or nothing.
Part = tuple[str, str]

# What a table's column gets at the least, with the gap before it.
_LEAST = 10
_GAP = 3


class Output:
    """Where one command prints. `as_json` is true with `--json` and wherever stdout is no terminal.

    `field` is the way to the one value of the document that is to be printed alone.
    """

    def __init__(
        self, *, as_json: bool = False, field: str | None = None, quiet: bool = False, verbose: int = 0
    ) -> None:
        # Python has None for a stream that was closed by the caller (`>&-`).
        self.at_terminal = sys.stdout is not None and sys.stdout.isatty()
        self.as_json = as_json or field is not None or not self.at_terminal
        self._field = field
        self._quiet = quiet
        self._warned: set[str] = set()
        self._verbose = verbose

    # -- stdout

    def document(self, value: Any) -> None:
        """One JSON document, or the value of it that was asked for."""
        if self._field is not None:
            self.text(_bare(_picked(value, self._field)))
            return
        self.text(to_json(value, indent=2) + "\n")

    def array(self, values: Iterable[Any]) -> None:
        """A JSON array, one element a line: quick to write, and a diff shows the elements that changed."""
        self.rendered_array(map(to_json, values))

    def rendered_array(self, elements: Iterable[str]) -> None:
        """The same for elements that are JSON already."""
        self.text("[" + ",".join("\n" + element for element in elements) + "\n]\n")

    def line(self, value: Any) -> None:
        """One JSON value on a line of its own, at once."""
        self.text(to_json(value) + "\n")

    def text(self, text: str) -> None:
        """UTF-8 whatever the locale says: JSON knows no other encoding."""
        self.data(text.encode("utf-8", "replace"))

    def data(self, data: bytes) -> None:
        """Bytes as they are."""
        with _watched_stdout():
            sys.stdout.flush()
            while data:  # unbuffered (PYTHONUNBUFFERED), a write may take a part only
                data = data[sys.stdout.buffer.write(data) :]
            sys.stdout.buffer.flush()

    def prose(self, text: str) -> None:
        """Text as it is, but harmless on a terminal."""
        self.text(printable(text, layout=True) if self.at_terminal else text)

    def table(self, columns: Row, rows: Iterable[Row], *, empty: str, one_line: bool = False) -> None:
        """Rows for people; with `one_line` each takes one line, and what does not fit is cut.

        The first column is never cut, since it is what one types next. A terminal that is too narrow for the table gets
        a block of lines for each row.
        """
        cells = [[self._shown(cell) for cell in row] for row in rows]
        if not cells:
            self.text(empty + "\n")
            return
        with _watched_stdout():
            _print_table(columns, cells, one_line=one_line)
            sys.stdout.flush()

    def facts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Labels and values for people; empty values are left out, line breaks in values are kept."""
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for label, value in pairs:
            if value:
                grid.add_row(label, Text(self._shown(value, layout=True)))
        with _watched_stdout():
            _console().print(grid)
            sys.stdout.flush()

    def styled(self, lines: Iterable[Sequence[Part]]) -> None:
        """Lines for people, each of styled parts; a long one is wrapped below its own indentation."""
        from rich.text import Text

        console = _console()
        with _watched_stdout():
            for line in lines:
                text = Text.assemble(*((self._shown(part), style) for part, style in line))
                indent = len(text.plain) - len(text.plain.lstrip(" "))
                for wrapped in text[indent:].wrap(console, max(console.width - indent, _LEAST)):
                    wrapped.rstrip()
                    console.print(Text(" " * indent) + wrapped if wrapped else "", overflow="ignore", no_wrap=True)
            sys.stdout.flush()

    def _shown(self, text: str, *, layout: bool = False) -> str:
        text = printable(text, layout=layout)
        return text if self.at_terminal else _for_a_log(text)

    # -- stderr

    def warn(self, text: str) -> None:
        """Once, also where it then stands among the warnings of a decision."""
        if not self._quiet and text not in self._warned:
            self._warned.add(text)
            to_stderr(f"warning: {text}")

    def note(self, text: str) -> None:
        """Only with `--verbose`."""
        if self._verbose:
            to_stderr(f"note: {text}")

    def progress(self, text: str) -> None:
        """How far something is, for a person who waits."""
        if not self._quiet:
            to_stderr(text)

    def error(self, error: VancectlError) -> None:
        print_error(error)


def print_error(error: VancectlError) -> None:
    """What, where, and what helps, each on one line whatever names are in it."""
    where = f"{error.where}: " if error.where else ""
    to_stderr(printable(f"error: {where}{error.what()}"))
    if error.remedy:
        to_stderr(printable(f"  help: {error.remedy}"))


def to_stderr(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        shown = printable(text, layout=True)
        sys.stderr.write((shown if sys.stderr.isatty() else _for_a_log(shown)) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # nobody listens; the exit status still tells


def _for_a_log(text: str) -> str:
    """What is no terminal may be the log of a CI host, to which a name must not give commands."""
    if "::" not in text and "##" not in text:
        return text
    from vancectl.text.annotation import without_commands

    return without_commands(text)


def _console() -> Console:
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale without UTF-8 shows `?` for what it lacks
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False)


def _print_table(columns: Row, cells: Sequence[Row], *, one_line: bool) -> None:
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    console = _console()
    natural = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    if natural[0] + _LEAST * (len(columns) - 1) > console.width:
        for first, *others in cells:
            console.print(Text(first, style="bold"), soft_wrap=True)
            for column, cell in zip(columns[1:], others, strict=True):
                if cell:
                    console.print(Text(f"  {column}: {cell}"), no_wrap=one_line, overflow="ellipsis")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    widths: list[int | None] = _one_line_widths(natural, console.width) if one_line else [None] * len(columns)
    for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
        overflow: Literal["ellipsis", "fold"] = "ellipsis" if one_line else "fold"
        table.add_column(column, no_wrap=one_line or index == 0, overflow=overflow, width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _one_line_widths(natural: Sequence[int], total: int) -> list[int | None]:
    """The first column as it is, the last at least a third; of those between, the widest are cut first."""
    first, *between, last = natural
    left = total - first - _GAP * (len(natural) - 1)
    while sum(between) > left - total // 3 and max(between) > _LEAST - _GAP:
        between[between.index(max(between))] -= 1
    return [first, *between, max(1, min(last, left - sum(between)))]


@contextlib.contextmanager
def _watched_stdout() -> Iterator[None]:
    """Ends the command where its result cannot be written."""
    if sys.stdout is None:
        raise VancectlError("the result cannot be written: standard output is closed", remedy="leave it open")
    try:
        yield
    except BrokenPipeError:
        close_pipe()
    except OSError as error:
        _leave_stdout()
        reason = (error.strerror or str(error)).lower()
        raise VancectlError(
            f"the result cannot be written: {reason}", remedy="fix what standard output leads to"
        ) from None


def close_pipe() -> None:
    """The reader has gone (`| head`): end as a program does that the signal ends, without a word."""
    _leave_stdout()
    raise SystemExit(ExitStatus.PIPE_CLOSED)


def _leave_stdout() -> None:
    """Points stdout elsewhere, else the interpreter would complain when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _picked(document: Any, way: str) -> Any:
    """The value at the end of a dotted way, list places by their number.

    Raises UsageError where there is none; with `?` at its end there need be none.
    """
    from vancectl.errors import UsageError
    from vancectl.text.names import some_of

    value = document
    optional, way = way.endswith("?"), way.removesuffix("?")
    for part in way.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif optional:
            return None
        else:
            there = [f"`{key}`" for key in value] if isinstance(value, dict) else []
            remedy = f"there are {some_of(there)}" if there else "nothing is below that"
            raise UsageError(f"there is no `{part}` in `{way}` of this answer", remedy=remedy)
    return value


def _bare(value: Any) -> str:
    """A text as it is, with a line end; anything else as JSON, null as nothing."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else to_json(value)
    return text if text.endswith("\n") else text + "\n"
