"""A value that an author or a caller gave, with its place and the way to it: a YAML node, or what JSON said.

A shape's types read both through one set of questions, so that a text of YAML stays the text that its author wrote
(`no`, `1:30`, `007`), and each error has the value that it is about.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from pydantic_core import PydanticCustomError

from vancectl.errors import Place
from vancectl.reading.document import Document, Node, is_mapping, is_null, is_text, kind_of, place_of, truth_of
from vancectl.reading.finding import Finding

_SHOWN = 80


def wrong(expected: str) -> PydanticCustomError:
    """The error of a value of another kind than `expected`, which is in words."""
    return PydanticCustomError("wrong-type", "must be {expected}", {"expected": expected})


class Value(ABC):
    """`way` leads to it (`triggers.match`; in an item of a list it begins anew), `above` is what it is a member of."""

    __slots__ = ("above", "way")

    a_mapping = "a mapping"

    def __init__(self, way: str, above: Value | None) -> None:
        self.way, self.above = way, above

    @property
    @abstractmethod
    def findings(self) -> list[Finding]:
        """What was found in all that it belongs to; `add` adds to it."""

    @property
    @abstractmethod
    def place(self) -> Place:
        """Where it is; of a member, where its value begins."""

    @property
    def key_place(self) -> Place:
        """Where its key is."""
        return self.place

    @property
    @abstractmethod
    def nothing(self) -> bool:
        """Whether it is null, which says nothing."""

    @property
    def exhausted(self) -> bool:
        """Whether the reading had to end before all was read."""
        return False

    @abstractmethod
    def kind(self) -> str:
        """What it is, in words."""

    @abstractmethod
    def text(self) -> str | None:
        """The text as its author wrote it; None for null. Raises the error for what is none."""

    @abstractmethod
    def flag(self) -> bool | None:
        """What is true or false; None for null. Raises the error for what is neither."""

    @abstractmethod
    def items(self) -> list[Value] | None:
        """The items of a list; None for what is none."""

    @abstractmethod
    def members(self) -> Members | None:
        """The members of a mapping; None for what is none."""

    @abstractmethod
    def plain(self) -> Any:
        """All of it, as JSON knows it."""

    @abstractmethod
    def add(self, code: str, *, at_key: bool = False, **data: Any) -> None:
        """Notes a finding here, or at the key that it is the value of."""

    def shown(self) -> str:
        """The beginning of it as JSON, for a message."""
        return json.dumps(self.plain(), ensure_ascii=False)[:_SHOWN]

    def below(self, key: str) -> str:
        return f"{self.way}.{key}" if self.way and not self.way.endswith("[]") else key


class Members(dict[str, Any]):
    """The members of a mapping, which know what they are the members of."""

    def __init__(self, whole: Value, members: dict[str, Any]) -> None:
        super().__init__(members)
        self.whole = whole


class Written(Value):
    """A node of YAML; `key` is the node of its key, or itself in a list."""

    __slots__ = ("document", "key", "node")

    def __init__(
        self, document: Document, node: Node, key: Node = None, way: str = "", above: Value | None = None
    ) -> None:
        super().__init__(way, above)
        self.document, self.node, self.key = document, node, key if key is not None else node

    @property
    def findings(self) -> list[Finding]:
        return self.document.findings

    @property
    def place(self) -> Place:
        return place_of(self.document.path, self.node)

    @property
    def key_place(self) -> Place:
        return place_of(self.document.path, self.key)

    @property
    def nothing(self) -> bool:
        return is_null(self.node)

    @property
    def exhausted(self) -> bool:
        return self.document.exhausted

    def kind(self) -> str:
        return kind_of(self.node)

    def text(self) -> str | None:
        if not is_text(self.node):
            raise wrong("text")
        return self.document.text(self.node, self.way)

    def flag(self) -> bool | None:
        flag = truth_of(self.node)
        if flag is None and not self.nothing:
            raise wrong("true or false")
        return flag

    def items(self) -> list[Value] | None:
        return list(self._items()) if self.node.id == "sequence" else None

    def _items(self) -> Iterator[Value]:
        for node in self.node.value:
            if self.document.exhausted:
                break
            yield Written(self.document, node, node, f"{self.way}[]", self)

    def members(self) -> Members | None:
        if not is_mapping(self.node):
            return None
        pairs = self.document.pairs(self.node)
        return Members(self, {key: Written(self.document, node, at, self.below(key), self) for key, at, node in pairs})

    def plain(self) -> Any:
        return self.document.plain(self.node)

    def add(self, code: str, *, at_key: bool = False, **data: Any) -> None:
        self.document.add(code, self.key if at_key else self.node, **data)


class Sent(Value):
    """What JSON said, as Python has it. Its findings are all at one place: that of the whole."""

    __slots__ = ("_findings", "_place", "value")

    a_mapping = "an object"

    def __init__(
        self, value: Any, place: Place, findings: list[Finding], way: str = "", above: Value | None = None
    ) -> None:
        super().__init__(way, above)
        self.value, self._place, self._findings = value, place, findings

    @property
    def findings(self) -> list[Finding]:
        return self._findings

    @property
    def place(self) -> Place:
        return self._place

    @property
    def nothing(self) -> bool:
        return self.value is None

    def kind(self) -> str:
        kinds = {type(None): "null", bool: "true or false", str: "text", list: "a list", dict: "an object"}
        return kinds.get(type(self.value), "a number")

    def text(self) -> str | None:
        if not isinstance(self.value, str | None):
            raise wrong("text")
        return self.value

    def flag(self) -> bool | None:
        if not isinstance(self.value, bool | None):
            raise wrong("true or false")
        return self.value

    def items(self) -> list[Value] | None:
        if not isinstance(self.value, list):
            return None
        return [Sent(each, self._place, self._findings, f"{self.way}[]", self) for each in self.value]

    def members(self) -> Members | None:
        if not isinstance(self.value, dict):
            return None
        members = self.value.items()
        return Members(
            self, {key: Sent(each, self._place, self._findings, self.below(key), self) for key, each in members}
        )

    def plain(self) -> Any:
        return self.value

    def add(self, code: str, *, at_key: bool = False, **data: Any) -> None:
        del at_key  # the place of a key in JSON is not known
        self._findings.append(Finding(code, self._place, data))
