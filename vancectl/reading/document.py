"""Reads one YAML file safely into nodes that know their place, and turns nodes into plain values.

Nodes instead of ready values, because only the reader of a field knows whether `no`, `1:30` or
`2026-01-01` is meant as the text that the author wrote (docs/design.md, section 3).
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from vancectl.errors import Place
from vancectl.reading.finding import Finding

if TYPE_CHECKING:
    import yaml

# PyYAML's stubs leave out what tells its nodes apart (`id`) and a scalar's `style`.
Node: TypeAlias = Any

MAX_BYTES = 1_000_000
MAX_VALUES = 20_000
MAX_DEPTH = 100
MAX_DIRECTIVES = 20
MAX_FINDINGS = 100
_READINGS = 5
_SMALL = 50_000  # characters that cannot cost much, whatever they say

_TAG = "tag:yaml.org,2002:"
_NULL, _MERGE, _SET = _TAG + "null", _TAG + "merge", _TAG + "set"
_PLAIN_TAGS = {_TAG + kind for kind in ("str", "bool", "int", "float", "timestamp", "null", "value", "merge")}
_KNOWN_TAGS = _PLAIN_TAGS | {_TAG + kind for kind in ("binary", "map", "seq", "set", "omap", "pairs")}
_TRUE, _FALSE = {"yes", "true", "on"}, {"no", "false", "off"}
_CUT_COMMENT = re.compile(r"[ \t]+#")
_NEWER_NUMBER = re.compile(r"[-+]?[0-9]+e[-+]?[0-9]+|0o[0-7]+", re.I)  # numbers for YAML 1.2 and JSON only
_CONFLICT, _CONFLICT_END = re.compile(r"^<{7}(?: |$)", re.M), re.compile(r"^>{7}(?: |$)", re.M)
_DIRECTIVE = re.compile(r"^%", re.M)
_HIDDEN_LINE_END = re.compile("[\x85\u2028\u2029]")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Document:
    """One YAML file: its root mapping, or none where findings say why; `findings` grows while it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.findings: list[Finding] = []
        self.lines: list[str] = []
        self.root: Node = None
        self.exhausted = False
        self._values = self._characters = 0
        self._lists = False

    @classmethod
    def read(cls, path: Path, *, follow: bool = True) -> Document:
        """Never raises: what goes wrong becomes a finding. Without `follow` a link is refused."""
        document = cls(path)
        text = document._text(follow)
        if text is not None:
            document._compose(text)
        return document

    @classmethod
    def of_text(cls, path: Path, text: str, *, lists: bool = False) -> Document:
        """The same for text that was read already; `path` is only named. With `lists` the root may be one."""
        document = cls(path)
        document._lists = lists
        document._compose(text)
        return document

    @property
    def broken(self) -> bool:
        return any(finding.breaks for finding in self.findings)

    @property
    def empty(self) -> bool:
        """Whether the file says nothing at all, which is a fault only where something must be said."""
        return any(finding.code == "not-a-mapping" and finding.data["found"] == "empty" for finding in self.findings)

    def add(self, code: str, node: Node = None, **data: Any) -> None:
        self._add_at(code, node.start_mark if node is not None else None, data)

    def _add_at(self, code: str, mark: Any, data: dict[str, Any]) -> None:
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        finding = Finding(code, Place(self.path, line, column), data)
        # No number of warnings hides that the file cannot be used.
        if len(self.findings) < MAX_FINDINGS or (finding.breaks and not self.broken):
            self.findings.append(finding)
        elif len(self.findings) == MAX_FINDINGS:
            self.findings.append(Finding("more-findings", Place(self.path), {"limit": f"{MAX_FINDINGS:,}"}))

    # -- from bytes to nodes

    def _text(self, follow: bool) -> str | None:
        try:
            data = self._bytes(follow)
        except IsADirectoryError:
            self.add("not-a-file", found="a folder")
            return None
        except OSError as error:
            if os.path.islink(self.path) and not os.path.exists(self.path):  # Path.exists raises where one may not look
                self.add("dead-link", target=os.readlink(self.path))
            else:
                self.add("unreadable", reason=(error.strerror or str(error)).lower())
            return None
        if data is None:
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

    def _bytes(self, follow: bool) -> bytes | None:
        """What the file holds, up to the limit and a byte more; None, and a finding, for what is no plain file.

        Read again where it was written to meanwhile: half of the old text and half of the new is neither.
        """
        # O_NONBLOCK: opening a pipe that nobody writes to must not hang.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
        for _ in range(_READINGS):
            with open(os.open(self.path, flags), "rb") as file:
                before = os.fstat(file.fileno())
                if not stat.S_ISREG(before.st_mode):
                    self.add("not-a-file", found="a folder" if stat.S_ISDIR(before.st_mode) else "a pipe or device")
                    return None
                data = file.read(MAX_BYTES + 1)
                after = os.fstat(file.fileno())
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                return data
        self.add("unreadable", reason="it is being written to")
        return None

    def _compose(self, text: str) -> None:
        import yaml

        # A byte order mark may also stand behind a `---` line, where PyYAML would keep it in the first key.
        text = text.replace("\ufeff", "")
        self.lines = text.splitlines()
        conflict = _CONFLICT.search(text)
        if conflict is not None and _CONFLICT_END.search(text, conflict.end()):
            self.findings.append(Finding("conflict", Place(self.path, text.count("\n", 0, conflict.start()) + 1)))
            return
        if len(text) > _SMALL and self._is_costly(text):
            return
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
            # The reader knows no line, but the character that it refuses is refused everywhere.
            self._bad_character(text, text.index(chr(error.character)))
            return
        except yaml.YAMLError as error:
            self._syntax(error, text)
            return
        finally:
            if loader is not None:
                loader.dispose()
        if isinstance(root, yaml.MappingNode) or (self._lists and isinstance(root, yaml.SequenceNode)):
            self.root = root
        else:
            self.add("not-a-mapping", root, found=kind_of(root))

    def _is_costly(self, text: str) -> bool:
        """Whether reading it would take long, by what the parser says of it before any node is made."""
        import yaml

        for count, directive in enumerate(_DIRECTIVE.finditer(text), 1):
            if count > MAX_DIRECTIVES:
                line = text.count("\n", 0, directive.start()) + 1
                self.findings.append(
                    Finding("too-large", Place(self.path, line), {"limit": f"{MAX_DIRECTIVES} directives"})
                )
                return True
        loader = yaml.CSafeLoader(text)
        count = depth = 0
        try:
            while (event := loader.get_event()) is not None:
                depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
                count += isinstance(event, yaml.NodeEvent | yaml.DocumentStartEvent)
                if depth > 2 * MAX_DEPTH or count > MAX_VALUES:
                    limit = f"{MAX_DEPTH:,} levels" if depth > MAX_DEPTH else f"{MAX_VALUES:,} values"
                    self._add_at("too-large", event.start_mark, {"limit": limit})
                    return True
        except yaml.YAMLError:
            return False  # said by what reads it
        finally:
            loader.dispose()
        return False

    def _syntax(self, error: yaml.YAMLError, text: str) -> None:
        mark = getattr(error, "problem_mark", None)
        hidden = _hidden_line_end(text, mark.line) if mark is not None else -1
        if hidden >= 0:
            self._bad_character(text, hidden)
            return
        problem = getattr(error, "problem", None) or str(error)
        if problem == "found unexpected end of stream":
            # Where the quote was opened.
            self._add_at("open-quote", getattr(error, "context_mark", None) or mark, {})
            return
        if "duplicate anchor" in (getattr(error, "context", None) or ""):
            self._add_at("bad-yaml", mark, {"problem": "found duplicate anchor"})
            return
        if "escape" in problem:
            self._add_at("escape", mark, {"problem": problem})
            return
        line = self.lines[mark.line] if mark is not None and mark.line < len(self.lines) else ""
        if "nesting depth" in problem:
            self._add_at("too-large", mark, {"limit": f"{MAX_DEPTH:,} levels"})
            return
        if "'\\t'" in problem or "\t" in line[: len(line) - len(line.lstrip())]:
            self._add_at("tab", mark, {})
            return
        if "mapping values" in problem and self._is_indented(mark):
            self._add_at("indentation", mark, {})
            return
        value = line.partition(":")[2].strip() or line.strip(" -")
        quotable = value[:1] in {"`", "@", "%", "*", "!", "{", "[", "&", "|", ">"} or "mapping values" in problem
        self._add_at("quote-needed" if quotable else "bad-yaml", mark, {"problem": problem})

    def _is_indented(self, mark: Any) -> bool:
        """Whether the fault is the first `key:` of a line that begins deeper than the one above, which has a value."""
        line = self.lines[mark.line]
        above = next((text for text in reversed(self.lines[: mark.line]) if text.strip()), "")
        key, colon, value = above.partition(":")
        deeper = len(line) - len(line.lstrip()) > len(above) - len(above.lstrip())
        return ":" not in line[: mark.column].strip() and bool(key and colon and value.strip()) and deeper

    def _bad_character(self, text: str, index: int) -> None:
        line = len(_LINE_END.findall(text, 0, index)) + 1
        self.findings.append(
            Finding("bad-character", Place(self.path, line), {"character": f"U+{ord(text[index]):04X}"})
        )

    # -- from nodes to values

    def pairs(self, node: Node) -> Iterator[tuple[str, Node, Node]]:
        """Key as written, key node, value node; merge keys are followed, a key that stands twice is reported."""
        seen: dict[str, int] = {}
        merged: list[Node] = []
        for key, value in node.value:
            if not self._affords(key):
                return
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
        for source in self._sources(node, merged):
            for key, value in source.value:
                if key.id == "scalar" and key.tag != _MERGE and key.value not in seen:
                    if not self._affords(key):
                        return
                    seen[key.value] = key.start_mark.line + 1
                    yield key.value, key, value

    def _sources(self, node: Node, merged: list[Node]) -> Iterator[Node]:
        """The mappings that `<<` lays under `node`, nearest first, each once, with those that they merge themselves."""
        met = {node}
        waiting = merged[::-1]
        while waiting and self._affords(waiting[-1]):
            source = waiting.pop()
            if source.id != "mapping":
                self.add("wrong-type", source, field="<<", expected="a mapping", found=kind_of(source))
            elif source is node:
                self.add("cyclic", source)
            elif source not in met:
                met.add(source)
                yield source
                for key, value in reversed(source.value):
                    if key.tag == _MERGE:
                        waiting.extend(value.value[::-1] if value.id == "sequence" else [value])

    def text(self, node: Node, field: str) -> str | None:
        """The text as the author wrote it; None for null. Anything but a scalar is a finding."""
        if not self._affords(node):
            return None
        if not is_text(node):
            self.add("wrong-type", node, field=field, expected="text", found=kind_of(node))
            return None
        if node.tag == _NULL:
            return None
        self._watch_comment(node)
        return str(node.value)

    def mapping(self, node: Node, field: str) -> Node:
        if is_mapping(node):
            return node
        if node.tag != _NULL:
            self.add("wrong-type", node, field=field, expected="a mapping", found=kind_of(node))
        return None

    def plain(self, node: Node) -> Any:
        """The value as JSON knows it: dates as ISO text, bytes as base64 text, sets as lists, NaN as text."""
        return self._plain(node, [])

    def _plain(self, node: Node, above: list[Node]) -> Any:
        if node in above:
            self.add("cyclic", node)
            return None
        if len(above) >= MAX_DEPTH:
            self._exhaust(node, f"{MAX_DEPTH:,} levels")
        if not self._affords(node):
            return None
        if node.tag not in _KNOWN_TAGS:
            self.add("unknown-tag", node, tag=node.tag)
        if node.id == "scalar":
            return self._scalar(node)
        above.append(node)
        try:
            if node.id == "sequence":
                return [self._plain(item, above) for item in node.value if not self.exhausted]
            if node.tag == _SET:
                return [self._plain(key, above) for key, _ in node.value if not self.exhausted]
            return {key: self._plain(value, above) for key, _, value in self.pairs(node)}
        finally:
            above.pop()

    def _affords(self, node: Node) -> bool:
        """Counts what is read, over the whole document: aliases can make a small file endless, here or in its JSON."""
        if not self.exhausted:
            self._values += 1
            self._characters += len(node.value) if node.id == "scalar" else 0
            if self._values > MAX_VALUES:
                self._exhaust(node, f"{MAX_VALUES:,} values")
            elif self._characters > MAX_BYTES:
                self._exhaust(node, f"{MAX_BYTES:,} characters")
        return not self.exhausted

    def _exhaust(self, node: Node, limit: str) -> None:
        if not self.exhausted:
            self.exhausted = True
            self.add("too-large", node, limit=limit)

    def _scalar(self, node: Node) -> Any:
        text: str = node.value
        kind = node.tag.removeprefix(_TAG)
        if kind == "null":
            return None
        if kind in _READERS:
            try:
                value = _READERS[kind](text)
            except ValueError:  # `0b_`, or an explicit tag: `!!int many`
                value = None
            if value is None:
                self.add("odd-scalar", node, value=text, kind=_KINDS[kind])
                return text
            return value
        if kind == "str":
            self._watch_comment(node)
            if not node.style and _NEWER_NUMBER.fullmatch(text):
                self.add("odd-scalar", node, value=text, kind=_KINDS["int"])
        return "".join(text.split()) if kind == "binary" else text

    def _watch_comment(self, node: Node) -> None:
        """A plain scalar that ends at ` #` was most likely cut by mistake."""
        end = node.end_mark
        line = self.lines[end.line] if end.line < len(self.lines) else ""
        # Behind a value, an aligned comment is a habit; directly behind text it is a trap.
        if not node.style:
            cut = _CUT_COMMENT.match(line, end.column)
            if cut and cut.end() - end.column == 2 and line[cut.end() : cut.end() + 1].strip():
                self._add_at("comment-cut", end, {})


def _hidden_line_end(text: str, line: int) -> int:
    """Where, shortly before the end of a line, a character stands that YAML 1.1 takes for a line end; -1 for nowhere.

    Pasted from a web page it looks like nothing at all.
    """
    lines = text.splitlines(keepends=True)
    first = max(0, line - 2)
    found = _HIDDEN_LINE_END.search("".join(lines[first : line + 1]))
    return sum(map(len, lines[:first])) + found.start() if found else -1


def place_of(path: Path, node: Node) -> Place:
    """Where a node of the file begins."""
    return Place(path, node.start_mark.line + 1, node.start_mark.column + 1)


def is_null(node: Node) -> bool:
    return bool(node.tag == _NULL)


def is_text(node: Node) -> bool:
    """Whether it can be read as text: any scalar without a tag of its own, null included."""
    return bool(node.id == "scalar" and node.tag in _PLAIN_TAGS)


def is_mapping(node: Node) -> bool:
    return bool(node.id == "mapping" and node.tag != _SET)


def truth_of(node: Node) -> bool | None:
    """What a scalar says in any of YAML's words for true and false, quoted or not; None for anything else."""
    value = node.value.lower() if node.id == "scalar" else None
    return value in _TRUE if value in _TRUE or value in _FALSE else None


def kind_of(node: Node) -> str:
    """What a node is, in words for a finding."""
    if node is None:
        return "empty"
    if node.id == "scalar":
        kind = node.tag.removeprefix(_TAG)
        return _KINDS.get(kind, "text" if node.tag in _PLAIN_TAGS else f"the tag {node.tag}")
    return "a set" if node.tag == _SET else {"sequence": "a list", "mapping": "a mapping"}[node.id]


_KINDS = {"null": "empty", "bool": "true or false", "int": "a number", "float": "a number", "timestamp": "a date"}


def _bool(text: str) -> bool | None:
    return text.lower() in _TRUE if text.lower() in _TRUE | _FALSE else None


def _int(text: str) -> int | None:
    """None for base 60 (`1:30` is a time of day to its author) and for numbers too long to be meant as one."""
    digits = text.replace("_", "")
    if ":" in digits or len(digits) > 1000:
        return None
    sign, body = (-1, digits[1:]) if digits.startswith("-") else (1, digits.removeprefix("+"))
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


def _timestamp(text: str) -> str:
    import datetime

    kind = datetime.datetime if len(text) > 10 else datetime.date
    return kind.fromisoformat(text).isoformat()


_READERS: dict[str, Callable[[str], Any]] = {"bool": _bool, "int": _int, "float": _float, "timestamp": _timestamp}
