"""What the worker reads of a payload: the one declaration. Whatever else a payload holds is for other programs."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from vancectl.reading.shape import NOTHING, TEXT, Anything, Open, Text, Values, expected


def _there(value: Any) -> Any:
    if value is None:
        raise ValueError
    return value


def _absolute(folder: str | None) -> str:
    if folder is None or not os.path.isabs(folder) or "\0" in folder:
        raise ValueError
    return folder


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError
    return value


class Generation(Open):
    """Where what is generated belongs, and what can be started there."""

    recipes_folder: Annotated[str | None, TEXT, AfterValidator(_absolute), expected("an absolute path")] = Field(
        description="The folder of generated recipes."
    )
    engines: Annotated[Anything, AfterValidator(_texts), expected("a list of engines")] = Field(
        description="The engines that can be started there."
    )


class Applied(Open):
    """The applied recipe."""

    engine: Annotated[str | None, TEXT, AfterValidator(_there), expected("text")] = Field(description="The engine.")
    params: Annotated[Values, AfterValidator(_there), expected("an object")] = Field({}, description="The params.")
    prompt_prefix: Text = Field(None, description="The prompt that goes before the task.")
    prompt_mode: Text = Field(None, description="`append` or `overwrite`.")


class PayloadShape(Open):
    """A start, as far as the worker needs it."""

    task: Text = Field(None, description="The task.")
    steer_content: Text = Field(None, description="The first message to the process.")
    tenant: Anything = Field(None, description="The tenant.")
    system_prompt: Anything = Field(None, description="The recipe's prompt, rendered.")
    applied_recipe: Applied = Field(description="The applied recipe.")
    generation: Annotated[Generation | None, NOTHING] = Field(None, description="Where what is generated belongs.")
