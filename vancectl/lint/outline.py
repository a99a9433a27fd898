"""Where in a file its fields and list items stand, and which findings its comments allow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vancectl.errors import Place
from vancectl.reading.document import Document, Node

# `# lint: allow one-word, short-phrase - the team says it a hundred times a day`
_ALLOW = re.compile(r"#\s*lint:\s*allow\s+(?P<codes>[\w-]+(?:\s*,\s*[\w-]+)*)\s*(?:(?:-+|–|—|:)\s+(?P<reason>\S.*))?$")
_ONLY_COMMENT = re.compile(r"\s*(#|$)")


@dataclass(frozen=True, slots=True)
class Allowance:
    """One code that a comment allows. It holds for `lines`; before the first key, for the whole file."""

    code: str
    reason: str
    place: Place
    lines: range

    def covers(self, line: int) -> bool:
        return line in self.lines


class Outline:
    """One file's places. A file that cannot be parsed has only itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._document = Document.read(path)
        self._nodes: list[Node] | None = None

    def field(self, *keys: str) -> Place:
        """The key at the end of the way, or the last one on it that is there."""
        place, node = Place(self.path), self._document.root
        for key in keys:
            found = _entry(node, key)
            if found is None:
                break
            place, node = self._place(found[0]), found[1]
        return place

    def item(self, keys: tuple[str, ...], text: str) -> Place:
        """The first item of a list of texts that says `text`, white space around it left aside."""
        node = self.node(*keys)
        for item in node.value if node is not None and node.id == "sequence" else ():
            if item.id == "scalar" and item.value.strip() == text.strip():
                return self._place(item)
        return self.field(*keys)

    def items(self, keys: tuple[str, ...]) -> Iterator[tuple[str, Place]]:
        """The texts of a list, each with its place."""
        node = self.node(*keys)
        for item in node.value if node is not None and node.id == "sequence" else ():
            if item.id == "scalar":
                yield item.value, self._place(item)

    def node(self, *keys: str) -> Node:
        """The value at the end of the way, or None."""
        node = self._document.root
        for key in keys:
            found = _entry(node, key)
            if found is None:
                return None
            node = found[1]
        return node

    def scalars(self, *keys: str) -> Iterator[tuple[Node, Place]]:
        """Every scalar value below a field, each once."""
        seen: set[int] = set()
        waiting = [self.node(*keys)]
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            if node.id == "scalar":
                yield node, self._place(node)
            elif node.id == "sequence":
                waiting.extend(reversed(node.value))
            else:
                waiting.extend(value for _, value in reversed(node.value))

    def allowances(self) -> Iterator[Allowance]:
        """What the file's comments allow: on their own line, or on the line below where they stand alone."""
        lines = self._document.lines
        first = next((number for number, line in enumerate(lines, 1) if not _ONLY_COMMENT.match(line)), len(lines) + 1)
        for number, line in enumerate(lines, 1):
            match = _ALLOW.search(line)
            if match is None or self._in_text(number, match.start() + 1):
                continue
            if number < first:
                held = range(len(lines) + 2)
            elif line.strip() == match[0].strip():
                below = number + 1
                while below <= len(lines) and _ONLY_COMMENT.match(lines[below - 1]):
                    below += 1
                held = range(number, below + 1)
            else:
                held = range(number, number + 1)
            for code in match["codes"].split(","):
                yield Allowance(
                    code.strip(), (match["reason"] or "").strip(), Place(self.path, number, match.start() + 1), held
                )

    def _in_text(self, line: int, column: int) -> bool:
        """Whether a place lies in a value: a `#` there begins no comment."""
        if self._nodes is None:
            self._nodes = [node for node, _ in self.scalars()]
        return any(
            (node.start_mark.line + 1, node.start_mark.column + 1)
            <= (line, column)
            < (node.end_mark.line + 1, node.end_mark.column + 1)
            for node in self._nodes
        )

    def _place(self, node: Node) -> Place:
        return Place(self.path, node.start_mark.line + 1, node.start_mark.column + 1)


def _entry(node: Node, key: str) -> tuple[Node, Node] | None:
    if node is None or node.id != "mapping":
        return None
    return next(((name, value) for name, value in node.value if name.id == "scalar" and name.value == key), None)
