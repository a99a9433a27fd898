"""What a plan may hold: the one declaration, of which the reader, the schema and the manual are made."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from vancectl.delegation.request_shape import Asked
from vancectl.reading.shape import CLOSED, ITEMS, Closed, Flag, Text
from vancectl.reading.value import Members, Value


def _child(value: Any) -> Any:
    if isinstance(value, Value) and value.members() is None:
        raise PydanticCustomError("plan-child", "", {"found": value.kind()})
    return value


class Template(Asked):
    """A child as it is written once for all items; its texts are templates."""


class Expand(Closed):
    """Children that are made of items."""

    stray: ClassVar[str] = "unknown-field"

    items: Annotated[Any, WithJsonSchema({"anyOf": [{"type": "array"}, {"type": "string", "minLength": 1}]})] = Field(
        description="A list, or the name of a file beside the plan."
    )
    child_template: Template = Field(description="The child of each item.")


class ChildShape(Asked):
    """A child: a request of its own, or `expand`."""

    expand: Expand | None = Field(None, description="In place of all other fields: children that are made of items.")

    @classmethod
    def known_beside(cls, members: Members) -> tuple[str, ...]:
        return ("expand",) if "expand" in members else super().known_beside(members)


class PlanShape(Closed):
    """A plan: many delegations in one file."""

    model_config = ConfigDict(json_schema_extra={**CLOSED, "required": ["children"]})
    stray: ClassVar[str] = "unknown-field"

    children: Annotated[list[Annotated[ChildShape, BeforeValidator(_child)]], ITEMS] = Field(
        [], description="The list of children: each holds fields of a request, or `expand`."
    )
    session: Text = Field(None, description="The session of all children.")
    fallback_on_none: Flag = Field(
        None, description="Whether NONE starts a fallback for a child; true unless said otherwise."
    )
