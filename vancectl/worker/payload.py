"""What the worker is given: the payload of a start, checked before it is believed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vancectl.errors import Place, UsageError
from vancectl.process.preset import DEFAULT_MODEL
from vancectl.reading.finding import Finding
from vancectl.reading.reader import read_value
from vancectl.reading.value import Sent
from vancectl.text.names import engine_name
from vancectl.text.strict_json import MAX_DEPTH, depth, read_json
from vancectl.worker.payload_shape import PayloadShape

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
    if not isinstance(document, dict):
        raise UsageError("the payload must be a JSON object", remedy=_EXAMPLE)
    findings: list[Finding] = []
    shape = read_value(PayloadShape, Sent(document, Place(Path()), findings))
    if shape is None:
        raise UsageError(f"the payload: {findings[0].sentence()}", remedy=_EXAMPLE)
    if depth(document) > MAX_DEPTH:
        raise UsageError(f"the payload nests deeper than {MAX_DEPTH} levels", remedy=_EXAMPLE)
    # A request may give its task as `steerContent` alone; it is not said twice.
    texts = [part for part in dict.fromkeys((shape.task, shape.steer_content)) if part and part.strip()]
    generation = shape.generation
    return Payload(
        "\n\n".join(texts),
        shape.tenant if isinstance(shape.tenant, str) else None,
        {**document["appliedRecipe"], "params": shape.applied_recipe.params},
        shape.system_prompt if isinstance(shape.system_prompt, str) else None,
        Path(generation.recipes_folder or "") if generation is not None else None,
        tuple(generation.engines) if generation is not None else None,
    )
