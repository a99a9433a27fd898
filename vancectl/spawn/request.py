"""What `delegate` is asked for: the tool contract of the specification, from options or as one JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from vancectl.errors import UsageError
from vancectl.inventory.name import nearest_key

# Other names for the task, in the order in which they are asked, as in the system that the specification describes.
TASK_ALIASES = ("goal", "prompt", "steerContent")
AUTO = "auto"


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match.group(1).upper(), name)


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `task` may be absent where `recipe` or `engine` is given; `name` is generated where it is None."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True, "alias_generator": _camel}

    name: str | None = None
    task: str | None = None
    title: str | None = None
    steer_content: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    recipe: str | None = None
    engine: str | None = None
    fallback_on_none: bool = True
    wait: bool = True
    timeout_seconds: float | None = None
    profile: str | None = None
    session: str | None = None

    @property
    def named_recipe(self) -> str | None:
        """The explicit recipe; `auto` and blank mean that there is none."""
        return _named(self.recipe)

    @property
    def named_engine(self) -> str | None:
        return _named(self.engine)

    @property
    def explicit(self) -> bool:
        """Whether the caller named what to start, so that nothing is selected."""
        return self.named_recipe is not None or self.named_engine is not None


def _named(value: str | None) -> str | None:
    return value.strip() if value is not None and value.strip().lower() not in {"", AUTO} else None


def parse_request(text: str) -> Request:
    """Reads one JSON object (process-delegate 3.1). Raises UsageError that names the field."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"the request is not JSON: {error}", remedy='send one object, such as {"name": …, "task": …}'
        ) from None
    if not isinstance(document, dict):
        raise UsageError("the request must be a JSON object", remedy='send one object, such as {"name": …, "task": …}')
    document = _with_task(document)
    keys = [_camel(each.name) for each in fields(Request)]
    for key in document:
        if key not in keys:
            near = nearest_key(key, keys)
            raise UsageError(
                f"the request has an unknown field `{key}`",
                remedy=f"did you mean `{near}`?" if near else f"the fields are {', '.join(keys)}",
            )
    import pydantic

    try:
        request = pydantic.TypeAdapter(Request).validate_python(document)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"the request's field `{place}` is wrong: {first['msg']}", remedy="mend the request") from None
    return check_request(request)


def check_request(request: Request, *, name_required: bool = True) -> Request:
    """Raises UsageError where a required field is missing or a number makes no sense."""
    if name_required and (request.name is None or not request.name.strip()):
        raise UsageError("the request has no `name`", remedy="give the process a name that is unique in its session")
    if request.task is None and not request.explicit:
        raise UsageError("the request has no `task`", remedy="say in plain words what is to be done, or name a recipe")
    if request.timeout_seconds is not None and not request.timeout_seconds > 0:
        raise UsageError("the time limit must be above 0 seconds", remedy="give a number of seconds, or leave it out")
    return request


def _with_task(document: Mapping[str, Any]) -> dict[str, Any]:
    """The request with its task under `task`, whatever the caller called it."""
    found = dict(document)
    for alias in TASK_ALIASES:
        if found.get("task") is None and isinstance(found.get(alias), str):
            found["task"] = found[alias]
        if alias != "steerContent":
            found.pop(alias, None)
    return found
