"""Runs one payload: which engine, which model, and what goes out."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from vancectl.delegation.hindrance import script_wanted
from vancectl.errors import SpawnError
from vancectl.inventory.catalog import load_catalog
from vancectl.inventory.layer import find_layers
from vancectl.model.messages_api.stream import Conversation, open_endpoint
from vancectl.model.model import ModelError, resolve_models
from vancectl.process.command import unable
from vancectl.settings.limits import Limits, below_ceilings
from vancectl.settings.settings import Settings, load_settings
from vancectl.worker import jeltz, slartibartfast
from vancectl.worker.payload import DEFAULT_MAX_TOKENS, ENGINES, Payload
from vancectl.worker.prompt import system_prompt

_NOTHING_SAID = "Begin."


class WorkerError(SpawnError):
    """The model could not be used, or broke off; the reason stands in its text."""


def run_payload(payload: Payload, write: Callable[[str], None], warn: Callable[[str], None]) -> None:
    """Writes the answer as it comes, or one JSON object at the end (jeltz, slartibartfast). Raises VancectlError."""
    if payload.engine not in ENGINES:
        raise unable(payload.engine)
    layers = find_layers(Path.cwd(), tenant=payload.tenant or None, named_by="the payload")
    settings = load_settings(layers.tenant)
    params, lowered = below_ceilings(payload.params, f"`{payload.name}`", settings)
    payload = replace(payload, applied={**payload.applied, "params": params})
    for each in lowered:
        warn(each)
    try:
        _dispatch(payload, settings, write)
    except ModelError as error:
        raise WorkerError(f"the recipe `{payload.name}` could not be run: {error.text}") from None


def _dispatch(payload: Payload, settings: Settings, write: Callable[[str], None]) -> None:
    models = resolve_models(payload.model, settings["models"])

    def conversation(also: str = "") -> Conversation:
        system = system_prompt(payload, settings["models"], also)
        tokens = min(payload.count("maxTokens", DEFAULT_MAX_TOKENS), Limits.of(settings).answer_tokens)
        return Conversation(open_endpoint(payload.name, Limits.of(settings)), models, system, tokens)

    if payload.engine == "jeltz":
        schema = jeltz.schema_of(payload)
        _write_value(jeltz.answer(payload, conversation(jeltz.instructions(schema)), schema), write)
    elif payload.engine == "slartibartfast":
        unwritten = script_wanted(payload.engine, payload.params)
        if unwritten is not None:
            raise unwritten
        catalog = slartibartfast.offered(load_catalog(), payload, settings)
        layers = find_layers(Path.cwd(), tenant=payload.tenant or None, named_by="the payload")
        run_id = _run_id()
        asked = conversation(slartibartfast.instructions(catalog))
        _write_value(slartibartfast.write_recipe(payload, asked, layers, catalog, run_id), write)
    else:
        reply = conversation().ask(payload.task or _NOTHING_SAID, write)
        if not reply.endswith("\n"):
            write("\n")


def _run_id() -> str:
    """The process's own id, so that what was generated leads back to it."""
    given = os.environ.get("VANCECTL_PROCESS_ID", "")
    return given if given.isalnum() and given.isascii() else secrets.token_hex(8)


def _write_value(value: Any, write: Callable[[str], None]) -> None:
    write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")
