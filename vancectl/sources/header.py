"""The header of a Markdown file: YAML between two lines of dashes, or what its program makes of it where it is none.

Programs read such headers more generously than YAML does: where one is no YAML, each line `key: value` counts as it is
written. What they do not load even so is broken here, too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.errors import Place
from vancectl.reading.document import Document
from vancectl.reading.finding import Finding

_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^---[ \t]*\r?$", re.M)
_INNER = re.compile(r"(?<!^)---[ \t]", re.M)
_BEHIND = re.compile(r"(?:[\ufeff\s]+|<!--.*?-->)+---[ \t]*\r?\n", re.S)
_LINE = re.compile(r"([A-Za-z_][\w.-]*):(?:[ \t]+(.*?))?[ \t]*\r?$", re.M)
_TAG = "tag:yaml.org,2002:"


class Header(NamedTuple):
    """The keys of a header with their plain values, each one's line in the file, and what was noticed."""

    values: dict[str, Any]
    lines: dict[str, int]
    findings: list[Finding]
    body: str

    def place(self, path: Path, key: str) -> Place:
        return Place(path, self.lines.get(key, 1))

    def text(self, key: str) -> str | None:
        """A value that its program takes for text: a number or a list is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) and value.strip() else None

    def texts(self, key: str) -> list[str]:
        """A list of texts, or one text with commas."""
        value = self.values.get(key)
        items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        return [text for item in items if isinstance(item, str) and (text := item.strip())]


def read_header(path: Path, text: str, program: str) -> Header | Finding | None:
    """The header; a finding where `program` does not load the file for it; None for a file without one."""
    opened = _OPEN.match(text)
    if opened is None:
        return Finding("no-header", Place(path, 1), {"program": program}) if _BEHIND.match(text) else None
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        return Finding("open-header", Place(path, 1), {"program": program})
    block = text[opened.end() : closed.start()]
    body = text[closed.end() :].lstrip("\r\n")
    # An empty line in the place of the fence, so that places are those in the file.
    document = Document.of_text(path, "\n" + block)
    if document.root is not None:
        values, lines, findings = _of_yaml(document)
    elif not block.strip() or document.empty:
        return Header({}, {}, [], body)
    else:
        problem = document.findings[0]
        read = _of_lines(path, block, program, problem)
        if isinstance(read, Finding):
            return read
        values, lines, findings = read
    inner = _INNER.search(block)
    if inner is not None:
        line = block.count("\n", 0, inner.start()) + 2
        key = next((name for name, where in lines.items() if where == line), "")
        findings.append(Finding("tool-reads-less", Place(path, line), {"program": program, "key": key or "the header"}))
    return Header(values, lines, findings, body)


def _of_yaml(document: Document) -> tuple[dict[str, Any], dict[str, int], list[Finding]]:
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    findings = []
    for key, node in document.root.value:
        if key.id != "scalar":
            continue
        name = str(key.value)
        line = key.start_mark.line + 1
        if name in values:  # the last one holds, as for the programs
            findings.append(Finding("key-twice", Place(document.path, line), {"key": name, "first": lines[name]}))
        values[name] = _plain(document, node)
        lines[name] = line
    findings += [each for each in document.findings if each.code == "comment-cut"]
    return values, lines, findings


def _plain(document: Document, node: Any) -> Any:
    """A text as written; whatever YAML takes for something else as what it is."""
    if node.id == "scalar" and node.tag == f"{_TAG}str":
        return document.text(node, "")
    if node.id == "scalar" and node.tag == f"{_TAG}timestamp":
        return str(node.value)
    return document.plain(node)


def _of_lines(
    path: Path, block: str, program: str, problem: Finding
) -> tuple[dict[str, Any], dict[str, int], list[Finding]] | Finding:
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for found in _LINE.finditer(block):
        key, value = found.group(1), found.group(2) or ""
        line = block.count("\n", 0, found.start()) + 2
        quote = value[:1]
        if quote in {"'", '"'}:
            inner = value[1:-1]
            if len(value) < len("''") or value[-1] != quote or quote in inner.replace("\\" + quote, ""):
                return Finding(
                    "header-no-yaml",
                    Place(path, line),
                    {"problem": problem.sentence(), "consequence": f", so that {program} does not load it",
                     "severity": "error"},
                )  # fmt: skip
            value = inner
        values[key] = value.replace("\\n", "\n")
        lines[key] = line
    data = {"problem": problem.sentence(), "consequence": f"; {program} takes each line whole"}
    return values, lines, [Finding("header-no-yaml", problem.place, data)]
