"""The JSON Schema of a tenant's settings, made of the table of keys; each key's description is here."""

from __future__ import annotations

from typing import Any

from vancectl.settings.keys import (
    ENGINE_KINDS,
    ENGINES,
    FLAG,
    FOLDERS,
    KINDS,
    SECONDS,
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
DESCRIPTIONS = {
    "routing.fallback.recipe": "Started when a trigger was hit and the model answered NONE; the empty text starts "
    "nothing.",
    "routing.fallback.generateTimeout": "Seconds that a fallback which generates a recipe may take for that.",
    "routing.recipeListLimit": "How many recipes the model is shown; beyond it, a ranked shortlist.",
    "session.defaultChatEngine": "The chat's engine, in place of eddie (hub project) and arthur.",
    "selector.model": "The model that is asked; it beats that of the recipe `recipe-selector`.",
    "selector.backend": "What is asked: anthropic, a command, nothing; auto takes anthropic where a key is set.",
    "selector.command": "For the backend `command`: the prompt on standard input, the reply on standard output.",
    "selector.env": "Variables for that command; it gets no key unless it is listed here.",
    "selector.timeout": "Seconds for the whole model stage, over all attempts.",
    "selector.maxAttempts": "How often a malformed reply is asked for again, the first time included.",
    "limits.attempts": "How often a recipe may have one answer asked for.",
    "limits.answerTokens": "The tokens of one answer.",
    "limits.promptCharacters": "The characters of one prompt; a longer one is not sent.",
    "limits.descriptionCharacters": "The characters of one recipe's description that the model is shown.",
    "limits.responseBytes": "What a server or a command may answer, unpacked.",
    "limits.waitSeconds": "How long a server may make us wait before the next try.",
    "limits.logBytes": "What is kept of the output of a process.",
    "log.decisions": "Whether decisions are logged.",
    "log.tasks": "Whether the log has the text of tasks; else it has their hash and length.",
    "models": "Aliases of models, which recipes and settings may name in place of a model.",
    "spawn.command": "The program and its arguments, in place of a preset; the empty list means none.",
    "spawn.preset": "The preset that starts recipes, or `none`.",
    "spawn.stdin": "What the command reads.",
    "spawn.env": 'Variables for the command; null unsets one, "{env.NAME}" passes on one of vancectl\'s own.',
    "spawn.timeout": "The time limit in seconds; null for none.",
    "spawn.engines": "What an engine has of its own: command or preset, stdin, env and timeout.",
    "spawn.maxDepth": "How many processes may start one another in a row.",
    "spawn.planOnExit": "Whether a plan may name a program to call at the end of a child.",
    "sources": "The agents, skills, commands and patterns of other programs: auto, or each with its format.",
    "trust.folders": "Folders where a project may bring more than recipes and cases.",
    "trust.required": "Whether delegate starts a project's recipe only where its folder is trusted.",
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
        place["properties"][last] = {"description": DESCRIPTIONS[key], **_of(kind)}
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
        fields = {key: {"description": DESCRIPTIONS[f"spawn.{key}"], **_of(each)} for key, each in ENGINE_KINDS.items()}
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
