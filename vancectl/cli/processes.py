"""Which processes a command is about: those of the project one stands in, or all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.completion import complete_process
from vancectl.cli.options import QuietOption, TenantOption, VerboseOption
from vancectl.cli.scope import Voice, with_options

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.process.store import NameScope, ProcessRecord, ProcessStore

NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A process's id, or its name in the session.", autocompletion=complete_process),
]


class Processes(Voice):
    """The records and the scope of names. Its parameters are options of the commands."""

    def __init__(
        self,
        all_projects: Annotated[
            bool, typer.Option("--all-projects", help="The processes of every project and tenant.")
        ] = False,
        no_project: Annotated[bool, typer.Option("--no-project", help="Those that belong to no project.")] = False,
        tenant: TenantOption = None,
        quiet: QuietOption = False,
        verbose: VerboseOption = 0,
    ) -> None:
        super().__init__(quiet, verbose)
        self._all_projects = all_projects
        self._no_project = no_project
        self._tenant = tenant

    @cached_property
    def store(self) -> ProcessStore:
        from vancectl.disk.folders import state_dir
        from vancectl.process.store import ProcessStore

        return ProcessStore(state_dir())

    def scope(self, session: str | None = None) -> NameScope | None:
        """None where all projects are meant."""
        if self._all_projects:
            return None
        from vancectl.inventory.layer import find_layers
        from vancectl.process.caller import find_session
        from vancectl.process.store import NameScope

        layers = find_layers(_directory(), tenant=self._tenant, with_project=not self._no_project)
        project = layers.project.key if layers.project is not None else None
        return NameScope(layers.tenant, project, find_session(session))

    def find(self, name: str, session: str | None) -> ProcessRecord:
        """By id wherever it belongs, else by name. Raises UsageError."""
        from vancectl.errors import UsageError
        from vancectl.process.caller import find_session
        from vancectl.text.names import did_you_mean, near_names

        record = self.store.get(name)
        scope = self.scope(session) if record is None else None
        if record is None and scope is not None:
            record = self.store.find(scope, name)
        elif record is None:
            wanted = find_session(session)
            found = [each for each in self.store.all(session=wanted) if each.name == name]
            if len(found) > 1:
                ids = ", ".join(f"{each.id} ({each.project or 'no project'})" for each in found)
                raise UsageError(f"several projects have a process `{name}`", remedy=f"name it by its id: {ids}")
            record = found[0] if found else None
        if record is not None:
            return record
        session = scope.session if scope is not None else wanted
        near = near_names(name, [each.name for each in self.store.all(scope, session)])
        elsewhere = " --all-projects" if scope is not None and any(e.name == name for e in self.store.all()) else ""
        raise UsageError(
            f"there is no process `{name}` in the session `{session}`",
            remedy=did_you_mean(near, f"`vancectl processes list{elsewhere}` shows all"),
        )


def _directory() -> Path:
    from vancectl.errors import UsageError

    try:
        return Path.cwd()
    except OSError:
        raise UsageError("the working directory is gone", remedy="change to one, or give --all-projects") from None


def with_processes(command: Callable[..., None]) -> Callable[..., None]:
    """Replaces a command's parameter `processes` by the options of Processes."""
    return with_options(command, "processes", Processes)


def print_end(record: ProcessRecord, output: Output) -> None:
    """How a process has ended, in a line."""
    for fault in record.faults:
        output.warn(fault)
    if output.as_json:
        output.document(record.as_json())
        return
    seconds = f" after {record.seconds:g} s" if record.seconds is not None else ""
    code = f" (exit {record.exit_code})" if record.exit_code is not None else ""
    output.prose(f"{record.name} {record.status}{code}{seconds}\n")
