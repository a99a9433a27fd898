"""Shapes: what a file or a caller may say, declared as pydantic models, and the types that their fields have.

A model is given YAML's nodes, and each type reads its own: so a text stays the text that its author wrote (`no`,
`1:30`, `007`), and each error has the node that it is about. Values that come as JSON pass the same types.
pydantic costs as much as all the rest of a start, so nothing that a warm start needs may import this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from vancectl.reading.document import Document, Node, is_mapping, is_null, is_text, truth_of


class Written:
    """A value as YAML has it: its node, that of its key (of itself in a list), and the way to it (`triggers.match`)."""

    __slots__ = ("document", "key", "node", "way")

    def __init__(self, document: Document, node: Node, key: Node, way: str) -> None:
        self.document, self.node, self.key, self.way = document, node, key, way

    def members(self) -> Members:
        above = f"{self.way}." if self.way else ""
        pairs = self.document.pairs(self.node)
        return Members(self, {key: Written(self.document, node, at, above + key) for key, at, node in pairs})

    def items(self) -> Iterator[Written]:
        for node in self.node.value:
            if self.document.exhausted:
                break
            yield Written(self.document, node, node, f"{self.way}[]")

    @property
    def nothing(self) -> bool:
        """Whether it is null, which says nothing."""
        return is_null(self.node)


class Members(dict[str, Any]):
    """The members of a mapping, which know what they are the members of."""

    def __init__(self, whole: Written, members: dict[str, Any]) -> None:
        super().__init__(members)
        self.whole = whole


def wrong(expected: str) -> PydanticCustomError:
    """The error of a value of another kind than `expected`, which is in words."""
    return PydanticCustomError("wrong-type", "must be {expected}", {"expected": expected})


# -- what a field's type makes of a node; a value that is no node comes from JSON, and is checked by pydantic itself


def _text(value: Any) -> Any:
    if not isinstance(value, Written):
        return value
    if not is_text(value.node):
        raise wrong("text")
    return value.document.text(value.node, value.way)


def _required(value: Any) -> Any:
    """A blank text says as little as none."""
    text = _text(value)
    if text is None or (isinstance(text, str) and not text.strip()):
        raise PydanticCustomError("missing", "is missing")
    return text


def _entry(value: Any) -> Any:
    """An entry of a list of texts: null is an empty text there."""
    text = _text(value)
    return "" if text is None and isinstance(value, Written) else text


def _flag(value: Any) -> Any:
    if not isinstance(value, Written):
        return value
    flag = truth_of(value.node)
    if flag is None and not value.nothing:
        raise wrong("true or false")
    return flag


def _items(value: Any) -> Any:
    if not isinstance(value, Written):
        return value
    if value.nothing:
        return []
    if value.node.id != "sequence":
        raise wrong("a list")
    return list(value.items())


def _members(value: Any) -> Any:
    if not isinstance(value, Written):
        return value
    if not is_mapping(value.node):
        raise wrong("a mapping")
    return value.members()


def _nothing(value: Any) -> Any:
    return None if isinstance(value, Written) and value.nothing else value


def _values(value: Any) -> Any:
    if isinstance(value, Written):
        return value.document.plain(value.node) if is_mapping(value.node) else _members(_nothing(value))
    return value


def _anything(value: Any) -> Any:
    return value.document.plain(value.node) if isinstance(value, Written) else value


def _without_blanks(texts: list[str]) -> list[str]:
    return [text for text in texts if text]


# An editor knows YAML's own reading of a scalar, which does not matter where text is expected.
_SCALAR = {"type": ["string", "number", "boolean"]}
_SCALAR_OR_NULL = {"type": ["string", "number", "boolean", "null"]}

Text = Annotated[str | None, BeforeValidator(_text), WithJsonSchema(_SCALAR_OR_NULL)]
RequiredText = Annotated[str, BeforeValidator(_required), WithJsonSchema(_SCALAR)]
Flag = Annotated[bool | None, BeforeValidator(_flag), WithJsonSchema({"type": ["boolean", "null"]})]
Entry = Annotated[str, BeforeValidator(_entry), WithJsonSchema(_SCALAR_OR_NULL)]
ITEMS = BeforeValidator(_items)
TEXTS_SCHEMA = WithJsonSchema({"type": ["array", "null"], "items": _SCALAR_OR_NULL})
Texts = Annotated[list[Entry], ITEMS, AfterValidator(_without_blanks), TEXTS_SCHEMA]
# A mapping of anything, a mapping whose members are shapes, and what may be null.
Values = Annotated[dict[str, Any] | None, BeforeValidator(_values), WithJsonSchema({"type": ["object", "null"]})]
MEMBERS = BeforeValidator(_members)
NOTHING = BeforeValidator(_nothing)
Anything = Annotated[Any, BeforeValidator(_anything), WithJsonSchema({})]


class OneOf:
    """The annotation of a text that is one of some words, in any case of letters."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"enum": [*self.allowed, None]}

    def _read(self, value: Any) -> Any:
        text = _text(value)
        word = text.strip().lower() if isinstance(text, str) else text
        if isinstance(word, str) and word not in self.allowed:
            raise PydanticCustomError("unknown-value", "", {"found": text, "expected": " | ".join(self.allowed)})
        return word


class Shape(BaseModel):
    """A mapping with known keys; what else is in it is kept as it is."""

    model_config = ConfigDict(alias_generator=to_camel, strict=True, extra="allow")

    __pydantic_extra__: dict[str, Anything] = {}
    _order: tuple[str, ...] = PrivateAttr(default=())

    # More to say of a key that is not known, by the key: where it belongs.
    astray: ClassVar[dict[str, str]] = {}

    @classmethod
    def key_names(cls) -> tuple[str, ...]:
        """The keys, in the order in which they are declared."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        members = _members(value)
        if isinstance(members, Members):
            cls._report(members)
        shape = handler(members)
        shape._order = tuple(members) if isinstance(members, dict) else ()
        return shape

    @classmethod
    def _report(cls, members: Members) -> None:
        known = cls.key_names()
        for key, value in members.items():
            if key not in known:
                odd = "" if key.isprintable() and key.isascii() else "; it holds an unusual or invisible character"
                hint = cls.astray.get(key, odd)
                data = {"known": known, "nearest_to": key.strip(), "hint": hint}
                value.document.add("unknown-key", value.key, key=value.way, **data)

    def written(self) -> dict[str, Any]:
        """What was said, in the order of its author; a known key that says nothing is left out."""
        known = {field.alias or name: name for name, field in type(self).model_fields.items()}
        extra = self.__pydantic_extra__ or {}
        said = {key: _plain(getattr(self, known[key])) if key in known else extra[key] for key in self._order}
        return {key: value for key, value in said.items() if value is not None or key in extra}


def _plain(value: Any) -> Any:
    if isinstance(value, Shape):
        return value.written()
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, dict) else value
