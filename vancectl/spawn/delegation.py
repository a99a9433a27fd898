"""One delegation from request to process: what exists already, what was decided, what stands in, what is started."""

from __future__ import annotations

import secrets
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vancectl.errors import InterruptError, SettingsError, SpawnError, VancectlError
from vancectl.inventory.cascade import Cascade, UnknownRecipeError
from vancectl.inventory.catalog import EngineCatalog
from vancectl.selector.decision import Decision, Reason, Stage, Verdict
from vancectl.settings import Settings
from vancectl.spawn.applied import AppliedRecipe, apply_engine, apply_recipe
from vancectl.spawn.command import cautions, find_template, no_command
from vancectl.spawn.fallback import SETTING, Fallback, choose_fallback
from vancectl.spawn.process import Start, new_id, run_process, start_process, utc_now
from vancectl.spawn.request import Request
from vancectl.spawn.session import (
    DEFAULT_SESSION,
    FAILED,
    STARTING,
    STOPPED,
    TIMED_OUT,
    ProcessRecord,
    ProcessStore,
    existing_process,
)

# A dry run writes no files, so their folder has no name yet.
PLANNED_FOLDER = Path("<process folder>")


@dataclass(frozen=True, slots=True)
class Delegated:
    """What `delegate` answers: the decision, then fallback, plan and process where they apply.

    `error` is a failure that leaves the decision standing.
    """

    decision: dict[str, Any]
    fallback: Fallback | None = None
    plan: dict[str, Any] | None = None
    process: dict[str, Any] | None = None
    error: VancectlError | None = None
    unanswered: bool = False

    @property
    def existing(self) -> bool:
        """Whether nothing was decided, since the name has its process already."""
        return self.process is not None and "existingStatus" in self.process

    def as_json(self) -> dict[str, Any]:
        document = dict(self.decision)
        for key, value in (("fallback", self.fallback), ("plan", self.plan), ("process", self.process)):
            if value is not None:
                document[key] = value.as_json() if isinstance(value, Fallback) else value
        if self.error is not None:
            document["error"] = self.error.what()
        return document


@dataclass(frozen=True, slots=True)
class Delegation:
    """Everything that holds for delegations from one place: recipes, settings, records, and the selector."""

    cascade: Cascade
    catalog: Callable[[], EngineCatalog]
    settings: Settings
    store: ProcessStore
    select: Callable[[str], Decision]

    def run(self, request: Request, *, dry_run: bool = False, strict: bool = False) -> Delegated:
        """Raises UsageError, SettingsError or BrokenRecipeError where nothing could be decided.

        With `strict` nothing stands in for a model that could not be used.
        """
        session = request.session or DEFAULT_SESSION
        if request.name is not None and not dry_run:
            existing = self.store.find(session, request.name)
            if existing is not None:
                return Delegated(existing.decision, process=existing_process(existing))
        decision = self._decide(request)
        fallback = choose_fallback(
            decision,
            fallback_on_none=request.fallback_on_none and not (strict and decision.unanswered),
            setting=self.settings[SETTING] or "",
        )
        answer = Delegated(decision.as_json(), fallback, unanswered=decision.unanswered)
        if not decision.matches and fallback is None:
            return answer
        try:
            start = self._start(request, session, self._apply(request, decision, fallback))
            argv = start.argv(PLANNED_FOLDER)
            warnings = (*start.applied.warnings, *cautions(start.template, argv), *_unkept(request))
            if dry_run and not argv:
                warnings = (*warnings, f"{no_command(start.applied.engine).what()}: set spawn.command")
            answer = replace(answer, decision=decision.with_warnings(warnings).as_json())
            if dry_run:
                return replace(answer, plan={"argv": argv or None, "payload": start.payload()})
            if not argv:
                raise no_command(start.applied.engine)
            return self._spawn(start, answer)
        except VancectlError as error:
            return replace(answer, error=error)

    def _decide(self, request: Request) -> Decision:
        """The mode matrix (specification, routing 7; design, section 5)."""
        name, engine = request.named_recipe, request.named_engine
        if name is not None:
            try:
                recipe = self.cascade.load(name)
            except UnknownRecipeError as error:
                raise UnknownRecipeError(error.name, error.near, selectable=True) from None
            warnings = (f"recipe and engine are both given: the recipe `{recipe.name}` wins",) if engine else ()
            return _explicit(
                Reason.EXPLICIT_RECIPE, "the caller named the recipe", recipe.name, recipe.engine, warnings
            )
        if engine is not None:
            try:
                recipe = self.cascade.load(engine)
            except UnknownRecipeError:
                known = self.catalog().find(engine)
                return _explicit(
                    Reason.EXPLICIT_ENGINE, "the caller named the engine, which has no recipe", None, known.name
                )
            return _explicit(
                Reason.EXPLICIT_ENGINE, "the caller named the engine, which has a recipe", recipe.name, recipe.engine
            )
        return self.select(request.task or "")

    def _apply(self, request: Request, decision: Decision, fallback: Fallback | None) -> AppliedRecipe:
        name = fallback.recipe if fallback is not None else decision.recipe
        if name is None:
            return apply_engine(decision.engine or "", request.params)
        try:
            recipe = self.cascade.load(name)
        except UnknownRecipeError as error:
            if fallback is None or fallback.source != SETTING:
                raise
            value = self.settings.value(SETTING)
            raise SettingsError(
                f"`{SETTING}` in {value.origin} names the recipe `{name}`, which does not exist", remedy=error.remedy
            ) from None
        return apply_recipe(recipe, request.params, request.profile)

    def _start(self, request: Request, session: str, applied: AppliedRecipe) -> Start:
        project = self.cascade.layers.project
        name = request.name or f"{applied.recipe or applied.engine}-{secrets.token_hex(3)}"
        return Start(
            name,
            session,
            self.cascade.layers.tenant,
            project.id if project is not None else None,
            request,
            applied,
            find_template(self.settings, applied.engine),
        )

    def _spawn(self, start: Start, answer: Delegated) -> Delegated:
        record = ProcessRecord(
            new_id(), start.session, start.name, STARTING, start.applied.recipe, start.applied.engine, utc_now(),
            answer.as_json(),
        )  # fmt: skip
        existing = self.store.claim(record)
        if existing is not None:
            return Delegated(existing.decision, process=existing_process(existing))
        if not start.request.wait:
            running, unkept = start_process(start, record, self.store)
            return replace(answer, process=running.as_json(), error=unkept)
        timeout = start.request.timeout_seconds or start.template.timeout
        ended, unkept = run_process(start, record, self.store, timeout)
        return replace(answer, process=ended.as_json(), error=_failure(ended, timeout) or unkept)


def _explicit(
    reason: Reason, rationale: str, recipe: str | None, engine: str, warnings: tuple[str, ...] = ()
) -> Decision:
    return Decision(Verdict.MATCH, reason, rationale, Stage.EXPLICIT, recipe=recipe, engine=engine, warnings=warnings)


def _unkept(request: Request) -> list[str]:
    if request.wait or request.timeout_seconds is None:
        return []
    return ["the time limit is not kept, since nobody waits for the process"]


def _failure(record: ProcessRecord, timeout: float | None) -> VancectlError | None:
    """The error for a process that did not end well; its status stays in the output."""
    if record.status == TIMED_OUT:
        return SpawnError(
            f"the spawn command was ended after {timeout:g} seconds", remedy="raise --timeout or spawn.timeout"
        )
    if record.status == STOPPED:
        return InterruptError("interrupted: the spawn command was passed the signal and has ended")
    if record.status == FAILED:
        code = record.exit_code or 0
        how = f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with status {code}"
        return SpawnError(f"the spawn command {how}", remedy="what it said stands above and in `process`")
    return None


def _signal_name(number: int) -> str:
    try:
        return f"the signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"
