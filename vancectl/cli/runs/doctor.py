"""What holds here, and what is wrong with it: each part is looked at by the code that uses it."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vancectl.cli.scope import Scope

_VERSION_SECONDS = 5.0


class Health(StrEnum):
    """A warning leaves the rest working; a fault keeps something from working that is set up to."""

    FINE = "fine"
    WARNING = "warning"
    FAULT = "fault"


class Part(NamedTuple):
    """One line: what was looked at, how it is, and what helps."""

    name: str
    health: Health
    text: str
    remedy: str = ""


def examine(scope: Scope, *, online: bool, versions: bool = True) -> Iterator[Part]:
    """From the outside in. With `online` the server is asked for its models, which costs nothing.

    `versions`: programs are started to ask for theirs, which may take a while.
    """
    from vancectl import __version__

    yield Part("version", Health.FINE, f"vancectl {__version__}, Python {platform.python_version()}")
    yield from _guarded("project", lambda: _project(scope))
    yield from _guarded("settings", lambda: _settings(scope))
    yield from _guarded("recipes", lambda: _recipes(scope))
    yield from _guarded("sources", lambda: _sources(scope))
    yield from _guarded("catalog", lambda: _catalog(scope))
    yield from _guarded("model", lambda: _model(scope, online=online, versions=versions))
    yield from _guarded("start", lambda: _start(scope, versions=versions))
    yield from _folders()


def _guarded(name: str, look: Callable[[], Iterator[Part]]) -> Iterator[Part]:
    from vancectl.errors import VancectlError

    try:
        yield from look()
    except VancectlError as error:
        where = f"{error.where}: " if error.where is not None else ""
        yield Part(name, Health.FAULT, f"{where}{error.what()}", error.remedy)


def _project(scope: Scope) -> Iterator[Part]:
    project = scope.layers.project
    if project is None:
        yield Part("project", Health.FINE, "none here; `vancectl init` begins one")
    else:
        yield Part("project", Health.FINE, f"{project.id or 'without an id'}, {project.folder}")
    for finding in scope.cascade.findings:
        yield Part("project", Health.WARNING, f"{finding.place}: {finding.sentence()}", finding.remedy())


def _settings(scope: Scope) -> Iterator[Part]:
    from vancectl.cli.render.decision import tenant_in_words
    from vancectl.settings.tenant import tenant_folder

    folder = tenant_folder(scope.layers.tenant)
    file = folder / "settings.yaml" if folder is not None else None
    there = file is not None and os.path.lexists(file)
    scope.settings  # noqa: B018  # raises for a broken file
    text = f"tenant {tenant_in_words(scope.layers)}, {file}{'' if there else ' (not there; the defaults hold)'}"
    yield Part("settings", Health.FINE, text)


def _recipes(scope: Scope) -> Iterator[Part]:
    from vancectl.inventory.recipe import BrokenRecipe

    entries = list(scope.cascade.entries())
    counted = Counter(entry.recipe.layer.kind for entry in entries)
    for layer in scope.layers.nearest_first:
        there = os.path.isdir(layer.directory)
        text = f"{layer.kind.value}: {counted[layer.kind]} in force, {layer.directory}{'' if there else ' (not there)'}"
        yield Part("recipes", Health.FINE, text)
    broken = [entry.recipe for entry in entries if isinstance(entry.recipe, BrokenRecipe)]
    for recipe in broken:
        yield Part("recipes", Health.FAULT, f"`{recipe.name}` is broken: {recipe.fault}", "`vancectl recipes lint`")


def _sources(scope: Scope) -> Iterator[Part]:
    counted = Counter(
        entry.recipe.layer.source.key for entry in scope.cascade.entries() if entry.recipe.layer.source is not None
    )
    for layer in scope.layers.sources:
        if layer.source is not None:
            yield Part("sources", Health.FINE, f"{layer.source.key}: {counted[layer.source.key]}, {layer.directory}")
    for layer in scope.layers.untrusted:
        yield Part(
            "sources", Health.WARNING, f"left out, since it is not trusted: {layer.directory}", "`vancectl trust`"
        )


def _catalog(scope: Scope) -> Iterator[Part]:
    from vancectl.inventory.catalog import load_catalog

    catalog = load_catalog()
    for text in catalog.stale:
        yield Part("catalog", Health.FAULT, text, "then `vancectl catalog reload`")
    if not catalog.stale:
        yield Part("catalog", Health.FINE, f"{len(catalog.engines)} engines")


def _model(scope: Scope, *, online: bool, versions: bool) -> Iterator[Part]:
    from vancectl.assembly import assemble_semantic
    from vancectl.model.messages_api.credential import find_credential
    from vancectl.model.model import ModelError
    from vancectl.model.reason import Reason

    try:
        semantic = assemble_semantic(scope.cascade, scope.candidates, scope.settings, None)
    except ModelError as error:
        health = Health.WARNING if error.reason in {Reason.NO_KEY, Reason.MODEL_OFF} else Health.FAULT
        yield Part("model", health, f"{error.text}; only trigger phrases decide")
        return
    model = semantic.model
    if model.backend != "anthropic":
        yield from _program("model", scope.settings["selector.command"][0], versions=versions)
        return
    credential = find_credential()
    text = f"{model.name} at {getattr(model, 'url', '')}, with {credential.variable if credential else 'no key'}"
    fault = getattr(model, "try_server", lambda: None)() if online else None
    if fault is not None:
        yield Part("model", Health.FAULT, f"{text}: {fault}", "check the key, the network and ANTHROPIC_BASE_URL")
    else:
        yield Part("model", Health.FINE, text + ("; it answers" if online else ""))


def _start(scope: Scope, *, versions: bool) -> Iterator[Part]:
    from vancectl.delegation.hindrance import engine_hindrance, hindrance_of
    from vancectl.inventory.recipe import Recipe
    from vancectl.process.command import find_template, spawn_program
    from vancectl.text.names import some_of

    settings = scope.settings
    template = find_template(settings, "ford")
    error = hindrance_of(settings, "ford", {})
    if error is not None:
        yield Part("start", Health.FAULT, error.what(), error.remedy)
    elif template.preset is not None and template.preset.runs_worker:
        yield Part("start", Health.FINE, "the bundled worker, through the Messages API")
    else:
        path = spawn_program(template)
        version = _version(path) if versions else ""
        yield Part("start", Health.FINE, f"{path}{f', {version}' if version else ''}")
    engines = Counter(
        entry.recipe.engine
        for entry in scope.cascade.entries()
        if isinstance(entry.recipe, Recipe) and entry.recipe.source is None
    )
    reasons: dict[str, list[str]] = {}
    for engine in sorted(engines):
        reason = engine_hindrance(settings, engine)
        if reason is not None and (error is None or reason != error.what()):
            reasons.setdefault(reason.replace(f" for the engine `{engine}`", ""), []).append(engine)
    for reason, hindered in reasons.items():
        counted = some_of([f"{engine} {engines[engine]}" for engine in hindered])
        text = f"recipes that cannot be started here ({counted}): {reason}"
        yield Part("start", Health.WARNING, text, "name programs of yours in spawn.engines.NAME.command")


def _program(name: str, program: str, *, versions: bool) -> Iterator[Part]:
    from vancectl.programs.search import ProgramError, find_program

    try:
        path = find_program(program)
    except ProgramError as error:
        yield Part(name, Health.FAULT, error.text, "install it, or name another one in the settings")
        return
    version = _version(path) if versions else ""
    yield Part(name, Health.FINE, f"{path}{f', {version}' if version else ''}")


def _version(path: str) -> str:
    """The first line of what it says to `--version`; empty where it does not answer soon."""
    import subprocess
    import tempfile

    from vancectl.programs.secrets import scrub, without_credentials
    from vancectl.text.printable import plain_line

    try:
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run(
                [path, "--version"], capture_output=True, timeout=_VERSION_SECONDS, check=False, cwd=empty,
                stdin=subprocess.DEVNULL, env=without_credentials(os.environ),
            )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return plain_line(scrub(lines[0]))[:80] if lines and done.returncode == 0 else ""


def _folders() -> Iterator[Part]:
    from vancectl.disk.folders import cache_dir, state_dir

    for name, folder in (("state", state_dir()), ("cache", cache_dir())):
        if folder is None:
            yield Part(name, Health.WARNING, "there is no home directory", f"set HOME or VANCECTL_{name.upper()}_DIR")
            continue
        nearest = next(each for each in [folder, *folder.parents] if os.path.exists(each))
        if os.path.isdir(nearest) and os.access(nearest, os.W_OK | os.X_OK):
            yield Part(name, Health.FINE, str(folder))
        else:
            health = Health.FAULT if name == "state" else Health.WARNING
            yield Part(
                name, health, f"{folder} cannot be written", f"make it writable, or set VANCECTL_{name.upper()}_DIR"
            )
