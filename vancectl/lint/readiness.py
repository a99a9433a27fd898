"""Whether `delegate` could start anything: the spawn commands and the fallback that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from vancectl.delegation.fallback import SETTING
from vancectl.errors import Place, SettingsError, VancectlError
from vancectl.lint.library import Library
from vancectl.lint.outline import Outline
from vancectl.process.command import CommandTemplate, find_template, spawn_program
from vancectl.programs.search import ProgramError
from vancectl.settings.settings import Settings, Source


class SpawnTemplate(NamedTuple):
    """A spawn command, and where it was set."""

    template: CommandTemplate
    place: Place


class Templates(NamedTuple):
    """The spawn commands that settings name, and what is wrong with those that cannot be read."""

    found: tuple[SpawnTemplate, ...]
    faults: tuple[SettingsError, ...]


class NamedFallback(NamedTuple):
    """The fallback's recipe, and where it was set."""

    value: str
    place: Place


def templates(settings: Settings) -> Templates:
    """The command for all engines, then those for single ones."""
    found, faults = [], []
    for engine in ("", *settings["spawn.engines"]):
        try:
            template = find_template(settings, engine)
        except SettingsError as error:
            faults.append(error)
            continue
        if template.argv and not (engine and template.key == "spawn.command"):
            setting = "spawn.engines" if engine else template.key
            found.append(SpawnTemplate(template, _set_at(settings, setting, template.key)))
    return Templates(tuple(found), tuple(faults))


def spawn_templates(library: Library) -> tuple[SpawnTemplate, ...]:
    settings = library.settings
    return () if isinstance(settings, SettingsError) else templates(settings).found


def missing_program(template: CommandTemplate) -> str | None:
    """Why the program cannot be started; None where it is there."""
    try:
        spawn_program(template)
    except ProgramError as error:
        return error.text
    return None


def fallback(library: Library) -> NamedFallback | None:
    """None where there is none, and where it cannot be there: `--recipes` takes the place of the whole cascade."""
    settings = library.settings
    if isinstance(settings, SettingsError) or not settings[SETTING]:
        return None
    if settings.value(SETTING).source is Source.BUNDLED and not library.cascade.layers.has_bundled:
        return None
    return NamedFallback(settings[SETTING], _set_at(settings, SETTING, SETTING))


def place_of(error: VancectlError) -> Place:
    return error.where if error.where is not None else Place(Path("settings"))


def _set_at(settings: Settings, setting: str, key: str) -> Place:
    """Where a value was set: its line in a file, else what set it."""
    value = settings.value(setting)
    path = Path(value.origin)
    if value.source in {Source.BUNDLED, Source.TENANT}:
        return Outline(path).field(*key.split("."))
    return Place(path)
