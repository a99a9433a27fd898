"""What the engine catalog may hold: the one declaration."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from vancectl.reading.shape import RequiredText, Shape
from vancectl.reading.value import Members, Value, wrong
from vancectl.text.names import engine_name


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _by_name(engines: Value) -> Members:
    """Each engine once, under its own name; two spellings of one are two answers to one question."""
    members = engines.members()
    if members is None and not engines.nothing:
        raise wrong("a mapping")
    if not members:
        raise PydanticCustomError("missing", "is missing")
    lines: dict[str, int] = {}
    for written, value in members.items():
        name = engine_name(written)
        if name in lines:
            value.add("duplicate-key", at_key=True, key=name, first=lines[name])
        lines[name] = value.key_place.line
    return Members(engines, {engine_name(name): value for name, value in members.items()})


def _at_least_empty(engine: Value) -> Value | Members:
    return Members(engine, {}) if engine.nothing else engine


Line = Annotated[RequiredText, AfterValidator(_on_one_line)]


class EngineShape(Shape):
    """An engine: what executes a recipe."""

    purpose: Line = Field(description="What it is for.")
    when_to_use: Line = Field(alias="when_to_use", description="When to take it.")
    not_for: Line = Field(alias="not_for", description="What to leave to others.")


class CatalogShape(Shape):
    """The engine catalog."""

    engines: Annotated[
        dict[str, Annotated[EngineShape, BeforeValidator(_at_least_empty)]], BeforeValidator(_by_name)
    ] = Field(description="The engines, by name.")
