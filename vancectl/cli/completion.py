"""Shell completion: names of recipes and engines, and nothing else on any stream.

A project brings its names along, and a shell may evaluate what it is offered: zsh does so at once, bash when the line
is entered. So only names are offered in which no character means anything to a shell.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

import typer

_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
_INERT = frozenset("-_./+,")
_INERT_FIRST = frozenset("_.")  # a `-` would make an option of it


def complete_recipe(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names that begin with what is typed. Whatever is wrong with the files must not disturb a prompt."""
    from vancectl.inventory.cascade import USER_PREFIX, Cascade
    from vancectl.inventory.layer import find_layers

    try:
        layers = find_layers(
            Path.cwd(),
            tenant=ctx.params.get("tenant"),
            with_project=not ctx.params.get("no_project"),
            directories=[Path(folder) for folder in ctx.params.get("recipes") or ()],
        )
        from vancectl.inventory.sources import with_sources
        from vancectl.settings.settings import load_settings

        if not (ctx.params.get("recipes") or ctx.params.get("no_sources")):
            layers = with_sources(layers, Path.cwd(), (), lambda: load_settings(layers.tenant))
        names = Cascade(layers).names
    except Exception:  # noqa: BLE001  # a completion that fails completes nothing
        return []
    if not incomplete.startswith("_"):  # nobody wants to see what was generated, and a user's own has a short name
        names = [name.removeprefix(USER_PREFIX) for name in names if not name.startswith("_") or USER_PREFIX in name]
    return _matching(names, incomplete)


def complete_engine(incomplete: str) -> list[str]:
    from vancectl.inventory.catalog import load_catalog

    try:
        names = load_catalog().names
    except Exception:  # noqa: BLE001  # as above
        return []
    return _matching(names, incomplete)


def complete_process(ctx: typer.Context, incomplete: str) -> list[str]:
    return _matching([name for name, _ in _processes(ctx.params.get("session"))], incomplete)


def complete_session(incomplete: str) -> list[str]:
    return _matching([session for _, session in _processes(None)], incomplete)


def _processes(session: str | None) -> list[tuple[str, str]]:
    """Names and sessions of what was started, the newest first."""
    from vancectl.disk.folders import state_dir
    from vancectl.process.store import ProcessStore

    try:
        records = ProcessStore(state_dir()).all(session=session)
    except Exception:  # noqa: BLE001  # a completion that fails completes nothing
        return []
    return [(record.name, record.session) for record in reversed(records)]


def complete_tenant(incomplete: str) -> list[str]:
    from vancectl.disk.folders import config_dir

    try:
        folder = config_dir()
        names = sorted(each.name for each in (folder / "tenants").iterdir() if each.is_dir()) if folder else []
    except Exception:  # noqa: BLE001  # as above
        return []
    return _matching(names, incomplete)


def complete_preset(incomplete: str) -> list[str]:
    from vancectl.process.preset import preset_names

    try:
        names = preset_names()
    except Exception:  # noqa: BLE001  # as above
        return []
    return _matching(names, incomplete)


def complete_rule(incomplete: str) -> list[str]:
    from vancectl.lint.rules import every_rule

    return _matching(["all", *every_rule()], incomplete)


def complete_stage(incomplete: str) -> list[str]:
    from vancectl.selector.decision import Stage

    return _matching([stage.value for stage in Stage], incomplete)


def complete_profile(ctx: typer.Context, incomplete: str) -> list[str]:
    """Those of the recipe that is named; without one, of all."""
    from vancectl.inventory.cascade import Cascade
    from vancectl.inventory.layer import find_layers
    from vancectl.inventory.recipe import Recipe

    try:
        cascade = Cascade(find_layers(Path.cwd(), tenant=ctx.params.get("tenant")))
        wanted = ctx.params.get("recipe")
        entries = [cascade.find(wanted)] if wanted else list(cascade.entries())
        names = [name for each in entries if isinstance(each.recipe, Recipe) for name in each.recipe.profiles]
    except Exception:  # noqa: BLE001  # as above
        return []
    return _matching(names, incomplete)


def complete_setting(incomplete: str) -> list[str]:
    from vancectl.settings.keys import KINDS

    return _matching(KINDS, incomplete)


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete) and _inert(name)]


def _inert(name: str) -> bool:
    """Whether a name stays one plain word in every shell, quoted or not; marks belong to the letters before them."""
    return (name[:1].isalnum() or name[:1] in _INERT_FIRST) and all(
        character.isalnum() or character in _INERT or unicodedata.category(character).startswith("M")
        for character in name
    )


def set_up(program: str, arguments: Sequence[str]) -> NoReturn:
    """Installs or shows the completion for the shell behind the option, or for the one that called us.

    Typer's own options take no argument, so that `--install-completion zsh` would install what is typed into. Raises
    UsageError.
    """
    from typer._completion_shared import get_completion_script, install

    from vancectl.cli.render.output import Output
    from vancectl.errors import UsageError

    option, _, shell = arguments[0].partition("=")
    named = shell or next(iter(arguments[1:]), None)
    if named is not None and named not in _SHELLS:
        raise UsageError(f"there is no completion for the shell `{named}`", remedy=f"name one of {', '.join(_SHELLS)}")
    variable = f"_{program.replace('-', '_').upper()}_COMPLETE"
    named = named or _calling_shell(option)
    if option == "--show-completion":
        Output().text(get_completion_script(prog_name=program, complete_var=variable, shell=named) + "\n")
        raise typer.Exit
    try:
        _, path = install(shell=named, prog_name=program, complete_var=variable)
    except (OSError, ValueError, RuntimeError) as error:  # no home, a start file that is no text, no such shell
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise UsageError(
            f"the completion for {named} cannot be installed: {reason}",
            remedy=f"`vancectl --show-completion {named}` prints it",
        ) from None
    Output().text(f"{named} completion installed in {path}; it takes effect in the next shell\n")
    raise typer.Exit


def _calling_shell(option: str) -> str:
    from typer._completion_shared import _get_shell_name

    from vancectl.errors import UsageError

    name = _get_shell_name()
    if name not in _SHELLS:
        raise UsageError("cannot tell which shell you use", remedy=f"name it: vancectl {option} zsh")
    return str(name)
