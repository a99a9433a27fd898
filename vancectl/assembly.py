"""Puts stage two together from settings, the recipe `recipe-selector`, the engine catalog and the inventory."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vancectl.disk.folders import defaults_dir
from vancectl.errors import CatalogError
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.catalog import load_catalog
from vancectl.inventory.inventory import SELECTOR_RECIPE
from vancectl.inventory.layer import Layer, LayerKind
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.model.model import Model, ModelError, resolve_model
from vancectl.model.reason import Reason
from vancectl.programs.secrets import scrub
from vancectl.selector.semantic.prompt import Prompt
from vancectl.selector.semantic.stage import Semantic
from vancectl.selector.shortlist.candidates import Candidates
from vancectl.settings.limits import Limits, below_ceilings
from vancectl.settings.settings import Settings, Source
from vancectl.settings.trust import FOLDERS, is_trusted

if TYPE_CHECKING:
    from vancectl.recordings.recordings import Recordings
    from vancectl.recordings.replay import Replay

MAX_TOKENS = 4096


def assemble_semantic(cascade: Cascade, candidates: Candidates, settings: Settings, wanted: str | None) -> Semantic:
    """Stage two; `wanted` is the caller's model, if any.

    Raises ModelError where there is no model to ask, or no prompt or catalog to ask with.
    """
    recipe, warnings = _selector_recipe(cascade, settings)
    if settings["selector.backend"] == "command" and wanted:
        warnings = (*warnings, "the model has no effect with selector.backend `command`: name it in selector.command")
    params, lowered = below_ceilings(recipe.params, f"`{SELECTOR_RECIPE}` ({recipe.path})", settings)
    if "temperature" in params:
        lowered = (*lowered, f"params.temperature of `{SELECTOR_RECIPE}` ({recipe.path}) has no effect: none is sent")
    model = _model(settings, params, wanted)
    prompt = _prompt(recipe, candidates, settings)
    return Semantic(
        model,
        prompt,
        settings["selector.timeout"],
        settings["selector.maxAttempts"],
        (*warnings, *lowered, *prompt.catalog.stale),
    )


def assemble_replay(
    cascade: Cascade,
    candidates: Candidates,
    settings: Settings,
    wanted: str | None,
    recordings: Recordings,
    *,
    allow_stale: bool = False,
) -> tuple[Semantic, Replay]:
    """Stage two that answers from recordings and needs no key; also its model by its own kind. Raises ModelError."""
    from vancectl.recordings.fingerprint import Binding
    from vancectl.recordings.replay import Replay

    recipe, warnings = _selector_recipe(cascade, settings)
    prompt = _prompt(recipe, candidates, settings)
    binding = Binding.of(_model_name(settings, recipe.params, wanted), prompt, candidates.recipes)
    model = Replay(recordings, binding, allow_stale=allow_stale)
    return Semantic(model, prompt, settings["selector.timeout"], settings["selector.maxAttempts"], warnings), model


def assemble_prompt(cascade: Cascade, candidates: Candidates, settings: Settings) -> Prompt:
    """The prompt alone, for a look at its size; needs no key. Raises ModelError where it lacks a part."""
    return _prompt(_selector_recipe(cascade, settings)[0], candidates, settings)


def _prompt(recipe: Recipe, candidates: Candidates, settings: Settings) -> Prompt:
    try:
        catalog = load_catalog()
    except CatalogError as error:
        raise ModelError(Reason.NO_MODEL, f"{error.what()} ({error.where}); {error.remedy}") from None
    system = str(recipe.fields.get("promptPrefix") or "")
    if not system.strip():
        # An override wins as a whole: without a prompt the model would not even know that it is to choose.
        raise ModelError(
            Reason.NO_MODEL,
            f"the recipe `{SELECTOR_RECIPE}` ({recipe.path}) has no promptPrefix; copy the bundled one into it",
        )
    most = Limits.of(settings).description_characters
    return Prompt(system, catalog, candidates.shortlist, candidates.names, most)


def _selector_recipe(cascade: Cascade, settings: Settings) -> tuple[Recipe, tuple[str, ...]]:
    """The cascade's `recipe-selector`, else the bundled one, and what is to be said of those that were passed over.

    It is a project's only where the tenant trusts the folder: it holds the prompt, the model and the limits of a call
    that the user pays for.
    """

    def admits(layer: Layer) -> bool:
        return layer.kind is not LayerKind.PROJECT or is_trusted(layer.project_folder, settings[FOLDERS])

    recipe, passed = cascade.nearest(SELECTOR_RECIPE, admits)
    if recipe is None:
        from vancectl.inventory.schema import load_recipe

        bundled = Layer(LayerKind.BUNDLED, defaults_dir() / "recipes")
        recipe = load_recipe(SELECTOR_RECIPE, bundled, str(bundled.directory / f"{SELECTOR_RECIPE}.yaml"))
    if isinstance(recipe, BrokenRecipe):
        raise ModelError(Reason.NO_MODEL, f"the recipe `{SELECTOR_RECIPE}` is broken: {recipe.fault}")
    warnings = tuple(
        f"{path} is not used: the selector's own recipe is a project's only where the tenant trusts its folder "
        "(`vancectl trust`)"
        for path in passed
    )
    return recipe, warnings


def _model(settings: Settings, params: Mapping[str, Any], wanted: str | None) -> Model:
    from vancectl.model.messages_api.call import AnthropicModel
    from vancectl.model.messages_api.credential import KEY_VARIABLES, find_credential

    backend = settings["selector.backend"]
    if backend == "off":
        raise ModelError(Reason.MODEL_OFF, "no model is asked, since selector.backend is `off`")
    if backend == "command":
        from vancectl.model.program import ProgramModel

        return ProgramModel(_program(settings), settings["selector.env"], Limits.of(settings))
    if find_credential() is None:
        raise ModelError(
            Reason.NO_KEY,
            f"no model to ask: set {KEY_VARIABLES[0]}, or selector.backend to `command` with a selector.command",
        )
    tokens = params.get("maxTokens")
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens <= 0:
        tokens = MAX_TOKENS
    limits = Limits.of(settings)
    return AnthropicModel(_model_name(settings, params, wanted), min(tokens, limits.answer_tokens), limits)


def _program(settings: Settings) -> list[str]:
    argv: list[str] = settings["selector.command"]
    if not argv:
        raise ModelError(Reason.NO_MODEL, "selector.backend is `command`, but selector.command names no program")
    return argv


def program_in_words(argv: Sequence[str]) -> str:
    """What answers are bound to: with other words a program may ask another model. Where it lies is no matter."""
    return scrub(shlex.join([os.path.basename(argv[0]), *argv[1:]]))


def _model_name(settings: Settings, params: Mapping[str, Any], wanted: str | None) -> str:
    """The model that is asked, whether there is a key to ask it with or not."""
    if settings["selector.backend"] == "command":
        return program_in_words(_program(settings))
    setting = settings.value("selector.model")
    # The command line beats the environment, whichever of its options names the model.
    named = wanted or (setting.value if setting.source is Source.OPTION else None)
    chosen = named or os.environ.get("VANCECTL_MODEL") or setting.value or params.get("model")
    if not isinstance(chosen, str):
        raise ModelError(
            Reason.NO_MODEL, f"no model is named; set selector.model or params.model of `{SELECTOR_RECIPE}`"
        )
    return resolve_model(chosen, settings["models"])
