"""What keeps a recipe from being started here: asked before a name is taken, in a dry run, and of a fallback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vancectl.errors import SpawnError, UsageError, VancectlError
from vancectl.model.messages_api.credential import KEY_VARIABLES
from vancectl.process.command import CommandTemplate, find_template, no_command, spawn_program, unable
from vancectl.programs.environment import passed_on
from vancectl.programs.search import ProgramError
from vancectl.settings.settings import Settings

_RECIPE_TYPES = {"recipe", "recipe_yaml", ""}


def engine_hindrance(settings: Settings, engine: str) -> str | None:
    """Why nothing that has this engine can be started here, whatever keys there are; None where it can."""
    try:
        template = find_template(settings, engine)
        error = _of_engine(template, engine)
    except VancectlError as broken:
        return broken.what()
    return error.what() if error is not None else None


def hindrance_of(settings: Settings, engine: str, params: Mapping[str, Any]) -> VancectlError | None:
    """Why what an engine and these params ask for cannot be started with these settings; None where it can."""
    try:
        return hindrance(find_template(settings, engine), engine, params)
    except VancectlError as error:
        return error


def hindrance(template: CommandTemplate, engine: str, params: Mapping[str, Any]) -> VancectlError | None:
    """The same for a spawn command that has been found."""
    error = _of_engine(template, engine)
    if error is not None:
        return error
    preset = template.preset
    if preset is None or preset.engines is None:
        return None
    if preset.runs_worker and not any(
        (passed_on(template.environment.get(key)) or "").strip() for key in KEY_VARIABLES
    ):
        return SpawnError(
            f"the worker has no key to run the recipe with: set {KEY_VARIABLES[0]}",
            remedy="or name a program of yours in spawn.command or spawn.preset; `vancectl spawn test` tries one",
        )
    return script_wanted(engine, params)


def _of_engine(template: CommandTemplate, engine: str) -> VancectlError | None:
    if not template.argv:
        return no_command(engine)
    try:
        spawn_program(template)
    except ProgramError as error:
        return SpawnError(error.text, remedy=f"check {template.key} in {template.origin}")
    preset = template.preset
    if preset is not None and preset.engines is not None and engine not in preset.engines:
        return unable(engine)
    return None


def script_wanted(engine: str, params: Mapping[str, Any]) -> UsageError | None:
    """Our worker has slartibartfast write recipes; a script needs what runs and checks it."""
    wanted = str(params.get("outputSchemaType") or "")
    if engine != "slartibartfast" or (wanted.lower() in _RECIPE_TYPES and not params.get("executeWith")):
        return None
    return UsageError(
        f"the worker writes recipes only; what this one asks for ({wanted or 'to run it'}) needs a program",
        remedy="set spawn.engines.slartibartfast.command in the tenant's settings.yaml",
    )
