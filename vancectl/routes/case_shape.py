"""What a file of cases may hold: the one declaration, of which the reader, the schema and the manual are made."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema

from vancectl.reading.reader import EACH
from vancectl.reading.shape import (
    CLOSED,
    ITEMS,
    NOTHING,
    PLAIN,
    SCALAR,
    TEXT,
    Closed,
    Entry,
    Flag,
    expected,
)
from vancectl.reading.value import Members, Sent, Value
from vancectl.recordings.recordings import without_line_end
from vancectl.routes.case import MAX_REPEAT, NONE, STAGES
from vancectl.text.names import canonical

_CLAIMS = {"expect", "not", "stage", "starts"}


def _said(text: str | None) -> str:
    if text is None or not text.strip():
        raise ValueError
    return text


def _word(text: str | None) -> str:
    return _said(text).strip()


def _name(text: str | None) -> str:
    """A recipe's name in its canonical form, as everywhere; NONE is none."""
    word = _word(text)
    return word if word == NONE else canonical(word)


def _stage(text: str | None) -> str:
    if text not in STAGES:
        raise ValueError
    return text


def _label(value: Any) -> Any:
    """A number of JSON is a name as good as a text; of YAML both are the text that was written."""
    return str(value.value) if isinstance(value, Sent) and type(value.value) is int else value


def _there(text: str | None) -> str:
    if text is None:
        raise ValueError
    return text


def _one_or_more(value: Any) -> Any:
    items = value.items() if isinstance(value, Value) else value
    if items == []:
        raise ValueError
    return items if items is not None else [value]


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_REPEAT:
        raise ValueError
    return value


# What is left out is None; a null that is written is refused as any other value that says nothing.
_TEXT_SCHEMA = WithJsonSchema(SCALAR)
_NAMES = WithJsonSchema({"anyOf": [SCALAR, {"type": "array", "items": SCALAR, "minItems": 1}]})

Said = Annotated[str | None, TEXT, AfterValidator(_said), expected("text"), _TEXT_SCHEMA]
Name = Annotated[str | None, TEXT, AfterValidator(_name), expected("a recipe's name, or NONE"), _TEXT_SCHEMA]
Names = Annotated[
    list[Annotated[Entry, AfterValidator(_name)]], BeforeValidator(_one_or_more), expected("a list of names"), _NAMES
]
Words = Annotated[
    list[Annotated[Entry, AfterValidator(_word)]], BeforeValidator(_one_or_more), expected("a list of words"), _NAMES
]
Times = Annotated[
    int | None, PLAIN, AfterValidator(_count), expected(f"a whole number from 1 to {MAX_REPEAT}"),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_REPEAT}),
]  # fmt: skip
StageName = Annotated[
    str | None, TEXT, AfterValidator(_stage), expected(f"one of {', '.join(STAGES)}"),
    WithJsonSchema({"enum": [*STAGES]}),
]  # fmt: skip
# A block of YAML ends in a line end that no one means.
Task = Annotated[str, TEXT, AfterValidator(without_line_end), expected("text"), _TEXT_SCHEMA]
ProfileName = Annotated[str | None, TEXT, AfterValidator(_word), expected("a profile's name"), _TEXT_SCHEMA]
Label = Annotated[
    str | None, TEXT, AfterValidator(_there), BeforeValidator(_label), expected("text or a number"), _TEXT_SCHEMA
]


class CaseShape(Closed):
    """A case: a task, and what should be decided about it. At least one of `expect`, `not`, `stage` and `starts`."""

    stray: ClassVar[str] = "case-key"

    task: Task = Field(description="The task in plain words. A blank one is a task too: it must give NONE.")
    expect: Name = Field(None, description="The right recipe, or `NONE`.")
    accept: Names = Field(default_factory=list, description="A list of other right names.")
    avoid: Names = Field(default_factory=list, alias="not", description="A list of names that would be wrong.")
    stage: StageName = Field(None, description="The stage that must decide: `trigger`, `model` or `none`.")
    starts: Name = Field(None, description="The recipe that `delegate` would start, after fallback; or `NONE`.")
    profile: ProfileName = Field(None, description="The profile that the started recipe must have.")
    repeat: Times = Field(1, description="How often the model is asked, since its answers may differ: 1 to 100.")
    at_least: Times = Field(None, description="How many of these answers must be right; all of them without this key.")
    tags: Words = Field(default_factory=list, description="Words by which results are summed up.")
    why: Said = Field(None, description="Why the case is there, for people.")
    id: Label = Field(None, description="A name for the case: text or a number.")
    lang: Said = Field(None, description="The task's language, by which results are summed up.")

    @classmethod
    def report(cls, members: Members) -> None:
        super().report(members)
        if not members.keys() & _CLAIMS:
            members.whole.add("case-claims-nothing", at_key=True)


class CasesShape(Closed):
    """A file of cases in YAML. A file of JSON lines has a case a line."""

    model_config = ConfigDict(json_schema_extra={**CLOSED, "required": ["cases"]})
    stray: ClassVar[str] = "case-key"

    cases: Annotated[list[Annotated[CaseShape | None, NOTHING, EACH]], ITEMS] = Field(
        [], description="The list of cases."
    )
    sources: Flag = Field(
        None,
        description="Whether other programs' recipes are candidates for these cases; false unless said otherwise.",
    )
