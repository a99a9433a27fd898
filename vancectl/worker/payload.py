"""What the worker is given: the payload of a start, checked before it is believed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vancectl.errors import UsageError
from vancectl.process.preset import DEFAULT_MODEL
from vancectl.text.names import engine_name
from vancectl.text.strict_json import MAX_DEPTH, depth, read_json

# These a turn or two of a model can stand for; the others need tools, processes of their own, or a sandbox.
ENGINES = ("ford", "arthur", "eddie", "jeltz", "slartibartfast")
DEFAULT_MAX_TOKENS = 8192
_EXAMPLE = "pipe in a payload, as `vancectl delegate --dry-run` shows it under plan.payload"


@dataclass(frozen=True, slots=True)
class Payload:
    """A start, as far as the worker needs it. `applied` is the applied recipe with all of its fields."""

    task: str
    tenant: str | None
    applied: dict[str, Any]
    prompt: str | None = None  # the recipe's prompt as it was rendered when it was delegated
    # Where what is generated belongs, and the engines that can be started there; None in a payload written by hand.
    recipes_folder: Path | None = None
    engines: tuple[str, ...] | None = None

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.applied["params"])

    @property
    def engine(self) -> str:
        return engine_name(str(self.applied["engine"]))

    @property
    def name(self) -> str:
        """The recipe, or the engine that has none."""
        return str(self.applied.get("recipe") or self.engine)

    @property
    def model(self) -> str:
        return str(self.params.get("model") or DEFAULT_MODEL)

    def count(self, param: str, default: int) -> int:
        """A param that is a whole number above 0."""
        value = self.params.get(param, default)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


def parse_payload(text: str) -> Payload:
    """Raises UsageError."""
    try:
        document = read_json(text)
    except ValueError as error:
        raise UsageError(f"the payload is not JSON: {error}", remedy=_EXAMPLE) from None
    applied = document.get("appliedRecipe") if isinstance(document, dict) else None
    if not isinstance(applied, dict) or not isinstance(applied.get("engine"), str):
        raise UsageError("the payload has no `appliedRecipe` with an `engine`", remedy=_EXAMPLE)
    if depth(document) > MAX_DEPTH:
        raise UsageError(f"the payload nests deeper than {MAX_DEPTH} levels", remedy=_EXAMPLE)
    for field in ("promptPrefix", "promptMode"):
        if not isinstance(applied.get(field, ""), str | None):
            raise UsageError(f"`appliedRecipe.{field}` of the payload must be text", remedy=_EXAMPLE)
    if not isinstance(applied.setdefault("params", {}), dict):
        raise UsageError("`appliedRecipe.params` of the payload must be an object", remedy=_EXAMPLE)
    for field in ("task", "steerContent"):
        if not isinstance(document.get(field), str | None):
            raise UsageError(f"`{field}` of the payload must be text", remedy=_EXAMPLE)
    # A request may give its task as `steerContent` alone; it is not said twice.
    parts = dict.fromkeys(document.get(key) for key in ("task", "steerContent"))
    texts = [part for part in parts if part and part.strip()]
    tenant = document.get("tenant")
    prompt = document.get("systemPrompt")
    folder, engines = _generation(document.get("generation"))
    return Payload(
        "\n\n".join(texts),
        tenant if isinstance(tenant, str) else None,
        applied,
        prompt if isinstance(prompt, str) else None,
        folder,
        engines,
    )


def _generation(given: object) -> tuple[Path | None, tuple[str, ...] | None]:
    if given is None:
        return None, None
    folder, engines = (given.get("recipesFolder"), given.get("engines")) if isinstance(given, dict) else (None, None)
    if not isinstance(folder, str) or not os.path.isabs(folder) or "\0" in folder:
        raise UsageError("`generation.recipesFolder` of the payload must be an absolute path", remedy=_EXAMPLE)
    if not isinstance(engines, list) or not all(isinstance(each, str) for each in engines):
        raise UsageError("`generation.engines` of the payload must be a list of engines", remedy=_EXAMPLE)
    return Path(folder), tuple(engines)
