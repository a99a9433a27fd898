"""The decision: MATCH or NONE, with stage, reason, rationale and evidence (docs/design.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from vancectl.model.reason import Reason, is_answer

if TYPE_CHECKING:
    from vancectl.model.use import ModelUse

VERSION = 1


class Verdict(StrEnum):
    """NONE is an answer, not an error."""

    MATCH = "MATCH"
    NONE = "NONE"


class Stage(StrEnum):
    """What decided; `none` where no stage came to it."""

    EXPLICIT = "explicit"
    TRIGGER = "trigger"
    MODEL = "model"
    NONE = "none"


class Hit(NamedTuple):
    """A trigger phrase in the task; `start` and `end` count characters of the task as it was given."""

    recipe: str
    phrase: str
    start: int
    end: int

    def as_json(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "phrase": self.phrase, "start": self.start, "end": self.end}


class Decision(NamedTuple):
    """One answer. `recipe` and `engine` are None on NONE; `nearest` only where no model could be asked.

    `layer` is the kind of layer that the recipe comes from, and `shadows` are the paths of the files that it hides,
    nearest first. `tenant` is set where a project chose it: its name, and the file that names it.
    """

    verdict: Verdict
    reason: Reason
    rationale: str
    stage: Stage
    recipe: str | None = None
    engine: str | None = None
    matched: tuple[Hit, ...] = ()
    candidates: int = 0
    warnings: tuple[str, ...] = ()
    model: ModelUse | None = None
    nearest: tuple[str, ...] = ()
    layer: str | None = None
    shadows: tuple[str, ...] = ()
    tenant: tuple[str, str] | None = None
    source: Mapping[str, Any] | None = None  # of a recipe of another program

    @property
    def matches(self) -> bool:
        return self.verdict is Verdict.MATCH

    @property
    def trigger_observed(self) -> bool:
        """Whether stage one hit at least one recipe: it separates the two kinds of NONE."""
        return bool(self.matched)

    @property
    def unanswered(self) -> bool:
        """Whether the model was needed and could not be used: what `--strict` turns into a failure."""
        return not is_answer(self.reason)

    def with_warnings(self, warnings: Sequence[str]) -> Decision:
        return self._replace(warnings=(*self.warnings, *warnings))

    def as_json(self) -> dict[str, Any]:
        """The keys in the design's order."""
        document = {
            "version": VERSION,
            "decision": self.verdict.value,
            "recipe": self.recipe,
            "engine": self.engine,
            "layer": self.layer,
            "shadows": list(self.shadows),
            "rationale": self.rationale,
            "stage": self.stage.value,
            "reason": self.reason.value,
            "triggerObserved": self.trigger_observed,
            "matched": [hit.as_json() for hit in self.matched],
            "candidates": self.candidates,
            "warnings": list(self.warnings),
            "model": self.model.as_json() if self.model else None,
        }
        if self.nearest:
            document["nearest"] = list(self.nearest)
        if self.source is not None:
            document["source"] = {key: self.source[key] for key in ("key", "format", "name")}
        if self.tenant is not None:
            document["tenant"] = {"name": self.tenant[0], "namedBy": self.tenant[1]}
        return document
