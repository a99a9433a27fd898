"""The items that a plan's template is filled with, from a file beside the plan: each as its author wrote it.

What cannot be read for certain is refused with file and line: bytes that are no text, a delimiter that is not clear,
a row that is too short. An agent would be started, and paid for, on whatever it was taken for.
"""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.errors import Place, UsageError
from vancectl.reading.document import Document
from vancectl.templates.written import WrittenFloat, as_written, read_node
from vancectl.text.encoding import decode, refuse_nul
from vancectl.text.strict_json import MAX_DEPTH, depth, finite, read_json

MAX_ITEMS = 100_000
_MAX_BYTES = 100_000_000
_DELIMITERS = (",", ";", "\t")
_NAMED_DELIMITER = re.compile(r"sep=(.)\r?\n")
_QUOTED = re.compile(r'"[^"]*"')
_ENTRY = re.compile(r"([-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


class Item(NamedTuple):
    """One value and where it stands."""

    value: Any
    place: Place


def read_items(path: Path) -> list[Item]:
    """By the file's ending: YAML, CSV or TSV, JSON, a list in Markdown, and JSON lines for all others.

    Raises UsageError that names file and line; OSError where the file cannot be read.
    """
    text = decode(_bytes(path), path)
    refuse_nul(text, path)
    items: list[Item] = []
    for item in _READERS.get(path.suffix.lower(), _json_lines)(text, path):
        if len(items) == MAX_ITEMS:
            raise UsageError(f"there are more than {MAX_ITEMS:,} items", where=Place(path), remedy="split the file")
        items.append(item)
    return items


def _bytes(path: Path) -> bytes:
    # O_NONBLOCK: opening a pipe that nobody writes to must not hang.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UsageError("the items are no plain file", where=Place(path), remedy="fix `items`")
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise UsageError(f"is larger than {_MAX_BYTES:,} bytes", where=Place(path), remedy="split the file")
    return data


def _yaml(text: str, path: Path) -> Iterator[Item]:
    document = Document.of_text(path, text, lists=True)
    root = document.root
    if (root is not None and root.id != "sequence") or any(each.code == "not-a-mapping" for each in document.findings):
        raise UsageError("the items must be a list", where=Place(path), remedy="begin each with `- `")
    found = [
        Item(read_node(document, node), Place(path, node.start_mark.line + 1))
        for node in (root.value if root is not None else ())
    ]
    for finding in document.findings:
        if finding.breaks:
            raise finding.of("the items", UsageError)
    yield from found


def _csv(text: str, path: Path) -> Iterator[Item]:
    named = _NAMED_DELIMITER.match(text)
    skipped = 1 if named else 0
    text = text[named.end() :] if named else text
    delimiter = named[1] if named else _delimiter(text, path)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    line = skipped + 1
    try:
        for row in rows:
            place, line = Place(path, line), skipped + rows.line_num + 1
            if not row:
                continue
            if header is None:
                header = _header(row, place)
            elif len(row) != len(header):
                raise UsageError(
                    f"a row has another number of fields than the header: {len(row)}, not {len(header)}",
                    where=place,
                    remedy="put what holds the delimiter into quotes, or fill the row up",
                )
            else:
                yield Item(dict(zip(header, row, strict=True)), place)
    except csv.Error as error:
        raise UsageError(f"not CSV: {error}", where=Place(path, line), remedy="correct the line") from None


def _header(row: Sequence[str], place: Place) -> list[str]:
    names = [name.strip() for name in row]
    for number, name in enumerate(names, 1):
        if not name:
            raise UsageError(f"the column {number} has no name", where=place, remedy="name it, or take it out")
        if name in names[: number - 1]:
            raise UsageError(f"two columns have the name `{name}`", where=place, remedy="name them differently")
    return names


def _delimiter(text: str, path: Path) -> str:
    """The one that the header has; where it has several, the one by which every row has as many fields."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    header = _QUOTED.sub("", text.lstrip("\r\n").partition("\n")[0])
    found = [each for each in _DELIMITERS if each in header]
    if len(found) < 2:
        return found[0] if found else ","
    fitting = [each for each in found if _fits(text, each)]
    if len(fitting) == 1:
        return fitting[0]
    raise UsageError(
        f"it is not clear what parts the columns: {' or '.join(map(repr, found))}",
        where=Place(path, 1),
        remedy="put a line such as `sep=;` before the header, or names with other delimiters into quotes",
    )


def _fits(text: str, delimiter: str) -> bool:
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return len({len(row) for row in rows if row}) == 1
    except csv.Error:
        return False


def _json(text: str, path: Path) -> Iterator[Item]:
    """A list, or JSON lines."""
    try:
        value = read_json(text, _number)
    except ValueError:
        yield from _json_lines(text, path)
        return
    _check_depth(value, Place(path))
    yield from (Item(each, Place(path)) for each in (value if isinstance(value, list) else [value]))


def _json_lines(text: str, path: Path) -> Iterator[Item]:
    for number, line in enumerate(text.split("\n"), 1):  # no other character ends a line
        if line.strip():
            place = Place(path, number)
            try:
                value = read_json(line, _number)
            except ValueError as error:
                raise UsageError(f"not JSON: {error}", where=place, remedy="one value a line") from None
            _check_depth(value, place)
            yield Item(value, place)


def _check_depth(value: Any, place: Place) -> None:
    if depth(value) > MAX_DEPTH:
        raise UsageError(f"it nests deeper than {MAX_DEPTH} levels", where=place, remedy="make it flat")


def _number(word: str) -> WrittenFloat:
    number: WrittenFloat = as_written(finite(word), word)
    return number


def _markdown(text: str, path: Path) -> Iterator[Item]:
    """The entries of the lists at the left edge; what is indented below one belongs to it."""
    entry: list[str] = []
    start, fenced = 0, False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.rstrip()
        fenced ^= bare.lstrip().startswith(("```", "~~~"))
        found = None if fenced else _ENTRY.match(bare)
        if entry and (found or (bare and not bare[0].isspace())):
            yield Item("\n".join(entry).strip(), Place(path, start))
            entry = []
        if found:
            entry, start = [bare[found.end() :]], number
        elif entry:
            entry.append(bare.strip())
    if entry:
        yield Item("\n".join(entry).strip(), Place(path, start))


_READERS: dict[str, Callable[[str, Path], Iterator[Item]]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".csv": _csv,
    ".tsv": _csv,
    ".json": _json,
    ".md": _markdown,
    ".markdown": _markdown,
}
