"""The JSON Schema of a tenant's settings, made of the table of settings."""

from __future__ import annotations

from typing import Any

from vancectl.settings.keys import (
    ENGINE_KINDS,
    ENGINES,
    FLAG,
    FOLDERS,
    KINDS,
    SECONDS,
    SETTINGS,
    SHORT,
    SOURCES,
    VARIABLES,
    WHOLE,
    Kind,
)
from vancectl.sources.formats import FORMATS

GROUPS = {
    "routing": "What holds for select and delegate.",
    "routing.fallback": "What is started after NONE.",
    "session": "What holds for a session.",
    "selector": "How the model is asked.",
    "limits": "Ceilings that no project, recipe, server or program can raise.",
    "log": "The log of decisions.",
    "spawn": "How recipes are started.",
    "trust": "What a project may do. A list here means the same as `folders`.",
}
# An editor knows YAML's own reading of a scalar, which does not matter where text is expected. Null says nothing.
_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_TEXTS = {"type": ["array", "null"], "items": _TEXT}
_NAMED = {"type": ["object", "null"], "additionalProperties": _TEXT}
_STRINGS = {"type": "array", "items": {"type": "string"}}
_PLACES = {"type": ["string", "array"], "items": {"type": "string"}}
_SOURCE = {
    "type": "object",
    "properties": {
        "format": {"description": "What its files are.", "enum": list(FORMATS)},
        "path": {"description": "Where it is: one place or several.", **_PLACES},
        "preset": {"description": "The preset that starts its recipes.", "type": "string"},
        "exclude": {"description": "Names that are left out.", **_STRINGS},
        "trust": {"description": "Places whose recipes are taken though they come from a project.", **_STRINGS},
        "triggers": {"description": "Whether names are triggers.", "type": "boolean"},
        "links": {"description": "Whether links that leave it are followed.", "type": "boolean"},
    },
    "required": ["format"],
    "additionalProperties": False,
}
# A key may also be written with the groups before it: `selector.model: …`.
_DOTTED: dict[str, Any] = {r"\.": {}}


def settings_schema() -> dict[str, Any]:
    """What a tenant's `settings.yaml` may hold."""
    root = _group("The settings of a tenant.")
    for key, kind in KINDS.items():
        *groups, last = key.split(".")
        place, way = root, ""
        for group in groups:
            way = f"{way}.{group}".removeprefix(".")
            place = place["properties"].setdefault(group, _group(GROUPS[way]))
        place["properties"][last] = {"description": SETTINGS[key].description, **_of(kind)}
    for group, key in SHORT.items():
        known = root["properties"][group]
        root["properties"][group] = {"description": GROUPS[group], "anyOf": [known, _of(KINDS[key])]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **root,
    }


def _group(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "type": ["object", "null"],
        "properties": {},
        "patternProperties": _DOTTED,
        "additionalProperties": False,
    }


def _of(kind: Kind) -> dict[str, Any]:
    if kind is ENGINES:
        fields = {
            key: {"description": SETTINGS[f"spawn.{key}"].description, **_of(each)}
            for key, each in ENGINE_KINDS.items()
        }
        engine = {"type": ["object", "null"], "properties": fields, "additionalProperties": False}
        return {"type": ["object", "null"], "additionalProperties": engine}
    if kind is SOURCES:
        return {"anyOf": [{"enum": ["auto", None]}, {"type": "object", "additionalProperties": _SOURCE}]}
    simple: dict[Kind, dict[str, Any]] = {
        FLAG: {"type": ["boolean", "null"]},
        WHOLE: {"type": ["integer", "null"], "minimum": 1},
        VARIABLES: _NAMED,
        FOLDERS: _TEXTS,
    }
    if kind in simple:
        return simple[kind]
    if kind.expected == SECONDS.expected:
        return {"type": ["number", "null"], "exclusiveMinimum": 0}
    if kind.texts == "value":
        return {"enum": [*kind.words, None]} if kind.words else _TEXT
    if kind.texts == "items":
        return {"type": ["array", "null"], "items": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}}
    return _NAMED
