"""What a preset may hold: the one declaration. Presets come with the package, so whatever is odd in one is an error."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from vancectl.reading.shape import ITEMS, MEMBERS, Entry, Shape, Text, expected
from vancectl.reading.value import Value
from vancectl.settings.keys import ENGINE_KINDS


def _command(value: Any) -> Any:
    items = value.items() if isinstance(value, Value) else None
    if items is None:
        raise ValueError
    groups = [(item, item.items()) for item in items]
    return [[word.text() for word in group] if group is not None else item.text() or "" for item, group in groups]


def _like_setting(key: str) -> tuple[AfterValidator, Any]:
    """As the setting of an engine has it."""
    kind = ENGINE_KINDS[key]
    return AfterValidator(kind.clean), expected(kind.expected)


def _no_nulls(texts: dict[str, str | None]) -> dict[str, str]:
    return {pattern: text or "" for pattern, text in texts.items()}


Words = Annotated[list[Entry], ITEMS]
Named = Annotated[dict[str, Text], MEMBERS]
_CLEAN_COMMAND, _A_COMMAND = _like_setting("command")
_CLEAN_STDIN, _A_STDIN = _like_setting("stdin")
_CLEAN_ENV, _AN_ENV = _like_setting("env")


class PresetShape(Shape):
    """A spawn command for a program that people have."""

    description: Text = Field(None, description="What it starts.")
    command: Annotated[
        list[Any], _CLEAN_COMMAND, BeforeValidator(_command), _A_COMMAND, WithJsonSchema({"type": "array"})
    ] = Field(description="The program and its arguments; a list in it is left out where a placeholder has no value.")
    stdin: Annotated[Text, _CLEAN_STDIN, _A_STDIN] = Field("payload", description="What the program reads.")
    env: Annotated[Named, _CLEAN_ENV, _AN_ENV] = Field({}, description="Variables; null unsets one.")
    engines: Words | None = Field(None, description="The engines that it can run; any, where they are not named.")
    reads: Text = Field(None, description="How the program comes by the task.")
    dash: Text = Field(None, description="What becomes of a task that begins with `-`.")
    program: Text = Field(None, description="What must be there, where it is not the first word of the command.")
    words: Text = Field(None, description="Characters that make a command of a task that begins with one.")
    mentions: Text = Field(None, description="Characters before a path that have the program read that file.")
    untrusted: Words = Field([], description="More words where the tenant does not trust the folder.")
    passes: Words = Field([], description="What of a recipe holds without an argument.")
    values: Annotated[dict[str, Annotated[Named, AfterValidator(_no_nulls)]], MEMBERS] = Field(
        {}, description="What the program calls the values of a recipe."
    )
    stop: Words = Field([], description="A command that ends what the program has started elsewhere.")
    says: Text = Field(None, description="What standard input says in place of the bare message.")
    each: Words = Field([], description="Words for each param that a recipe requires.")
    known: Words = Field([], description="A command that prints the names that the program knows.")
