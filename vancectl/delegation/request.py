"""What `delegate` is asked for: from options, or as one JSON object (`vancectl-delegate(1)`)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from vancectl.errors import UsageError
from vancectl.text.names import did_you_mean, near_names
from vancectl.text.printable import well_formed
from vancectl.text.strict_json import MAX_DEPTH, TooDeepError, depth, read_json

# Other names for the task, in the order in which they are asked.
TASK_ALIASES = ("goal", "prompt", "steerContent")
AUTO = "auto"
_NO_TEXTS: dict[str, tuple[Any, str]] = {
    "params": (dict, "an object"),
    "fallbackOnNone": (bool, "true or false"),
    "wait": (bool, "true or false"),
    "timeoutSeconds": (int | float, "a number of seconds"),
    "onExit": (list, "a list of texts: the program, then its arguments"),
    "inheritContext": (object, "anything"),
    "asyncFallback": (bool, "true or false"),
}
_DIGEST_CHARACTERS = 16
_EXAMPLE = 'send one object, such as {"name": …, "task": …}'


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match.group(1).upper(), name)


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `task` may be absent where `recipe` or `engine` is given; `name` is generated where it is None."""

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
    on_exit: list[str] = field(default_factory=list)
    inherit_context: Any = None
    async_fallback: bool = False

    @property
    def named_recipe(self) -> str | None:
        """The explicit recipe; `auto` and blank mean that there is none."""
        return _named(self.recipe)

    @property
    def named_engine(self) -> str | None:
        return _named(self.engine)

    def digest(self) -> str:
        """Tells apart what is asked for, whatever it is called and however long it may take."""
        from hashlib import sha256

        asked = [self.task, self.steer_content, self.named_recipe, self.named_engine, self.profile, self.params]
        return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:_DIGEST_CHARACTERS]

    @property
    def explicit(self) -> bool:
        """Whether the caller named what to start, so that nothing is selected."""
        return self.named_recipe is not None or self.named_engine is not None


def _named(value: str | None) -> str | None:
    return value.strip() if value is not None and value.strip().lower() not in {"", AUTO} else None


def parse_request(text: str) -> Request:
    """Reads one JSON object (process-delegate 3.1); a field that is null counts as left out.

    Raises UsageError that names the field.
    """
    try:
        document = read_json(text)
    except TooDeepError:
        raise UsageError(f"the request nests deeper than {MAX_DEPTH} levels", remedy=_EXAMPLE) from None
    except ValueError as error:
        raise UsageError(f"the request is not JSON: {error}", remedy=_EXAMPLE) from None
    if not isinstance(document, dict):
        raise UsageError("the request must be a JSON object", remedy=_EXAMPLE)
    document = _with_task({key: value for key, value in document.items() if value is not None})
    names = {_camel(each.name): each.name for each in fields(Request)}
    for key, value in document.items():
        if key not in names:
            raise UsageError(
                f"the request has an unknown field `{key}`",
                remedy=did_you_mean(near_names(key, names, most=1)) or f"the fields are {', '.join(names)}",
            )
        _check_type(key, value)
    return check_request(Request(**{names[key]: value for key, value in document.items()}))


def check_request(request: Request, *, name_required: bool = True) -> Request:
    """The request with well-formed texts: a lone surrogate can be neither stored nor sent.

    Raises UsageError where a required field is missing or a value makes no sense.
    """
    if name_required and request.name is None:
        raise UsageError("the request has no `name`", remedy="give the process a name that is unique in its session")
    if request.name is not None and not request.name.strip():
        raise UsageError("the name is blank", remedy="give the process a name that is unique in its session")
    if request.task is None and not request.explicit:
        raise UsageError("the request has no `task`", remedy="say in plain words what is to be done, or name a recipe")
    seconds = request.timeout_seconds
    if seconds is not None and not 0 < seconds < sys.float_info.max:
        raise UsageError("the time limit must be above 0 seconds", remedy="give a number of seconds, or leave it out")
    if request.on_exit and not (
        all(isinstance(word, str) and "\0" not in word for word in request.on_exit) and request.on_exit[0]
    ):
        raise UsageError(
            "the command for the end must be a list of texts, the program first",
            remedy='write it as JSON, such as ["notify-send", "done"]',
        )
    if depth(request.inherit_context) > MAX_DEPTH:
        raise UsageError(f"inheritContext nests deeper than {MAX_DEPTH} levels", remedy="pass it as a file's path")
    if depth(request.params) > MAX_DEPTH:
        raise UsageError(f"the params nest deeper than {MAX_DEPTH} levels", remedy="pass such a value as a file's path")
    return replace(request, **{each.name: _well_formed(getattr(request, each.name)) for each in fields(Request)})


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): _well_formed(inner) for key, inner in value.items()}
    return [_well_formed(inner) for inner in value] if isinstance(value, list) else value


def _with_task(document: Mapping[str, Any]) -> dict[str, Any]:
    """The request with its task under `task`, whatever the caller called it; a blank one gives way to the next."""
    found = dict(document)
    for alias in TASK_ALIASES:
        given = found.get(alias) if alias == "steerContent" else found.pop(alias, None)
        if given is not None:
            _check_type(alias, given)
        if given is not None and not str(found.get("task", "")).strip():
            found["task"] = given
    return found


def _check_type(field_name: str, value: Any) -> None:
    expected, words = _NO_TEXTS.get(field_name, (str, "a text"))
    # Python takes true and false for numbers; JSON does not.
    if not isinstance(value, expected) or (isinstance(value, bool) and expected not in {bool, object}):
        raise UsageError(f"the request's field `{field_name}` must be {words}", remedy="fix the request")
