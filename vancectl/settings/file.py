"""Adds an entry to a list in a settings file, or takes one out: all else in the file stays as its author wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

_PLAIN = re.compile(r"/[A-Za-z0-9_./-]*")


class UneditableError(Exception):
    """The file is written in a way that is left to its author."""


def with_entry(text: str, path: Sequence[str], entry: str) -> str:
    """`text` with the entry at the end of the list at `path`, which is made where it is not there yet.

    Raises UneditableError; the caller reads the result before it is believed.
    """
    return _in_line_ends_of(text, lambda plain: _add(plain, path, entry))


def without_entries(text: str, path: Sequence[str], dropped: Callable[[str], bool]) -> str:
    """`text` without the entries of the list at `path` for which `dropped` holds. Raises UneditableError."""
    return _in_line_ends_of(text, lambda plain: _drop(plain, path, dropped))


def _in_line_ends_of(text: str, edit: Callable[[str], str]) -> str:
    """Lines end with one character while they are edited, and then as the file's own do."""
    windows = "\r\n" in text
    edited = edit(text.replace("\r\n", "\n"))
    return edited.replace("\n", "\r\n") if windows else edited


def _add(text: str, path: Sequence[str], entry: str) -> str:
    written = entry if _PLAIN.fullmatch(entry) else json.dumps(entry, ensure_ascii=False)
    root = _compose(text)
    if root is None:
        return _append(text, _block(path, written, 0))
    node, depth = root, 0
    while depth < len(path) and node.id == "mapping":
        inner = _value(node, path[depth])
        if inner is None:
            return _add_key(text, node, path[depth:], written)
        node, depth = inner, depth + 1
    if node.id == "sequence":
        return _add_item(text, node, written)
    if node.id == "scalar" and node.tag.endswith(":null"):  # `trust:`, `folders: ~`
        here = "".join(f"{{{key}: " for key in path[depth:]) + f"[{written}]" + "}" * len(path[depth:])
        start, end = node.start_mark.index, node.end_mark.index
        return f"{text[:start]}{'' if start < end else ' '}{here}{text[end:]}"
    raise UneditableError


def _drop(text: str, path: Sequence[str], dropped: Callable[[str], bool]) -> str:
    node = _compose(text)
    for key in path:
        if node is not None and node.id == "mapping":
            node = _value(node, key)
    if node is None or node.id != "sequence":
        return text
    kept = [item for item in node.value if not dropped(str(item.value))]
    if len(kept) == len(node.value):
        return text
    if node.flow_style:
        items = ", ".join(text[item.start_mark.index : item.end_mark.index] for item in kept)
        return f"{text[: node.start_mark.index]}[{items}]{text[node.end_mark.index :]}"
    lines = text.splitlines(keepends=True)
    if not kept:
        first, last = node.value[0].start_mark.line, node.value[-1].end_mark.line
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        return "".join([*lines[:first], f"{indent}  []\n", *lines[last + 1 :]])
    gone = {item.start_mark.line for item in node.value if item not in kept}
    return "".join(line for number, line in enumerate(lines) if number not in gone)


def _compose(text: str) -> Any:
    """The root node. The loader in Python, slow as it is, counts characters, and so says where something stands."""
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UneditableError from None


def _value(mapping: Any, key: str) -> Any:
    return next((value for name, value in mapping.value if name.value == key), None)


def _add_key(text: str, mapping: Any, path: Sequence[str], written: str) -> str:
    if mapping.flow_style:
        inner = f"[{written}]"
        for key in reversed(path[1:]):
            inner = f"{{{key}: {inner}}}"
        end = mapping.end_mark.index - 1
        comma = ", " if mapping.value else ""
        before = text[:end].rstrip()
        return f"{before.removesuffix(',')}{comma}{path[0]}: {inner}{text[len(before) :]}"
    column = mapping.start_mark.column
    if column == 0:
        return _append(text, _block(path, written, 0))
    start = mapping.start_mark.index  # the new key comes first: where a mapping ends is hard to tell from its comments
    return f"{text[:start]}{_block(path, written, column).lstrip()}{' ' * column}{text[start:]}"


def _add_item(text: str, sequence: Any, written: str) -> str:
    if not sequence.value:
        start, end = sequence.start_mark.index, sequence.end_mark.index
        return f"{text[:start]}[{written}]{text[end:]}"
    last = sequence.value[-1]
    if sequence.flow_style:
        return f"{text[: last.end_mark.index]}, {written}{text[last.end_mark.index :]}"
    lines = text.splitlines(keepends=True)
    number = last.end_mark.line
    line = lines[number] if lines[number].endswith("\n") else lines[number] + "\n"
    return "".join([*lines[:number], line, f"{' ' * sequence.start_mark.column}- {written}\n", *lines[number + 1 :]])


def _block(path: Sequence[str], written: str, indent: int) -> str:
    lines = [f"{' ' * (indent + 2 * depth)}{key}:" for depth, key in enumerate(path)]
    return "\n".join([*lines, f"{' ' * (indent + 2 * len(path))}- {written}"]) + "\n"


def _append(text: str, block: str) -> str:
    """At the end of the document, which a line of three dots may end."""
    head, end, rest = text, "", ""
    for line in text.splitlines(keepends=True):
        if line.rstrip() == "...":
            head, end, rest = text.partition(line)
    return f"{head}{'' if not head or head.endswith(chr(10)) else chr(10)}{block}{end}{rest}"
