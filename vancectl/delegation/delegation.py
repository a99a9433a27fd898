"""One delegation from request to process: what exists already, what was decided, what stands in, what is started."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeAlias

from vancectl.delegation.answer import Delegated, RecordedDecision, StartPlan
from vancectl.delegation.applied import AppliedRecipe, apply_engine, apply_recipe
from vancectl.delegation.consent import check_consent, may_grant
from vancectl.delegation.failure import failure_of, missed_key, where_it_speaks
from vancectl.delegation.fallback import DEFAULT_FALLBACK, SETTING, Fallback, choose_fallback
from vancectl.delegation.foreign import check_known, check_params, foreign_start, with_body
from vancectl.delegation.generated import (
    PENDING,
    find_assignment,
    generated_name,
    generates,
    holds_the_name,
    later_name,
)
from vancectl.delegation.hindrance import hindrance, hindrance_of
from vancectl.delegation.request import Request
from vancectl.delegation.start import Start, new_id, run_process, start_process
from vancectl.errors import CatalogError, SettingsError, SpawnError, StoreError, UsageError, VancectlError
from vancectl.inventory.cascade import Cascade, UnknownRecipeError
from vancectl.inventory.catalog import EngineCatalog
from vancectl.inventory.recipe import Recipe
from vancectl.model.reason import Reason
from vancectl.process.caller import find_caller, find_session
from vancectl.process.command import CommandTemplate, cautions, find_source_template, find_template, search_environment
from vancectl.process.lifeline import Lifeline
from vancectl.process.status import OPEN, ProcessStatus
from vancectl.process.store import ExistingProcess, NameScope, ProcessRecord, ProcessStore
from vancectl.process.supervision import Supervised, current, stop
from vancectl.programs.search import ProgramError, RelativeProgramError, find_program
from vancectl.selector.decision import Decision, Stage, Verdict
from vancectl.settings.limits import below_ceilings
from vancectl.settings.settings import Settings, Source
from vancectl.text.moment import utc_now
from vancectl.text.names import canonical

GENERATE_TIMEOUT = "routing.fallback.generateTimeout"
_ASYNC_UNUSED = "asyncFallback (--async-fallback) has no effect: the fallback `{}` generates no recipe"
_GRACE = 5.0
# A dry run writes no files, so their folder has no name yet.
PLANNED_FOLDER = Path("<process folder>")


Started: TypeAlias = Callable[[ProcessRecord], None]


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

        With `strict` no fallback is started for a model that could not be used. `watcher` hears what happens meanwhile.
        With `supervised`, which hears of the process, it is started so that it outlives us, and waited for.
        """
        scope = self.scope(request)
        if request.name is not None and not dry_run:
            existing = self.store.find(scope, request.name)
            held = self._held(existing, request, watcher, supervised) if existing is not None else None
            if held is not None:
                return held
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
        decision = decision.with_warnings((*instead, *self._stale_catalog()))
        answer = Delegated(decision, fallback, unanswered=decision.unanswered)
        if not decision.matches and fallback is None:
            return answer
        try:
            start = self._start(request, scope, self._apply(request, decision, fallback))
            generating = fallback is not None and generates(start.applied.params)
            warnings = _warnings(start)
            if request.async_fallback and fallback is not None and not generating:
                warnings = (*warnings, _ASYNC_UNUSED.format(fallback.recipe))
            if dry_run:
                error = hindrance(start.template, start.applied.engine, start.applied.params)
                warnings = (*warnings, *([error.what()] if error is not None else []))
            answer = replace(answer, decision=decision.with_warnings(warnings))
            if dry_run:
                return replace(answer, plan=StartPlan(start.argv(PLANNED_FOLDER) or None, start.payload()))
            self._check(start)
            if generating:
                return self._generate(start, answer, watcher, supervised)
            return self._spawn(start, answer, watcher, supervised)
        except VancectlError as error:
            return replace(answer, error=error)

    def _check(self, start: Start) -> None:
        """Raises what keeps it from being started, before its name is taken."""
        error = hindrance(start.template, start.applied.engine, start.applied.params)
        if error is not None:
            raise error
        check_known(start.applied, start.template)
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

    def _stale_catalog(self) -> list[str]:
        try:
            return self.catalog().stale
        except CatalogError as error:
            return [error.what()]

    def _decide(self, request: Request) -> Decision:
        """The mode matrix (docs/design.md, section 5)."""
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
        found = self.cascade.find(recipe).recipe if recipe is not None else None
        source = found.source if isinstance(found, Recipe) else None
        return Decision(
            Verdict.MATCH,
            reason,
            rationale,
            Stage.EXPLICIT,
            recipe=recipe,
            engine=engine,
            warnings=warnings,
            layer=layer,
            source=source,
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
            return self._below_ceilings(apply_engine(decision.engine or "", request.params))
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
        applied = apply_recipe(recipe, request.params, request.profile)
        foreign = foreign_start(recipe, self.cascade, request.params)
        applied = replace(applied, foreign=foreign, trusted=may_grant(recipe, self.settings))
        check_params(applied, has_task=bool(request.task or request.steer_content))
        return self._below_ceilings(with_body(applied, self.settings))

    def _below_ceilings(self, applied: AppliedRecipe) -> AppliedRecipe:
        """Whatever program is started with it."""
        params, lowered = below_ceilings(applied.params, f"`{applied.recipe or applied.engine}`", self.settings)
        return replace(applied, params=params, warnings=(*applied.warnings, *lowered))

    def scope(self, request: Request) -> NameScope:
        """Within which the request's name is unique."""
        layers = self.cascade.layers
        project = layers.project.key if layers.project is not None else None
        return NameScope(layers.tenant, project, find_session(request.session))

    def _start(self, request: Request, scope: NameScope, applied: AppliedRecipe) -> Start:
        layers, project = self.cascade.layers, self.cascade.layers.project
        # Of a recipe in a folder the last part: the name of a process is no path.
        name = request.name or f"{(applied.recipe or applied.engine).rpartition('/')[2]}-{secrets.token_hex(3)}"
        return Start(
            name,
            scope,
            project.id if project is not None else None,
            request,
            applied,
            self._template(applied),
            find_caller(),
            self.settings["models"],
            find_assignment(layers, self.settings, self.catalog().names) if generates(applied.params) else None,
            log_bytes=self.settings["limits.logBytes"],
        )

    def _template(self, applied: AppliedRecipe) -> CommandTemplate:
        foreign = applied.foreign
        if foreign is None or not foreign.preset:
            return find_template(self.settings, applied.engine)
        return find_source_template(self.settings, foreign.preset, foreign.key, foreign.passed_on)

    def _held(
        self, record: ProcessRecord, request: Request, watcher: Watcher | None, supervised: Started | None
    ) -> Delegated | None:
        """What is answered where a process has the name; None where it gives it up.

        One that generates holds it until then, and for what it has generated: for whoever asks for that by its name, or
        for the same again. Where nothing came of it the name is free.
        """
        record = current(record, self.store)
        if not holds_the_name(record) or record.status in OPEN:
            return self._existing(record, request)
        name = self._generated_by(record)
        if name is None or canonical(request.named_recipe or "") == name:
            self.store.rename(replace(record, name=later_name(record)))
            return None
        if request.async_fallback or request.digest() != record.asked:
            return self._existing(record, request)
        decision = RecordedDecision(record.decision).without("outcome", "fallback")
        fallback = {**record.decision["fallback"], "shadows": tuple(record.decision["fallback"]["shadows"])}
        answer = Delegated(decision, Fallback(**fallback))
        return self._start_generated(request, answer, record, request.timeout_seconds, watcher, supervised)

    def _existing(self, record: ProcessRecord, request: Request) -> Delegated:
        """The soft success of a name that is taken. That it was asked for something else is said."""
        record = current(record, self.store)
        if record.damaged is not None:
            raise StoreError(
                f"the name `{record.name}` is taken, and {record.damaged}",
                remedy=f"`vancectl processes remove {record.name}` frees it",
            )
        decision = RecordedDecision(record.decision)
        if record.asked not in {None, request.digest()}:
            warning = f"the process `{record.name}` was asked for something else; what is asked for now is not started"
            decision = decision.with_warnings([warning])
        process = ExistingProcess(record)
        if not holds_the_name(record):
            return Delegated(decision, process=process)
        decision = decision.without("outcome")
        if record.status in OPEN:
            return self._pending(Delegated(decision, process=process), record)
        name = self._generated_by(record)
        if name is not None:
            hint = f"it has generated `{name}`: vancectl delegate --name {shlex.quote(record.name)} --recipe {name}"
            process = ExistingProcess(record, hint)
        return Delegated(decision, process=process, generator=record)

    def _pending(self, answer: Delegated, generator: ProcessRecord) -> Delegated:
        hint = (
            f"`vancectl processes wait {generator.id}` waits for the recipe; the same call without --async-fallback "
            "then starts it, and so does one that names it"
        )
        return replace(answer, outcome=PENDING, generator=generator, hint=hint)

    def _generated_by(self, record: ProcessRecord) -> str | None:
        return generated_name(record, Cascade(self.cascade.layers)) if record.status == ProcessStatus.DONE else None

    def _generate(
        self,
        start: Start,
        answer: Delegated,
        watcher: Watcher | None,
        supervised: Started | None,
    ) -> Delegated:
        """In two steps (docs/design.md, section 5): a recipe is generated, then it is applied and started.

        With `asyncFallback` the second step is the caller's; the event of the first one's end names the recipe. The
        time limit of the call is for both.
        """
        request, begun = start.request, time.monotonic()
        limit, key = self.settings[GENERATE_TIMEOUT], GENERATE_TIMEOUT
        if request.timeout_seconds is not None and request.timeout_seconds < limit:
            limit, key = request.timeout_seconds, "--timeout"
        on_exit = request.on_exit if request.async_fallback else []
        start = replace(start, request=replace(request, on_exit=on_exit, wait=False, timeout_seconds=limit))
        record, lifeline, existing = self._claim(start, replace(answer, outcome=PENDING))
        if existing is not None:
            return self._existing(existing, request)
        start = replace(start, id=record.id)
        running, handle, unkept = start_process(start, record, self.store, lifeline, limit)
        if request.async_fallback:
            handle.leave()
            return self._pending(replace(answer, process=running, error=unkept), running)
        if supervised is not None:
            supervised(running)
        ended = self._await(running, handle)
        error = failure_of(ended, limit, key) or unkept
        if error is not None:
            ended = self._free(ended)
            failure = type(error)(f"no recipe was generated: {error.what()}", remedy=error.remedy)
            return replace(answer, generator=ended, error=failure)
        left = request.timeout_seconds
        left = left - (time.monotonic() - begun) if left is not None else None
        return self._start_generated(request, answer, ended, left, watcher, supervised)

    def _start_generated(
        self,
        request: Request,
        answer: Delegated,
        generator: ProcessRecord,
        timeout: float | None,
        watcher: Watcher | None,
        supervised: Started | None,
    ) -> Delegated:
        """The second step: what was generated takes over the name, in one moment with its start."""
        cascade = Cascade(self.cascade.layers)
        name = generated_name(generator, cascade)
        later = replace(generator, name=later_name(generator)) if request.name is not None else generator
        answer = replace(answer, generator=later)
        try:
            if name is None:
                raise SpawnError(
                    f"no recipe was generated: `{generator.recipe}` ended well, but named none",
                    remedy="its last line of output must be a JSON object with `generatedRecipe`; "
                    + where_it_speaks(generator),
                )
            assert answer.fallback is not None
            answer = replace(answer, fallback=replace(answer.fallback, generated=name))
            applied = self._applied(cascade.load(name), request)
            start = self._start(replace(request, timeout_seconds=timeout), self.scope(request), applied)
            answer = answer.with_warnings([each for each in _warnings(start) if each not in answer.decision.warnings])
            self._check(start)
            if timeout is not None and timeout <= 0:
                raise SpawnError(
                    f"the time of --timeout was over when `{name}` had been generated",
                    remedy=f"raise it, or start what is there: vancectl delegate --recipe {name}",
                )
            return self._spawn(start, answer, watcher, supervised, renamed=later)
        except VancectlError as error:
            self._free(generator)
            return replace(answer, error=error)

    def _free(self, generator: ProcessRecord) -> ProcessRecord:
        """Nothing has come of it that could have its name. A record that cannot be written keeps it."""
        later = replace(generator, name=later_name(generator))
        try:
            self.store.rename(later)
        except StoreError:
            return generator
        return later

    def _claim(
        self, start: Start, answer: Delegated, renamed: ProcessRecord | None = None
    ) -> tuple[ProcessRecord, Lifeline, ProcessRecord | None]:
        """The record that has the name from now on, and its lifeline; or, as the third, the one that has it already."""
        record = ProcessRecord(
            new_id(), start.scope.session, start.name, ProcessStatus.STARTING, start.applied.recipe,
            start.applied.engine, utc_now(), answer.as_json(), supervisor=os.getpid(), parent=start.caller.process,
            asked=start.request.digest(), tenant=start.scope.tenant, project=start.scope.project,
        )  # fmt: skip
        lifeline = Lifeline(str(self.store.folder / record.id))
        return record, lifeline, self.store.claim(record, lifeline, renamed)

    def _spawn(
        self,
        start: Start,
        answer: Delegated,
        watcher: Watcher | None,
        supervised: Started | None,
        renamed: ProcessRecord | None = None,
    ) -> Delegated:
        record, lifeline, existing = self._claim(start, answer, renamed)
        if existing is not None:
            return self._existing(existing, start.request)
        start = replace(start, id=record.id)
        timeout = start.request.timeout_seconds or start.template.timeout
        if not start.request.wait:
            running, handle, unkept = start_process(start, record, self.store, lifeline, timeout)
            handle.leave()
            return replace(answer, process=running, error=unkept)
        if supervised is not None:
            running, handle, unkept = start_process(start, record, self.store, lifeline, timeout)
            supervised(running)
            return _ended(start, answer, self._await(running, handle), timeout, unkept)
        on_output = watcher.on_output if watcher is not None else None
        if watcher is not None:
            watcher.on_start(answer, start.name)
        ended, unkept = run_process(start, record, self.store, lifeline, timeout, on_output)
        return _ended(start, answer, ended, timeout, unkept)

    def _await(self, record: ProcessRecord, handle: Supervised) -> ProcessRecord:
        """The record of the end. Whoever interrupts us ends the process, too."""
        try:
            handle.supervisor.wait()
        except KeyboardInterrupt:
            return stop(record, self.store, _GRACE)
        return current(record, self.store)


def _ended(
    start: Start, answer: Delegated, ended: ProcessRecord, timeout: float | None, unkept: VancectlError | None
) -> Delegated:
    answer = replace(answer, process=ended, error=failure_of(ended, timeout) or unkept)
    return answer.with_warnings(missed_key(ended, start.template))


def _warnings(start: Start) -> tuple[str, ...]:
    """What is to be said of a start before it is made. Raises UsageError for a prompt that cannot be rendered."""
    start.system()  # a template that fails is told before the name is taken, and in a dry run as well
    found = cautions(start.template, start.arguments(PLANNED_FOLDER))
    return (*start.applied.warnings, *found, *_dropped(start), *_mentions(start), *_end_unheard(start))


def _dropped(start: Start) -> list[str]:
    """What the recipe asks for and the preset's program never learns; who writes a command knows what it leaves out."""
    preset, dropped = start.template.preset, start.handover.dropped
    if preset is None or not dropped:
        return []
    return [f"the preset `{preset.name}` does not pass on: {', '.join(dropped)}"]


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
        return [f"no one will hear of the end: {error.text}"]
    return []
