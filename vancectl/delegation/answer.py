"""What `delegate` answers: the decision, then fallback, plan and process where they apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from vancectl.delegation.fallback import Fallback
from vancectl.errors import VancectlError
from vancectl.model.use import ModelUse
from vancectl.process.store import ExistingProcess, ProcessRecord
from vancectl.selector.decision import Decision, Stage


class RecordedDecision(NamedTuple):
    """The decision that a record holds: what an earlier call answered, as it was printed then, by whichever version."""

    document: Mapping[str, Any]

    @property
    def recipe(self) -> str | None:
        return self.document.get("recipe")

    @property
    def stage(self) -> str:
        return str(self.document.get("stage"))

    @property
    def rationale(self) -> str:
        return str(self.document.get("rationale"))

    @property
    def model(self) -> ModelUse | None:
        """As far as an explanation needs it."""
        used = self.document.get("model")
        if not isinstance(used, Mapping):
            return None
        return ModelUse(
            str(used.get("backend")), str(used.get("model")), error=used.get("error"), runner_up=used.get("runnerUp")
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self.document.get("warnings") or ())

    def with_warnings(self, warnings: Sequence[str]) -> RecordedDecision:
        return RecordedDecision({**self.document, "warnings": [*self.warnings, *warnings]})

    def without(self, *keys: str) -> RecordedDecision:
        return RecordedDecision({key: value for key, value in self.document.items() if key not in keys})

    def as_json(self) -> dict[str, Any]:
        return dict(self.document)


class Undecided(NamedTuple):
    """In place of a decision where an error came before it; there is nothing to explain."""

    warnings: tuple[str, ...] = ()
    recipe: str | None = None
    stage: str = Stage.NONE
    rationale: str = ""
    model: ModelUse | None = None

    def with_warnings(self, warnings: Sequence[str]) -> Undecided:
        return self._replace(warnings=(*self.warnings, *warnings))

    def as_json(self) -> dict[str, Any]:
        return {"decision": None, "warnings": list(self.warnings)}


AnyDecision: TypeAlias = Decision | RecordedDecision | Undecided


class StartPlan(NamedTuple):
    """What a dry run would start; `argv` is None where there is nothing to start. A plan's child adds the last two."""

    argv: list[str] | None
    payload: dict[str, Any]
    on_exit: Sequence[str] = ()
    items: Path | None = None

    def as_json(self) -> dict[str, Any]:
        more = {"onExit": list(self.on_exit), "items": str(self.items) if self.items else None}
        return {"argv": self.argv, "payload": self.payload, **{key: value for key, value in more.items() if value}}


@dataclass(frozen=True, slots=True)
class Delegated:
    """One answer of `delegate`.

    `error` is a failure that leaves the decision standing. `generator` is the process that wrote the recipe which was
    then started; `outcome` is PENDING where that process is still at it, and `hint` then says how to go on.
    """

    decision: AnyDecision
    fallback: Fallback | None = None
    plan: StartPlan | None = None
    process: ProcessRecord | ExistingProcess | None = None
    error: VancectlError | None = None
    unanswered: bool = False
    outcome: str | None = None
    generator: ProcessRecord | None = None
    hint: str | None = None

    @property
    def existing(self) -> bool:
        """Whether nothing was decided, since the name has its process already."""
        return isinstance(self.process, ExistingProcess)

    @property
    def record(self) -> ProcessRecord | None:
        return self.process.record if isinstance(self.process, ExistingProcess) else self.process

    def with_warnings(self, warnings: Sequence[str]) -> Delegated:
        return replace(self, decision=self.decision.with_warnings(warnings)) if warnings else self

    def as_json(self) -> dict[str, Any]:
        document = self.decision.as_json()
        if self.outcome is not None and self.generator is not None:
            document["slartProcessId"] = self.generator.id
        if self.outcome is not None:
            document["outcome"] = self.outcome
        for key, part in (
            ("fallback", self.fallback),
            ("generator", self.generator),
            ("plan", self.plan),
            ("process", self.process),
        ):
            if part is not None:
                document[key] = part.as_json()
        if self.hint is not None:
            document["hint"] = self.hint
        if self.error is not None:
            document["error"] = self.error.what()
        return document
