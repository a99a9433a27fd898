"""Sets a value in a settings file, or takes one out: comments, order and quotes of the rest stay as they are."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

_SHIFTED_LIST = re.compile(r"^( *)[^\s#-][^\n]*:[^\S\n]*(#[^\n]*)?\n\1  +- ", re.M)


class UneditableError(Exception):
    """The file is written in a way that is left to its author."""


def with_value(text: str, way: Sequence[str], value: Any) -> str:
    """`text` with the value at the end of the way, which is made where it is not there. Raises UneditableError."""
    yaml, root = _read(text)
    place = root
    for key in way[:-1]:
        if place.get(key) is None:
            place[key] = {}
        place = place[key]
        _require_mapping(place, key)
    if place.get(way[-1]) == value and way[-1] in place:
        return text
    place[way[-1]] = value
    return _written(yaml, root, text)


def without_value(text: str, way: Sequence[str]) -> str:
    """`text` without the key at the end of the way, nor the mappings that are empty then. Raises UneditableError."""
    yaml, root = _read(text)
    places = [root]
    for key in way[:-1]:
        if places[-1].get(key) is None:
            return text
        _require_mapping(places[-1][key], key)
        places.append(places[-1][key])
    if way[-1] not in places[-1]:
        return text
    for place, key in zip(reversed(places), reversed(way), strict=True):
        del place[key]
        if place:
            break
    return _written(yaml, root, text) if root else _comments(text)


def _read(text: str) -> tuple[Any, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    if _SHIFTED_LIST.search(text):
        yaml.indent(mapping=2, sequence=4, offset=2)
    try:
        root = yaml.load(text)
    except (YAMLError, ValueError, RecursionError):
        raise UneditableError("it is not plain YAML") from None
    if root is None:
        root = yaml.load("{}")
        root.fa.set_block_style()
    _require_mapping(root, "the file")
    return yaml, root


def _require_mapping(value: Any, what: str) -> None:
    if not isinstance(value, dict):
        raise UneditableError(f"`{what}` is not a mapping there")


def _written(yaml: Any, root: Any, before: str) -> str:
    stream = io.StringIO()
    yaml.dump(root, stream)
    text = stream.getvalue()
    if not before.strip() or _only_comments(before):
        text = before + ("" if not before or before.endswith("\n") else "\n") + text
    return text.replace("\n", "\r\n") if "\r\n" in before else text


def _only_comments(text: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def _comments(text: str) -> str:
    """What is left of a file whose last key has gone."""
    return "".join(line for line in text.splitlines(keepends=True) if line.lstrip().startswith("#"))
