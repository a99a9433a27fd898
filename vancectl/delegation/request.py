"""What `delegate` is asked for: from options, or as one JSON object (`vancectl-delegate(1)`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vancectl.errors import Place, UsageError
from vancectl.reading.sure import surely_fits
from vancectl.text.printable import well_formed
from vancectl.text.strict_json import MAX_DEPTH, TooDeepError, depth, read_json

if TYPE_CHECKING:
    from vancectl.reading.finding import Finding

# Other names for the task, in the order in which they are asked.
_TASK_ALIASES = ("goal", "prompt", "steerContent")
AUTO = "auto"
_DIGEST_CHARACTERS = 16
_EXAMPLE = 'send one object, such as {"name": …, "task": …}'


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
    return made_request(document if surely_fits(document, "request") else _read(document))


def _read(document: dict[str, Any]) -> dict[str, Any]:
    from vancectl.delegation.request_shape import RequestShape
    from vancectl.reading.reader import read_value
    from vancectl.reading.value import Sent

    findings: list[Finding] = []
    shape = read_value(RequestShape, Sent(document, Place(Path()), findings))
    if shape is None or findings:
        raise findings[0].of("the request", UsageError, place=False)
    return shape.fields()


def made_request(given: Mapping[str, Any]) -> Request:
    """The request with these fields of its JSON. Raises UsageError where they make no sense."""
    names = {_camel(each.name): each.name for each in fields(Request)}
    known = {names[key]: value for key, value in given.items() if key in names and value is not None}
    task = task_of(given)
    return check_request(Request(**{**known, **({"task": task} if task is not None else {})}))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def task_of(given: Mapping[str, Any]) -> str | None:
    """The task, whatever the caller called it: the first that is not blank, else the first."""
    texts = [str(given[name]) for name in ("task", *_TASK_ALIASES) if given.get(name) is not None]
    return next((text for text in texts if text.strip()), texts[0] if texts else None)


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
