"""Starting the recipes of other programs: each with its own program, from its own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vancectl.delegation.applied import AppliedRecipe, ForeignStart
from vancectl.errors import Place, SpawnError, UsageError
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.layer import LayerKind
from vancectl.inventory.recipe import Recipe
from vancectl.process.command import CommandTemplate, search_environment
from vancectl.programs.child import ChildError, run_child
from vancectl.programs.environment import program_environment
from vancectl.programs.search import ProgramError, find_program
from vancectl.settings.settings import Settings
from vancectl.sources.folder import body_of
from vancectl.sources.formats import FORMATS

_ASKING = 20.0  # seconds for a program to say which names it knows
_MOST = 1_000_000


def foreign_start(recipe: Recipe, cascade: Cascade, params: Mapping[str, Any]) -> ForeignStart | None:
    """How a recipe's own program starts it; None for one of ours.

    One of ours that takes the place of a foreign one and has no prompt of its own is still started as that one: it says
    when to choose it.
    """
    origin = recipe if recipe.source is not None else _behind(recipe, cascade)
    if origin is None or origin.source is None or origin.layer.source is None:
        return None
    preset = origin.layer.source.preset or FORMATS[origin.layer.source.format].preset
    return ForeignStart(
        origin.source["key"],
        origin.source["format"],
        origin.source["name"],
        origin.path,
        preset,
        dict(params),
        tuple(origin.fields.get("requires", ())),
        origin.fields.get("taskParam"),
        tuple(origin.fields.get("accepts", ())),
    )


def _behind(recipe: Recipe, cascade: Cascade) -> Recipe | None:
    if not cascade.layers.sources or recipe.fields.get("promptPrefix"):
        return None
    hidden = [each for each in cascade.hidden(cascade.find(recipe.name)) if each.layer.kind is LayerKind.SOURCE]
    return next((each for each in hidden if isinstance(each, Recipe)), None)


def with_body(applied: AppliedRecipe, settings: Settings) -> AppliedRecipe:
    """A recipe that no program of its own starts: its text is the prompt, and a model that is none here is left out.

    Raises UsageError where its file cannot be read.
    """
    foreign = applied.foreign
    if foreign is None or foreign.preset:
        return applied
    try:
        body = body_of(Path(foreign.path))
    except OSError as error:
        raise UsageError(
            f"the text of `{applied.recipe}` cannot be read: {error.strerror or error}", where=Place(Path(foreign.path))
        ) from None
    params, warnings = dict(applied.params), applied.warnings
    model = params.get("model")
    if isinstance(model, str) and "model" not in foreign.params and not _is_model(model, settings):
        del params["model"]
        warnings = (*warnings, f"`{applied.recipe}` asks for the model `{model}`, which is none here; it is left out")
    return replace(applied, params=params, fields={**applied.fields, "promptPrefix": body}, warnings=warnings)


def _is_model(name: str, settings: Settings) -> bool:
    return name.startswith("claude-") or name in settings["models"]


def check_params(applied: AppliedRecipe, *, has_task: bool) -> None:
    """Raises UsageError for a param that the recipe requires and that no one has given, before anything starts."""
    foreign = applied.foreign
    if foreign is None:
        return
    missing = [
        name
        for name in foreign.requires
        if foreign.params.get(name) in (None, "") and not (name == foreign.task_param and has_task)
    ]
    if missing:
        raise UsageError(
            f"the recipe `{applied.recipe}` requires {', '.join(f'`{name}`' for name in missing)}",
            where=Place(Path(foreign.path)),
            remedy=f"add {' '.join(f'--param {name}=…' for name in missing)}",
        )


def check_known(applied: AppliedRecipe, template: CommandTemplate) -> None:
    """Raises SpawnError where the program does not know the recipe: some then start another one and end well."""
    foreign, preset = applied.foreign, template.preset
    if foreign is None or preset is None or not preset.known:
        return
    try:
        program = find_program(preset.known[0], search_environment(template))
        told = run_child(
            [program, *preset.known[1:]],
            stdin=None,
            environment=program_environment(template.environment, {}),
            timeout=_ASKING,
            capture_stderr=True,
            max_output=_MOST,
        )
    except (ProgramError, ChildError) as error:
        raise SpawnError(f"`{preset.known[0]}` cannot be asked for the names that it knows: {error}") from None
    names = {line.split(" (")[0].strip() for line in told.stdout.decode("utf-8", "replace").splitlines()}
    if foreign.name not in names:
        raise SpawnError(
            f"{preset.known[0]} does not know `{foreign.name}`, and would start another in its place",
            remedy=f"`{' '.join(preset.known)}` shows the names that it knows",
        )
