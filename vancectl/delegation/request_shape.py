"""What a request may hold: the one declaration, of which the reader, the schema and the manual are made.

The child of a plan holds the same fields, less those that a plan says for all of its children.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema

from vancectl.reading.shape import CLOSED, NOTHING, PLAIN, Anything, Closed, Flag, Text, Values, expected


def _seconds(value: Any) -> Any:
    # Python takes true and false for numbers; JSON does not.
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise ValueError
    return value


def _list(value: Any) -> Any:
    if not isinstance(value, list | None):
        raise ValueError
    return value


Seconds = Annotated[
    Any, PLAIN, AfterValidator(_seconds), expected("a number of seconds"), NOTHING,
    WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0}),
]  # fmt: skip
Argv = Annotated[
    Any, PLAIN, AfterValidator(_list), expected("a list of texts: the program, then its arguments"), NOTHING,
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string"}}),
]  # fmt: skip


class Asked(Closed):
    """What is asked for in one start. A field that is null counts as left out."""

    stray: ClassVar[str] = "unknown-field"

    name: Text = Field(None, description="The name of the process, unique in its session; required in a request.")
    task: Text = Field(
        None,
        description="The task in plain words; required unless `recipe` or `engine` is given. Where it is "
        "missing or blank, the first of `goal`, `prompt` and `steerContent` that is not takes its place.",
    )
    goal: Text = Field(None, description="Another name for `task`.")
    prompt: Text = Field(None, description="Another name for `task`.")
    title: Text = Field(None, description="A title for people.")
    steer_content: Text = Field(None, description="The first message to the process.")
    params: Values = Field(None, description="An object with params for the recipe.")
    recipe: Text = Field(None, description="A recipe, or `auto`.")
    engine: Text = Field(None, description="An engine.")
    timeout_seconds: Seconds = Field(None, description="The time limit, in seconds.")
    profile: Text = Field(None, description="The profile of the recipe.")
    on_exit: Argv = Field(None, description="A list of texts, as `--on-exit`.")

    def fields(self) -> dict[str, Any]:
        """What was said, less what is null."""
        given = {field.alias or name: getattr(self, name) for name, field in type(self).model_fields.items()}
        return {key: value for key, value in given.items() if value is not None}


class RequestShape(Asked):
    """A request to `delegate`. A field that is null counts as left out."""

    model_config = ConfigDict(json_schema_extra={**CLOSED, "required": ["name"]})

    fallback_on_none: Flag = Field(None, description="Whether NONE starts a fallback; true unless said otherwise.")
    wait: Flag = Field(None, description="Whether to wait; true unless said otherwise.")
    session: Text = Field(None, description="The session, where `--session` names none.")
    inherit_context: Anything = Field(None, description="Any value; it is passed on in the payload.")
    async_fallback: Flag = Field(None, description="As `--async-fallback`; false unless said otherwise.")
