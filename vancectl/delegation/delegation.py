"""One delegation from request to process: what exists already, what was decided, what stands in, what is started."""

from __future__ import annotations

import os
import re
import secrets
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from vancectl.delegation.applied import AppliedRecipe, apply_engine, apply_recipe
from vancectl.delegation.consent import check_consent
from vancectl.delegation.fallback import DEFAULT_FALLBACK, SETTING, Fallback, choose_fallback
from vancectl.delegation.generated import generated_name
from vancectl.delegation.hindrance import hindrance, hindrance_of
from vancectl.delegation.request import Request
from vancectl.delegation.start import Start, new_id, run_process, start_process, utc_now
from vancectl.errors import InterruptError, SettingsError, SpawnError, UsageError, VancectlError
from vancectl.inventory.cascade import Cascade, UnknownRecipeError
from vancectl.inventory.catalog import EngineCatalog
from vancectl.inventory.recipe import Recipe
from vancectl.model.reason import Reason
from vancectl.process.caller import find_caller
from vancectl.process.command import cautions, find_template, search_environment
from vancectl.process.lifeline import Lifeline
from vancectl.process.store import (
    DEFAULT_SESSION,
    FAILED,
    STARTING,
    STOPPED,
    TIMED_OUT,
    ProcessRecord,
    ProcessStore,
    existing_process,
)
from vancectl.process.supervision import Supervised, current, stop
from vancectl.programs.search import ProgramError, RelativeProgramError, find_program
from vancectl.selector.decision import Decision, Stage, Verdict
from vancectl.settings.settings import Settings, Source

GENERATES, GENERATED_KIND = "generates", "recipe"
GENERATE_TIMEOUT = "routing.fallback.generateTimeout"
PENDING = "PENDING"
_GRACE = 5.0
# A dry run writes no files, so their folder has no name yet.
PLANNED_FOLDER = Path("<process folder>")


Started: TypeAlias = Callable[[ProcessRecord], None]


@dataclass(frozen=True, slots=True)
class Delegated:
    """What `delegate` answers: the decision, then fallback, plan and process where they apply.

    `error` is a failure that leaves the decision standing. `generator` is the process that wrote the recipe which was
    then started; `outcome` is PENDING where that process is still at it.
    """

    decision: dict[str, Any]
    fallback: Fallback | None = None
    plan: dict[str, Any] | None = None
    process: dict[str, Any] | None = None
    error: VancectlError | None = None
    unanswered: bool = False
    outcome: str | None = None
    generator: dict[str, Any] | None = None

    @property
    def existing(self) -> bool:
        """Whether nothing was decided, since the name has its process already."""
        return self.process is not None and "existingStatus" in self.process

    def as_json(self) -> dict[str, Any]:
        document = dict(self.decision)
        parts = ("outcome", "fallback", "generator", "plan", "process")
        for key, value in ((part, getattr(self, part)) for part in parts):
            if value is not None:
                document[key] = value.as_json() if isinstance(value, Fallback) else value
        if self.error is not None:
            document["error"] = self.error.what()
        return document


class Watcher(Protocol):
    """Who wants to see more than the answer: the decision before the start, and the output as it comes."""

    def on_start(self, answer: Delegated, name: str) -> None: ...

    def on_output(self, data: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class Delegation:
    """Everything that holds for delegations from one place: recipes, settings, records, and the selector."""

    cascade: Cascade
    catalog: Callable[[], EngineCatalog]
    settings: Settings
    store: ProcessStore
    select: Callable[[str], Decision]

    def run(
        self,
        request: Request,
        *,
        dry_run: bool = False,
        strict: bool = False,
        watcher: Watcher | None = None,
        supervised: Started | None = None,
    ) -> Delegated:
        """Raises UsageError, SettingsError or BrokenRecipeError where nothing could be decided.

        With `strict` nothing stands in for a model that could not be used. `watcher` is told what happens meanwhile.
        With `supervised`, which is told of the process, it is started so that it outlives us, and waited for.
        """
        session = request.session or DEFAULT_SESSION
        if request.name is not None and not dry_run:
            existing = self.store.find(session, request.name)
            if existing is not None:
                return self._existing(existing)
        decision = self._decide(request)
        fallback = choose_fallback(
            decision,
            fallback_on_none=request.fallback_on_none and not (strict and decision.unanswered),
            setting=self.settings[SETTING] or "",
        )
        fallback, instead = self._startable(fallback)
        if fallback is not None:
            layer, shadows = self._origin(fallback.recipe)
            fallback = replace(fallback, layer=layer, shadows=shadows)
        decision = decision.with_warnings(instead)
        answer = Delegated(decision.as_json(), fallback, unanswered=decision.unanswered)
        if not decision.matches and fallback is None:
            return answer
        try:
            start = self._start(request, session, self._apply(request, decision, fallback))
            argv = start.argv(PLANNED_FOLDER)
            start.system()  # a template that fails is told before the name is taken, and in a dry run as well
            warnings = (
                *start.applied.warnings,
                *cautions(start.template, argv),
                *_mentions(start),
                *_end_unheard(start),
            )
            if dry_run:
                error = hindrance(start.template, start.applied.engine, start.applied.params)
                warnings = (*warnings, *([error.what()] if error is not None else []))
            answer = replace(answer, decision=decision.with_warnings(warnings).as_json())
            if dry_run:
                return replace(answer, plan={"argv": argv or None, "payload": start.payload()})
            self._check(start)
            if fallback is not None and start.applied.params.get(GENERATES) == GENERATED_KIND:
                return self._generate(start, answer, watcher, supervised)
            return self._spawn(start, answer, watcher, supervised)
        except VancectlError as error:
            return replace(answer, error=error)

    def _check(self, start: Start) -> None:
        """Raises what keeps it from being started, before its name is taken."""
        error = hindrance(start.template, start.applied.engine, start.applied.params)
        if error is not None:
            raise error
        start.caller.check_depth(self.settings["spawn.maxDepth"])

    def _startable(self, fallback: Fallback | None) -> tuple[Fallback | None, tuple[str, ...]]:
        """The fallback that nobody chose gives way to `default` where it cannot be started and that one can."""
        if fallback is None or fallback.source != SETTING or self.settings.value(SETTING).source is not Source.BUNDLED:
            return fallback, ()
        first, second = (self._hindrance(name) for name in (fallback.recipe, DEFAULT_FALLBACK.recipe))
        if first is None or second is not None:
            return fallback, ()
        warning = f"the fallback `{fallback.recipe}` cannot be started here ({first.what()}); `default` is started"
        return DEFAULT_FALLBACK, (warning,)

    def _hindrance(self, name: str) -> VancectlError | None:
        try:
            recipe = self.cascade.load(name)
        except VancectlError as error:
            return error
        return hindrance_of(self.settings, recipe.engine, recipe.params)

    def _decide(self, request: Request) -> Decision:
        """The mode matrix (specification, routing 7; design, section 5)."""
        name, engine = request.named_recipe, request.named_engine
        if name is not None:
            try:
                recipe = self.cascade.load(name)
            except UnknownRecipeError as error:
                raise UnknownRecipeError(error.name, error.near, selectable=True) from None
            warnings = (f"recipe and engine are both given: the recipe `{recipe.name}` wins",) if engine else ()
            return self._explicit(
                Reason.EXPLICIT_RECIPE, "the caller named the recipe", recipe.name, recipe.engine, warnings
            )
        if engine is not None:
            try:
                recipe = self.cascade.load(engine)
            except UnknownRecipeError:
                known = self.catalog().find(engine)
                return self._explicit(
                    Reason.EXPLICIT_ENGINE, "the caller named the engine, which has no recipe", None, known.name
                )
            return self._explicit(
                Reason.EXPLICIT_ENGINE, "the caller named the engine, which has a recipe", recipe.name, recipe.engine
            )
        return self.select(request.task or "")

    def _explicit(
        self, reason: Reason, rationale: str, recipe: str | None, engine: str, warnings: tuple[str, ...] = ()
    ) -> Decision:
        layer, shadows = self._origin(recipe) if recipe is not None else (None, ())
        return Decision(
            Verdict.MATCH,
            reason,
            rationale,
            Stage.EXPLICIT,
            recipe=recipe,
            engine=engine,
            warnings=warnings,
            layer=layer,
            shadows=shadows,
            tenant=self.cascade.layers.tenant_of_project,
        )

    def _origin(self, name: str) -> tuple[str | None, tuple[str, ...]]:
        """The kind of layer that has a recipe, and the files that it hides there."""
        try:
            entry = self.cascade.find(name)
        except UnknownRecipeError:
            return None, ()
        return entry.recipe.layer.kind.value, entry.shadowed_paths

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
        return self._applied(recipe, request)

    def _applied(self, recipe: Recipe, request: Request) -> AppliedRecipe:
        check_consent(recipe, self.settings)
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
            find_caller(),
            self.settings["models"],
        )

    def _existing(self, record: ProcessRecord) -> Delegated:
        return Delegated(record.decision, process=existing_process(current(record, self.store)))

    def _generate(
        self,
        start: Start,
        answer: Delegated,
        watcher: Watcher | None,
        supervised: Started | None,
    ) -> Delegated:
        """In two steps (specification, process-delegate 5): a recipe is generated, then it is applied and started.

        With `asyncFallback` the second step is the caller's; the event of the first one's end names the recipe.
        """
        request, limit = start.request, self.settings[GENERATE_TIMEOUT]
        on_exit = request.on_exit if request.async_fallback else []
        first = replace(
            start,
            name=f"{start.name}-{secrets.token_hex(3)}",  # the name itself is for what will be generated
            request=replace(request, on_exit=on_exit, wait=not request.async_fallback, timeout_seconds=limit),
        )
        if request.async_fallback:
            return replace(self._spawn(first, answer, None, None), outcome=PENDING)
        generated = self._spawn(first, answer, None, supervised or (lambda record: None))
        if generated.error is not None:
            what = f"no recipe was generated: {generated.error.what()}"
            failure = type(generated.error)(what, remedy=generated.error.remedy)
            return replace(answer, generator=generated.process, error=failure)
        cascade = Cascade(self.cascade.layers)
        name = generated_name(generated.process or {}, cascade)
        if name is None:
            raise SpawnError(
                f"no recipe was generated: `{start.applied.recipe}` ended well, but named none",
                remedy="its last line of output must be a JSON object with `generatedRecipe`",
            )
        applied = self._applied(cascade.load(name), request)
        assert answer.fallback is not None
        answer = replace(answer, fallback=replace(answer.fallback, generated=name), generator=generated.process)
        second = replace(start, applied=applied, template=find_template(self.settings, applied.engine))
        try:
            self._check(second)
            return self._spawn(second, answer, watcher, supervised)
        except VancectlError as error:
            return replace(answer, error=error)

    def _spawn(
        self,
        start: Start,
        answer: Delegated,
        watcher: Watcher | None,
        supervised: Started | None,
    ) -> Delegated:
        record = ProcessRecord(
            new_id(), start.session, start.name, STARTING, start.applied.recipe, start.applied.engine, utc_now(),
            answer.as_json(), supervisor=os.getpid(), parent=start.caller.process, asked=start.request.digest(),
        )  # fmt: skip
        lifeline = Lifeline(str(self.store.folder / record.id))
        existing = self.store.claim(record, lifeline)
        if existing is not None:
            return self._existing(existing)
        timeout = start.request.timeout_seconds or start.template.timeout
        if not start.request.wait:
            running, handle, unkept = start_process(start, record, self.store, lifeline, timeout)
            handle.leave()
            return replace(answer, process=running.as_json(), error=unkept)
        if supervised is not None:
            running, handle, unkept = start_process(start, record, self.store, lifeline, timeout)
            supervised(running)
            ended = self._await(running, handle)
            return replace(answer, process=ended.as_json(), error=_failure(ended, timeout) or unkept)
        on_output = watcher.on_output if watcher is not None else None
        if watcher is not None:
            watcher.on_start(answer, start.name)
        ended, unkept = run_process(start, record, self.store, lifeline, timeout, on_output)
        return replace(answer, process=ended.as_json(), error=_failure(ended, timeout) or unkept)

    def _await(self, record: ProcessRecord, handle: Supervised) -> ProcessRecord:
        """The record of the end. Whoever interrupts us ends the process, too."""
        try:
            handle.supervisor.wait()
        except KeyboardInterrupt:
            return stop(record, self.store, _GRACE)
        return current(record, self.store)


def _mentions(start: Start) -> list[str]:
    """The paths in the task that the preset's program reads and sends along."""
    preset = start.template.preset
    if preset is None or not preset.mentions:
        return []
    found = re.findall(rf"(?<!\S)[{re.escape(preset.mentions)}]\S+", start.message())
    return [f"`{preset.name}` reads the files that a task mentions so: {', '.join(found)}"] if found else []


def _end_unheard(start: Start) -> list[str]:
    """Why the command for the end could not be called. A missing one keeps nothing from being started."""
    if not start.request.on_exit:
        return []
    try:
        find_program(start.request.on_exit[0], search_environment(start.template))
    except RelativeProgramError as error:
        raise UsageError(error.text, remedy="it is what --on-exit or `onExit` names") from None
    except ProgramError as error:
        return [f"nobody will be told of the end: {error.text}"]
    return []


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
