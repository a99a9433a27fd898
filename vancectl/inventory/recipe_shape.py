"""What a recipe file may hold: the one declaration, of which the reader, the schema and the manual are made."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from vancectl.reading.shape import (
    ITEMS,
    MEMBERS,
    NOTHING,
    TEXTS_SCHEMA,
    Anything,
    Entry,
    Flag,
    OneOf,
    RequiredText,
    Shape,
    Text,
    Texts,
    Values,
)
from vancectl.reading.value import Value
from vancectl.text.comparison import normalise_phrase

PROMPT_MODES = ("append", "overwrite")
MATCH_MODES = ("substring", "word")
# No one says more in a phrase, and each is looked for in every task.
MOST_PHRASE = 1_000


def _phrase(value: Any, handler: ValidatorFunctionWrapHandler) -> str:
    text: str = handler(value)
    if len(text) > MOST_PHRASE:
        raise PydanticCustomError("long-phrase", "is too long", {"count": len(text), "most": MOST_PHRASE})
    if not normalise_phrase(text) and isinstance(value, Value):
        value.add("blank-phrase")
    return text


def _each_once(phrases: list[str]) -> list[str]:
    """Blank entries are left out, and of those that are compared as equal the first is kept."""
    kept: dict[str, str] = {}
    for text in phrases:
        if folded := normalise_phrase(text):
            kept.setdefault(folded, text)
    return list(kept.values())


def _at_least_empty(profiles: dict[str, Profile | None] | None) -> dict[str, Profile] | None:
    return (
        None
        if profiles is None
        else {name: profile or Profile.model_validate({}) for name, profile in profiles.items()}
    )


Phrase = Annotated[Entry, WrapValidator(_phrase)]
Phrases = Annotated[list[Phrase], ITEMS, AfterValidator(_each_once), TEXTS_SCHEMA]


class Triggers(Shape):
    """The phrases that choose a recipe without a model."""

    keywords: Phrases = Field(
        [],
        description="The list of trigger phrases. Blank ones are ignored, and so are those that are compared "
        "like an earlier one; the linter names them.",
    )
    match: Annotated[str | None, OneOf(*MATCH_MODES)] = Field(
        None,
        description="`substring`, the default, or `word`, with which phrases hit whole words only. "
        "vancectl-select(1) says when a phrase hits.",
    )


class Profile(Shape):
    """A profile: it changes a recipe for one way of using it."""

    params: Values = Field(None, description="Laid over the recipe's params, key by key.")
    prompt_prefix_append: Text = Field(None, description="A text that is appended to the recipe's `promptPrefix`.")
    allowed_tools_add: Texts = Field([], description="Appended to the recipe's list, as are the four that follow.")
    allowed_tools_remove: Texts = Field([], description="A list of texts.")
    allowed_tools_defer: Texts = Field([], description="A list of texts.")
    allowed_tools_keep: Texts = Field([], description="A list of texts.")
    allowed_tools_drop_first: Texts = Field([], description="A list of texts.")
    modes: Values = Field(None, description="Laid over the recipe's modes, key by key.")
    session: Values = Field(None, description="A mapping; takes the place of a `session` in the recipe.")


class RecipeShape(Shape):
    """A recipe: what is to be done with a task, when to take it, and which engine does it."""

    astray: ClassVar[dict[str, str]] = {
        key: f"; it belongs under `triggers`, as `triggers.{key}`" for key in Triggers.key_names()
    }

    description: RequiredText = Field(
        description="What the recipe does, when to take it, and what it is not for. It is all that the model reads of "
        "the recipe, besides name and engine."
    )
    engine: RequiredText = Field(description="The engine that executes it, a name of the engine catalog.")
    title: Text = Field(None, description="A title for people.")
    listed: Flag = Field(
        None,
        description="Whether `list` shows it without `--all`; true unless said otherwise. It can be selected all the "
        "same.",
    )
    internal: Flag = Field(
        None,
        description="True keeps it out of the inventory, so that it is never selected. It can still be named.",
    )
    locked: Flag = Field(None, description="True refuses the caller's params.")
    tags: Texts = Field([], description="A list of texts.")
    params: Values = Field(None, description="A mapping that the engine understands, such as `model`.")
    prompt_prefix: Text = Field(None, description="The prompt that goes before the task.")
    prompt_mode: Annotated[str | None, OneOf(*PROMPT_MODES)] = Field(
        None, description="`append` or `overwrite`; for the engine."
    )
    data_relay_correction: Text = Field(None, description="A text; for the engine.")
    allowed_tools_add: Texts = Field([], description="A list of texts; for the engine, as the four that follow.")
    allowed_tools_remove: Texts = Field([], description="A list of texts.")
    allowed_tools_defer: Texts = Field([], description="A list of texts.")
    allowed_tools_keep: Texts = Field([], description="A list of texts.")
    allowed_tools_drop_first: Texts = Field([], description="A list of texts.")
    modes: Values = Field(None, description="A mapping; for the engine.")
    profiles: Annotated[
        dict[str, Annotated[Profile | None, NOTHING]] | None, AfterValidator(_at_least_empty), MEMBERS, NOTHING
    ] = Field(None, description="A mapping of name to profile.")
    default_active_skills: Texts = Field([], description="A list of texts; for the engine.")
    allowed_skills: Texts = Field([], description="A list of texts; for the engine.")
    triggers: Annotated[Triggers | None, NOTHING] = Field(None, description="The phrases that decide without a model.")
    guard: Anything = Field(None, description="Anything; for the engine.")
