"""Reads one YAML file safely into nodes that know their place, and turns nodes into plain values.

Nodes instead of ready values, because only the reader of a field knows whether `no`, `1:30` or
`2026-01-01` is meant as the text that the author wrote (design, section 3).
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from vancectl.errors import Place
from vancectl.inventory.finding import Finding

if TYPE_CHECKING:
    import yaml

# PyYAML's stubs leave out what tells its nodes apart (`id`) and a scalar's `style`.
Node: TypeAlias = Any

MAX_BYTES = 1_000_000
MAX_VALUES = 20_000

_TAG = "tag:yaml.org,2002:"
_NULL, _MERGE = _TAG + "null", _TAG + "merge"
_PLAIN_TAGS = {_TAG + kind for kind in ("str", "bool", "int", "float", "timestamp", "null", "value", "merge")}
_TRUE, _FALSE = {"yes", "true", "on"}, {"no", "false", "off"}
_CUT_COMMENT = re.compile(r"[ \t]+#")


class Document:
    """One YAML file: its root mapping, or none where findings say why; `findings` grows while it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.findings: list[Finding] = []
        self.lines: list[str] = []
        self.root: Node = None

    @classmethod
    def read(cls, path: Path) -> Document:
        """Never raises: what goes wrong becomes a finding."""
        document = cls(path)
        text = document._text()
        if text is not None:
            document._compose(text)
        return document

    @classmethod
    def of_text(cls, path: Path, text: str) -> Document:
        """The same for text that was read already; `path` is only named in findings."""
        document = cls(path)
        document._compose(text)
        return document

    @property
    def broken(self) -> bool:
        return any(finding.breaks for finding in self.findings)

    def add(self, code: str, node: Node = None, **data: Any) -> None:
        self._add_at(code, node.start_mark if node is not None else None, data)

    def _add_at(self, code: str, mark: Any, data: dict[str, Any]) -> None:
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        self.findings.append(Finding(code, Place(self.path, line, column), data))

    # -- from bytes to nodes

    def _text(self) -> str | None:
        try:
            # O_NONBLOCK: opening a pipe that nobody writes to must not hang.
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            with open(handle, "rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                if not stat.S_ISREG(mode):
                    self.add("not-a-file", found="a folder" if stat.S_ISDIR(mode) else "a pipe or device")
                    return None
                data = file.read(MAX_BYTES + 1)
        except IsADirectoryError:
            self.add("not-a-file", found="a folder")
            return None
        except OSError as error:
            if self.path.is_symlink() and not self.path.exists():
                self.add("dead-link", target=os.readlink(self.path))
            else:
                self.add("unreadable", reason=(error.strerror or str(error)).lower())
            return None
        if len(data) > MAX_BYTES:
            self.add("too-large", limit=f"{MAX_BYTES:,} bytes")
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.findings.append(Finding("not-utf8", Place(self.path, line)))
            return None

    def _compose(self, text: str) -> None:
        import yaml

        # A byte order mark may also stand behind a `---` line, where PyYAML would keep it in the first key.
        text = text.replace("\ufeff", "")
        self.lines = text.splitlines()
        loader = None
        try:
            # The C loader also refuses to nest deeper than 1,000, before its recursion could end the process.
            loader = yaml.CSafeLoader(text)
            root = loader.get_node() if loader.check_node() else None
            while loader.check_node():
                extra = loader.get_node()
                if not (isinstance(extra, yaml.ScalarNode) and extra.tag == _NULL):
                    self.add("two-documents", extra)
                    return
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, text.find(chr(error.character)) + 1) + 1
            code = ord(error.character) if isinstance(error.character, str) else error.character
            self.findings.append(Finding("bad-character", Place(self.path, line), {"character": f"U+{code:04X}"}))
            return
        except yaml.YAMLError as error:
            self._syntax(error)
            return
        finally:
            if loader is not None:
                loader.dispose()
        if isinstance(root, yaml.MappingNode):
            self.root = root
        else:
            self.add("not-a-mapping", root, found=kind_of(root))

    def _syntax(self, error: yaml.YAMLError) -> None:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        line = self.lines[mark.line] if mark is not None and mark.line < len(self.lines) else ""
        if "'\\t'" in problem or "\t" in line[: len(line) - len(line.lstrip())]:
            self._add_at("tab", mark, {})
            return
        value = line.partition(":")[2].strip() or line.strip(" -")
        quotable = value[:1] in {"`", "@", "%", "*", "!", "{", "[", "&", "|", ">"} or "mapping values" in problem
        self._add_at("quote-needed" if quotable else "bad-yaml", mark, {"problem": problem})

    # -- from nodes to values

    def pairs(self, node: Node) -> Iterator[tuple[str, Node, Node]]:
        """Key as written, key node, value node; merge keys are followed, a key that stands twice is reported."""
        seen: dict[str, int] = {}
        merged: list[Node] = []
        for key, value in node.value:
            if key.tag == _MERGE:
                merged.extend(value.value if value.id == "sequence" else [value])
                continue
            if key.id != "scalar":
                self.add("bad-key", key, found=kind_of(key))
                continue
            if key.value in seen:
                self.add("duplicate-key", key, key=key.value, first=seen[key.value])
                continue
            seen[key.value] = key.start_mark.line + 1
            yield key.value, key, value
        for source in merged:
            if source is node or source.id != "mapping":
                self.add("cyclic" if source is node else "bad-key", source, found=kind_of(source))
                continue
            for key, value in source.value:
                if key.id == "scalar" and key.tag != _MERGE and key.value not in seen:
                    seen[key.value] = key.start_mark.line + 1
                    yield key.value, key, value

    def text(self, node: Node, field: str) -> str | None:
        """The text as the author wrote it; None for null. Anything but a scalar is a finding."""
        if node.id != "scalar" or node.tag not in _PLAIN_TAGS:
            self.add("wrong-type", node, field=field, expected="text", found=kind_of(node))
            return None
        if node.tag == _NULL:
            return None
        self._watch_comment(node)
        return str(node.value)

    def flag(self, node: Node, field: str) -> bool:
        value = node.value.lower() if node.id == "scalar" else None
        if value in _TRUE or value in _FALSE:
            return value in _TRUE
        if node.tag != _NULL:
            self.add("wrong-type", node, field=field, expected="true or false", found=kind_of(node))
        return False

    def texts(self, node: Node, field: str) -> list[tuple[str, Node]]:
        """A list of texts with their nodes; null is the empty list, null entries are empty texts."""
        if node.tag == _NULL:
            return []
        if node.id != "sequence":
            self.add("wrong-type", node, field=field, expected="a list", found=kind_of(node))
            return []
        found = []
        for item in node.value:
            text = self.text(item, f"{field}[]")
            if text is not None or item.tag == _NULL:
                found.append((text or "", item))
        return found

    def mapping(self, node: Node, field: str) -> Node:
        if node.id == "mapping":
            return node
        if node.tag != _NULL:
            self.add("wrong-type", node, field=field, expected="a mapping", found=kind_of(node))
        return None

    def plain(self, node: Node) -> Any:
        """The value as JSON knows it: dates as ISO text, bytes as base64 text, sets as lists, NaN as text."""
        return self._plain(node, [], _Budget())

    def _plain(self, node: Node, above: list[Node], budget: _Budget) -> Any:
        budget.spent += 1
        if budget.spent > MAX_VALUES:
            if not budget.reported:
                self.add("too-large", node, limit=f"{MAX_VALUES:,} values")
                budget.reported = True
            return None
        if node in above:
            self.add("cyclic", node)
            return None
        if node.id == "scalar":
            return self._scalar(node)
        above.append(node)
        try:
            if node.id == "sequence":
                return [self._plain(item, above, budget) for item in node.value]
            if node.tag == _TAG + "set":
                return [self._plain(key, above, budget) for key, _ in node.value]
            return {key: self._plain(value, above, budget) for key, _, value in self.pairs(node)}
        finally:
            above.pop()

    def _scalar(self, node: Node) -> Any:
        text: str = node.value
        kind = node.tag.removeprefix(_TAG)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in _TRUE
        if kind in {"int", "float", "timestamp"}:
            value = _NUMBERS[kind](text)
            if value is None:
                self.add("odd-scalar", node, value=text, kind=_KINDS[kind])
                return text
            return value
        return "".join(text.split()) if kind == "binary" else text

    def _watch_comment(self, node: Node) -> None:
        """A plain scalar that ends at ` #` was most likely cut by mistake."""
        end = node.end_mark
        line = self.lines[end.line] if end.line < len(self.lines) else ""
        # Only on one line: behind a value, an aligned comment is a habit; directly behind text it is a trap.
        if node.style is None and end.line == node.start_mark.line:
            cut = _CUT_COMMENT.match(line, end.column)
            if cut and cut.end() - end.column == 2 and line[cut.end() : cut.end() + 1].strip():
                self._add_at("comment-cut", end, {})


class _Budget:
    """How many values one document has given: aliases can make a small file endless."""

    def __init__(self) -> None:
        self.spent = 0
        self.reported = False


def kind_of(node: Node) -> str:
    """What a node is, in words for a finding."""
    if node is None:
        return "empty"
    if node.id == "scalar":
        kind = node.tag.removeprefix(_TAG)
        return _KINDS.get(kind, "text" if node.tag in _PLAIN_TAGS else f"the tag {node.tag}")
    return {"sequence": "a list", "mapping": "a mapping"}[node.id]


_KINDS = {"null": "empty", "bool": "true or false", "int": "a number", "float": "a number", "timestamp": "a date"}


def _int(text: str) -> int | None:
    """None for base 60 (`1:30` is a time of day to its author) and for numbers too long to be meant as one."""
    digits = text.replace("_", "")
    if ":" in digits or len(digits) > 1000:
        return None
    sign, body = (-1, digits[1:]) if digits[0] == "-" else (1, digits.lstrip("+"))
    if body.startswith("0b"):
        return sign * int(body[2:], 2)
    if body.startswith("0x"):
        return sign * int(body[2:], 16)
    if len(body) > 1 and body[0] == "0":
        return sign * int(body.replace("o", ""), 8)
    return sign * int(body)


def _float(text: str) -> float | str | None:
    digits = text.replace("_", "").lower()
    if ":" in digits:
        return None
    if digits.lstrip("+-") in {".inf", ".nan"}:
        return text  # JSON has no word for these
    value = float(digits)
    return value if math.isfinite(value) else text


def _timestamp(text: str) -> str | None:
    import datetime

    try:
        return (
            datetime.datetime.fromisoformat(text).isoformat()
            if len(text) > 10
            else datetime.date.fromisoformat(text).isoformat()
        )
    except ValueError:
        return None


_NUMBERS = {"int": _int, "float": _float, "timestamp": _timestamp}
