"""The engine slartibartfast, as far as it writes recipes: the file is validated as any other, and asked for again with
the findings until it is right. Then it is stored under `_slart/`, from where nothing routes to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vancectl.delegation.generated import FOLDER, storing_layer
from vancectl.delegation.hindrance import hindrance_of
from vancectl.disk.storage import write_below
from vancectl.errors import SpawnError
from vancectl.inventory.catalog import EngineCatalog
from vancectl.inventory.layer import Layer, LayerKind, Layers
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.inventory.schema import validate
from vancectl.model.messages_api.stream import Conversation
from vancectl.reading.document import Document
from vancectl.reading.finding import Finding
from vancectl.settings.settings import Settings
from vancectl.text.names import canonical
from vancectl.worker.payload import Payload

_ATTEMPTS = 3
_FENCE = re.compile(r"```ya?ml[^\n]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_NAME = re.compile(r"^[\s#*`>]*name[\s*`]*:[\s*`]*(.*?)[\s*`]*$", re.IGNORECASE | re.MULTILINE)
_PROPER = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")


def offered(catalog: EngineCatalog, payload: Payload, settings: Settings) -> EngineCatalog:
    """The engines that a recipe may name: those that can be started where it was asked for."""
    names = payload.engines
    if names is None:
        names = tuple(name for name in catalog.names if hindrance_of(settings, name, {}) is None)
    return replace(catalog, engines=tuple(engine for engine in catalog.engines if engine.name in names))


def instructions(catalog: EngineCatalog) -> str:
    return (
        "You cannot save the file or look into the project; vancectl checks and saves what you write. Answer with the "
        "recipe's name on the first line, as `name: the-name` (lower-case letters, digits and `-`), and then with the "
        "whole file in one ```yaml block. `description` and `engine` are required; other fields are title, params, "
        "promptPrefix, promptMode, profiles, tags. The engines that can be started here, and no others:\n"
        + catalog.render_for_prompt()
    )


def write_recipe(
    payload: Payload, conversation: Conversation, layers: Layers, catalog: EngineCatalog, run_id: str
) -> dict[str, Any]:
    """Where the recipe is now. Raises ModelError, and SpawnError where no attempt is valid or it cannot be stored."""
    layer = _layer(payload, layers)
    attempts = min(payload.count("maxAttempts", _ATTEMPTS), conversation.endpoint.limits.attempts)
    text = payload.task
    problems: Sequence[str] = ()
    for _ in range(attempts):
        name, content, problems = _read(conversation.ask(text), layer, catalog)
        if not problems:
            path = layer.directory / FOLDER / run_id / f"{name}.yaml"
            return _store(layer, path, content, f"{FOLDER}/{run_id}/{name}")
        text = "The recipe cannot be used:\n" + "\n".join(problems) + "\nAnswer again with the name and the whole file."
    raise SpawnError(
        f"no valid recipe came out of {attempts} attempts: {problems[0]}",
        remedy="say more in the task, or raise params.maxAttempts",
    )


def _layer(payload: Payload, layers: Layers) -> Layer:
    """The one that the payload names, since its caller looks there; else the project's, else the tenant's."""
    if payload.recipes_folder is not None:
        here = (layer for layer in layers.nearest_first if layer.directory == payload.recipes_folder)
        return next(here, Layer(LayerKind.DIRECTORY, payload.recipes_folder))
    layer = storing_layer(layers)
    if layer is not None:
        return layer
    raise SpawnError("there is no layer to store a recipe in", remedy="work in a project, or set HOME")


def _read(reply: str, layer: Layer, catalog: EngineCatalog) -> tuple[str, str, list[str]]:
    """Name and content of the recipe in a reply, and what is wrong with them, each with its line."""
    blocks = _FENCE.findall(reply)
    if len(blocks) != 1:
        return "", "", [f"there must be one ```yaml block (found {len(blocks)})"]
    before = reply.partition("```")[0]
    named = _NAME.search(before)
    name = canonical(named.group(1)) if named else ""
    problems = []
    if not _PROPER.fullmatch(name):
        problems.append("the first line must be `name: the-name`, of lower-case letters, digits and `-`")
    document = Document.of_text(Path(f"{name or 'recipe'}.yaml"), blocks[0])
    recipe = validate(document, name, layer)
    findings: Sequence[Finding] = recipe.findings if isinstance(recipe, BrokenRecipe) else recipe.warnings
    problems.extend(finding.line() for finding in findings)
    if isinstance(recipe, Recipe) and recipe.engine not in catalog.names:
        problems.append(
            f"there is no engine `{recipe.engine}` that can be started here; the engines are {', '.join(catalog.names)}"
        )
    return name, blocks[0], problems


def _store(layer: Layer, path: Path, content: str, name: str) -> dict[str, Any]:
    try:
        write_below(layer.directory, path, content.encode())
    except OSError as error:
        raise SpawnError(
            f"the recipe cannot be stored at {path}: {error.strerror}", remedy="check space and permissions"
        ) from None
    return {"generatedRecipe": name, "path": str(path)}
