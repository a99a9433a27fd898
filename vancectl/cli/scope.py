"""The options that nearly every command takes, and what follows from them, each thing built on first use."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.options import QuietOption, TenantOption, VerboseOption

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.decision_log.log import Journal
    from vancectl.delegation.answer import AnyDecision
    from vancectl.delegation.delegation import Delegation
    from vancectl.inventory.cascade import Cascade
    from vancectl.inventory.inventory import Inventory
    from vancectl.inventory.layer import Layers
    from vancectl.selector.decision import Decision
    from vancectl.selector.selector import Selector
    from vancectl.selector.semantic.stage import Semantic
    from vancectl.selector.shortlist.candidates import Candidates
    from vancectl.settings.settings import Settings


class Voice:
    """How much is said. Its parameters are the options of a command that reads neither recipes nor settings."""

    def __init__(self, quiet: QuietOption = False, verbose: VerboseOption = 0) -> None:
        self.quiet = quiet
        self._verbose = verbose

    def output(self, *, as_json: bool = False, field: str | None = None) -> Output:
        from vancectl.cli.render.output import Output

        return Output(as_json=as_json, field=field, quiet=self.quiet, verbose=self._verbose)


class Scope(Voice):
    """Which recipes and settings hold, and how much is said. Its parameters are options of the commands."""

    def __init__(
        self,
        recipes: Annotated[
            list[Path] | None,
            typer.Option(
                "--recipes", metavar="DIR", help="Use these folders of recipes, nearest first, in place of the cascade."
            ),
        ] = None,
        no_project: Annotated[bool, typer.Option("--no-project", help="Leave the project layer out.")] = False,
        no_sources: Annotated[
            bool, typer.Option("--no-sources", help="Leave out the recipes of other programs.")
        ] = False,
        tenant: TenantOption = None,
        assignments: Annotated[
            list[str] | None,
            typer.Option("--set", metavar="KEY=VALUE", help="Set a setting for this call (repeatable)."),
        ] = None,
        quiet: QuietOption = False,
        no_cache: Annotated[
            bool, typer.Option("--no-cache", help="Read every recipe file again, and keep none compiled.")
        ] = False,
        verbose: VerboseOption = 0,
    ) -> None:
        super().__init__(quiet, verbose)
        self._recipes = recipes or []
        self._no_project = no_project
        self.with_sources = not (no_sources or recipes)
        self._tenant = tenant
        self._assignments = assignments or []
        self._use_cache = not no_cache
        # A start with neither loads no settings for this.
        if self._assignments or any(name.startswith("VANCECTL_") and "__" in name for name in os.environ):
            from vancectl.settings.settings import check_given

            check_given(self._options())

    def words(self, *, of_processes: bool = False) -> list[str]:
        """The options of scope that were given, for another run of ours; or those that processes know as well."""
        shared = [
            *(["--no-project"] if self._no_project else []),
            *(["--tenant", self._tenant] if self._tenant is not None else []),
        ]
        if of_processes:
            return shared
        return [
            *shared,
            *(word for folder in self._recipes for word in ("--recipes", str(folder.absolute()))),
            *(["--no-sources"] if not (self.with_sources or self._recipes) else []),
            *(word for assignment in self._assignments for word in ("--set", assignment)),
        ]

    def assign(self, assignment: str) -> None:
        """Sets a setting for what is asked from here on."""
        self._assignments.append(assignment)
        self.__dict__.pop("settings", None)

    @cached_property
    def layers(self) -> Layers:
        from vancectl.errors import UsageError
        from vancectl.inventory.layer import find_layers

        try:
            directory = Path.cwd()
        except OSError:
            raise UsageError("the working directory is gone", remedy="change to one that exists") from None
        layers = find_layers(
            directory, tenant=self._tenant, with_project=not self._no_project, directories=self._recipes
        )
        if not self.with_sources:
            return layers
        from vancectl.inventory.sources import with_sources

        return with_sources(layers, directory, self._assignments, lambda: self._settings_of(layers))

    @cached_property
    def cascade(self) -> Cascade:
        from vancectl.inventory.cascade import Cascade

        return Cascade(self.layers, use_cache=self._use_cache)

    def bring_sources(self) -> None:
        """The recipes of other programs count from here on."""
        self.with_sources = True
        for known in ("layers", "cascade", "inventory", "candidates"):
            self.__dict__.pop(known, None)

    @cached_property
    def inventory(self) -> Inventory:
        from vancectl.inventory.inventory import take_inventory

        return take_inventory(self.cascade)

    @cached_property
    def settings(self) -> Settings:
        return self._settings_of(self.layers)

    def _settings_of(self, layers: Layers) -> Settings:
        from vancectl.settings.settings import load_settings

        return load_settings(layers.tenant, self._options())

    def settings_without_file(self) -> Settings:
        """As they would be without the tenant's file."""
        from vancectl.settings.settings import load_settings

        return load_settings(None, self._options())

    def fresh_settings(self) -> Settings:
        """As they are after a file of theirs was changed."""
        self.__dict__.pop("settings", None)
        return self.settings

    @cached_property
    def candidates(self) -> Candidates:
        from vancectl.selector.shortlist.candidates import Candidates

        return Candidates(self.inventory, lambda: self.settings)

    @property
    def journal(self) -> Journal | None:
        """The decision log; None without a home directory."""
        from vancectl.decision_log.log import Journal
        from vancectl.disk.folders import state_dir

        state = state_dir()
        return Journal(state) if state is not None else None

    def remember(
        self,
        output: Output,
        command: str,
        decision: AnyDecision,
        task: str,
        fallback: str | None = None,
    ) -> None:
        """Logs a decision. That this fails is worth a note, and no more: the decision stands."""
        from vancectl.decision_log.log import entry, find_policy
        from vancectl.settings.tenant import tenant_folder

        journal = self.journal
        if journal is None:
            return
        policy = find_policy(tenant_folder(self.layers.tenant), self._assignments, lambda: self.settings)
        if policy.decisions:
            try:
                project = self.layers.project.key if self.layers.project is not None else None
                journal.append(
                    entry(
                        command, decision.as_json(), task, policy, fallback, tenant=self.layers.tenant, project=project
                    )
                )
            except OSError as error:
                output.note(f"the decision is not logged: {(error.strerror or str(error)).lower()} ({journal.path})")

    def selector(self, model: str | None, *, many_tasks: bool = False, replay: Path | None = None) -> Selector:
        """Stage two is put together when a task first needs it: its parts are costly to load.

        With `replay` it answers from that file of recordings.
        """
        from vancectl.selector.selector import Selector

        if model:  # what is started from here asks with the same one
            os.environ["VANCECTL_MODEL"] = model

        def semantic() -> Semantic:
            from vancectl.assembly import assemble_replay, assemble_semantic

            if replay is None:
                return assemble_semantic(self.cascade, self.candidates, self.settings, model)
            from vancectl.recordings.recordings import Recordings

            recordings = Recordings.read(replay, must_exist=True)
            return assemble_replay(self.cascade, self.candidates, self.settings, model, recordings)[0]

        return Selector(self.inventory, semantic, self.candidates.nearest, many_tasks=many_tasks)

    def delegation(self, select: Callable[[str], Decision]) -> Delegation:
        """What carries out a request, with `select` for its decision."""
        from vancectl.delegation.delegation import Delegation
        from vancectl.disk.folders import state_dir
        from vancectl.inventory.catalog import load_catalog
        from vancectl.process.store import ProcessStore

        return Delegation(self.cascade, load_catalog, self.settings, ProcessStore(state_dir()), select)

    def report_findings(self, output: Output) -> None:
        """Warns of what was passed over while the files were found."""
        if self.layers.tenant_of_project is not None:
            tenant, file = self.layers.tenant_of_project
            output.progress(f"note: the tenant is `{tenant}`, since {file} names it")
        for finding in self.cascade.findings:
            if finding.code == "no-home":
                output.note(finding.line())
            else:
                output.warn(finding.line())

    def _options(self) -> dict[str, Any]:
        from vancectl.errors import SettingsError
        from vancectl.settings.settings import parse_value

        options = {}
        for assignment in self._assignments:
            key, equals, text = assignment.partition("=")
            if not equals:
                raise SettingsError(f"`--set {assignment}` has no value", remedy="write --set KEY=VALUE")
            options[key.strip()] = parse_value(key.strip(), text, "--set")
        return options


def scoped(command: Callable[..., None]) -> Callable[..., None]:
    """Replaces a command's parameter `scope` by the options of Scope, so that they stand in one place."""
    return with_options(command, "scope", Scope)


def voiced(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a parameter `voice` and the options of Voice."""
    return with_options(command, "voice", Voice)


def with_options(command: Callable[..., None], place: str, kind: Callable[..., Voice]) -> Callable[..., None]:
    """Replaces a command's parameter `place` by the options that `kind` takes."""
    own = inspect.signature(command, eval_str=True)
    shared = inspect.signature(kind, eval_str=True).parameters

    def parameters() -> Iterator[inspect.Parameter]:
        for name, parameter in own.parameters.items():
            if name != place:
                yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in shared.values():
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in shared}
        command(**{place: kind(**given)}, **arguments)

    wanted = list(parameters())
    run.__signature__ = own.replace(parameters=wanted)  # type: ignore[attr-defined]  # what Typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in wanted}
    return run
