"""Shapes: what a file or a caller may say, declared as pydantic models, and the types that their fields have.

A model is given values that know their place (`reading/value.py`), and each type reads its own. pydantic costs as much
as all the rest of a start, so nothing that a warm start needs may import this module.
"""

from __future__ import annotations

import functools
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
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from vancectl.errors import Place
from vancectl.reading.value import Members, Value, wrong
from vancectl.text.printable import well_formed

# -- what a field's type makes of a value; what is no `Value` was made by an inner type


def _text(value: Any) -> Any:
    return value.text() if isinstance(value, Value) else value


def _required(value: Any) -> Any:
    """A blank text says as little as none."""
    text = _text(value)
    if text is None or (isinstance(text, str) and not text.strip()):
        raise PydanticCustomError("missing", "is missing")
    return text


def _entry(value: Any) -> Any:
    """An entry of a list of texts: null is an empty text there."""
    text = _text(value)
    return "" if text is None and isinstance(value, Value) else text


def _flag(value: Any) -> Any:
    return value.flag() if isinstance(value, Value) else value


def _items(value: Any) -> Any:
    if not isinstance(value, Value):
        return value
    if value.nothing:
        return []
    items = value.items()
    if items is None:
        raise wrong("a list")
    return items


def _members(value: Any) -> Any:
    if not isinstance(value, Value):
        return value
    members = value.members()
    if members is None:
        raise wrong(value.a_mapping)
    return members


def _nothing(value: Any) -> Any:
    return None if isinstance(value, Value) and value.nothing else value


def _values(value: Any) -> Any:
    if not isinstance(value, Value) or value.nothing:
        return _nothing(value)
    _members(value)
    return value.plain()


def _anything(value: Any) -> Any:
    return value.plain() if isinstance(value, Value) else value


def _without_blanks(texts: list[str]) -> list[str]:
    return [text for text in texts if text]


# An editor knows YAML's own reading of a scalar, which does not matter where text is expected.
SCALAR = {"type": ["string", "number", "boolean"]}
SCALAR_OR_NULL = {"type": ["string", "number", "boolean", "null"]}

TEXT = BeforeValidator(_text)
Text = Annotated[str | None, TEXT, WithJsonSchema(SCALAR_OR_NULL)]
RequiredText = Annotated[str, BeforeValidator(_required), WithJsonSchema(SCALAR)]
Flag = Annotated[bool | None, BeforeValidator(_flag), WithJsonSchema({"type": ["boolean", "null"]})]
Entry = Annotated[str, BeforeValidator(_entry), WithJsonSchema(SCALAR_OR_NULL)]
ITEMS = BeforeValidator(_items)
TEXTS_SCHEMA = WithJsonSchema({"type": ["array", "null"], "items": SCALAR_OR_NULL})
Texts = Annotated[list[Entry], ITEMS, AfterValidator(_without_blanks), TEXTS_SCHEMA]
# A mapping of anything, a mapping whose members are shapes, and what may be null.
Values = Annotated[dict[str, Any] | None, BeforeValidator(_values), WithJsonSchema({"type": ["object", "null"]})]
MEMBERS = BeforeValidator(_members)
NOTHING = BeforeValidator(_nothing)
PLAIN = BeforeValidator(_anything)
Anything = Annotated[Any, PLAIN, WithJsonSchema({})]


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


def expected(words: str) -> WrapValidator:
    """The annotation of a value that is refused as a whole: whatever is wrong in it, it must be what the words say."""

    def read(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except (ValidationError, ValueError):
            found = value.shown() if isinstance(value, Value) else ""
            raise PydanticCustomError("wrong-type", "must be {expected}", {"expected": words, "found": found}) from None

    return WrapValidator(read)


class Shape(BaseModel):
    """A mapping with known keys; what else is in it is kept as it is."""

    model_config = ConfigDict(alias_generator=to_camel, strict=True, extra="allow")

    __pydantic_extra__: dict[str, Anything] = {}
    _order: tuple[str, ...] = PrivateAttr(default=())
    _place: Place | None = PrivateAttr(default=None)

    # The rule of a key that is not known, and more to say of such a key; by the key, where it belongs.
    stray: ClassVar[str] = "unknown-key"
    hint: ClassVar[str] = ""
    astray: ClassVar[dict[str, str]] = {}

    @classmethod
    @functools.cache
    def key_names(cls) -> tuple[str, ...]:
        """The keys, in the order in which they are declared."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @classmethod
    def known_beside(cls, members: Members) -> tuple[str, ...]:
        """The keys that there may be beside these."""
        del members
        return cls.key_names()

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        members = _members(value)
        if isinstance(members, Members):
            cls.report(members)
            for key in [key for key in members if not key.isascii() and well_formed(key) != key]:
                del members[key]  # pydantic takes no key with a lone surrogate; no known one has any
        shape = handler(members)
        if isinstance(members, Members):
            shape._order, shape._place = tuple(members), members.whole.place
        return shape

    @classmethod
    def report(cls, members: Members) -> None:
        """Adds what is to be said of the whole before its fields are read."""
        known = cls.known_beside(members)
        for key, value in members.items():
            if key not in known:
                plain = key.isprintable() and key.isascii()
                hint = cls.astray.get(key, cls.hint if plain else "; it holds an unusual or invisible character")
                data = {"known": known, "nearest_to": key.strip(), "hint": hint}
                value.add(cls.stray, at_key=True, key=value.way, **data)

    @property
    def place(self) -> Place:
        """Where it begins, of one that was read."""
        if self._place is None:
            raise ValueError("it was made, not read")
        return self._place

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


CLOSED: dict[str, Any] = {"additionalProperties": False}


class Closed(Shape):
    """A mapping in which a key that is not known is an error."""

    model_config = ConfigDict(json_schema_extra=CLOSED)


class Open(Shape):
    """A mapping that others put more into, of which nothing is said."""

    @classmethod
    def report(cls, members: Members) -> None:
        """All keys are welcome."""
