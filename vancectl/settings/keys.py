"""What each setting may hold: the one table of keys, with the check that makes a clean value out of a given one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from vancectl.sources.formats import FORMATS
from vancectl.text.names import engine_name

# Settings that hold variables: single ones can be set, unset or passed on.
ENVIRONMENTS = ("selector.env", "spawn.env")
STDIN_MODES = ("payload", "task", "message", "prompt", "none")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a setting may hold: `expected` in words, and a check that gives the clean value or raises ValueError.

    `texts` says what is text in it, and so stays in a file as its author wrote it (`off`, `2026-01-01`, `300`): the
    value itself, the items of a list, or the values of a mapping. Only an `optional` setting may be null; elsewhere
    null leaves standing what holds already.
    """

    expected: str
    clean: Callable[[Any], Any]
    texts: Literal["", "value", "items", "values"] = ""
    optional: bool = False
    remedy: str = "`vancectl settings show` shows what is in force"
    words: tuple[str, ...] = ()  # texts that it may be instead, wherever it is set


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _whole(least: int) -> Callable[[Any], int]:
    def clean(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError
        return value

    return clean


# About 31 years: a longer wait is as good as none, and no system call takes it.
_LONGEST = 1e9


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < sys.float_info.max:
        raise ValueError
    return min(float(value), _LONGEST)


def _argv(value: Any) -> list[str]:
    if not isinstance(value, list) or not value or not value[0] or not all(map(_passable, value)):
        raise ValueError
    return value


def _command(value: Any) -> list[str | list[str]]:
    """As `_argv`, with lists in it: each is left out as a whole where what it holds a placeholder for has no value."""
    if not isinstance(value, list):
        raise ValueError
    groups = [part for part in value[1:] if isinstance(part, list)]
    if not all(group and all(map(_passable, group)) for group in groups):
        raise ValueError
    _argv([*value[:1], *(part for part in value[1:] if not isinstance(part, list))])
    return value


def _command_or_none(value: Any) -> list[str | list[str]]:
    return [] if value == [] else _command(value)


def _choice(*allowed: str) -> Kind:
    def clean(value: Any) -> str:
        if value not in allowed:
            raise ValueError
        return str(value)

    return Kind("one of " + ", ".join(allowed), clean, "value", words=allowed)


def _models(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(model, str) and model for model in value.values()):
        raise ValueError
    return value


def _variables(value: Any) -> dict[str, str | None]:
    if not isinstance(value, dict) or not all(map(_variable, value.items())):
        raise ValueError
    return value


def _variable(item: tuple[str, Any]) -> bool:
    name, value = item
    return name != "" and "=" not in name and _passable(name) and (value is None or _passable(value))


def _folders(value: Any) -> list[str]:
    """Absolute, since where one stands must not choose them."""
    if not isinstance(value, list) or not all(_passable(each) and os.path.isabs(each) for each in value):
        raise ValueError
    return value


def _passable(value: Any) -> bool:
    """Whether a program can be given this text as an argument or in its environment."""
    try:
        return isinstance(value, str) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _engines(value: Any) -> dict[str, Any]:
    """Under the engines' own names; two spellings of one are two answers to one question."""
    folded = {engine_name(name): given for name, given in _mapping(value).items()}
    if len(folded) < len(value):
        raise ValueError
    return folded


TEXT = Kind("text", _text, "value", optional=True)
FLAG = Kind("true or false", _flag)
WHOLE = Kind("a whole number, at least 1", _whole(1))
ARGV = Kind(
    "a list of texts: the program, then its arguments",
    _argv,
    "items",
    optional=True,
    remedy='use a list, such as ["claude", "-p", "--", "{task}"]: nothing is split, and no shell is asked',
)
SELECTOR_ARGV = replace(
    ARGV,
    remedy='use a list, such as ["claude", "-p", "--bare", "--tools", ""]: nothing is split, and no shell is asked',
)
COMMAND = replace(ARGV, clean=_command)
SPAWN_COMMAND = replace(ARGV, clean=_command_or_none)  # the empty list means no command, whatever the preset
SECONDS = Kind("a number of seconds above 0", _seconds)
LIMIT = replace(SECONDS, optional=True)
VARIABLES = Kind("a mapping of variable to text, or to null to unset it", _variables, "values")
ENGINES = Kind("a mapping of engine (each once) to its command, preset, stdin, env and timeout", _engines)
ENGINE = Kind("a mapping with command, preset, stdin, env and timeout", _mapping)
# What an engine may have of its own.
ENGINE_KINDS = {"command": COMMAND, "preset": TEXT, "stdin": _choice(*STDIN_MODES), "env": VARIABLES, "timeout": LIMIT}

FOLDERS = Kind(
    "a list of absolute folders; `/*` at the end of one takes in all below it",
    _folders,
    "items",
    remedy="write each in full, as `vancectl trust` does",
)

# What a source may say of itself; `format` is one of those that `vancectl.sources.formats` lists.
_SOURCE_FIELDS: dict[str, Callable[[Any], bool]] = {
    "format": lambda value: value in FORMATS,
    "path": lambda value: all(map(_place, value)) if isinstance(value, list) else _place(value),
    "preset": lambda value: isinstance(value, str),
    "exclude": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "trust": lambda value: isinstance(value, list) and all(map(_place, value)),
    "triggers": lambda value: isinstance(value, bool),
    "links": lambda value: isinstance(value, bool),
}
_SOURCE_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*")


def _place(value: Any) -> bool:
    """Absolute, below the home, or on the way up from where one stands: nothing else could choose it."""
    return _passable(value) and (os.path.isabs(value) or value == "~" or value.startswith(("~/", "{project}/")))


def _sources(value: Any) -> str | dict[str, Any]:
    if value == "auto":
        return "auto"
    for key, block in _mapping(value).items():
        if not (_SOURCE_KEY.fullmatch(key) and isinstance(block, dict) and "format" in block):
            raise ValueError
        if not all(field in _SOURCE_FIELDS and _SOURCE_FIELDS[field](given) for field, given in block.items()):
            raise ValueError
    return dict(value)


SOURCES = Kind(
    "auto, or a mapping of key to format, path, preset, exclude, trust, triggers and links",
    _sources,
    words=("auto",),
    remedy=f"formats are {', '.join(FORMATS)}; a path is absolute or begins with ~/ or {{project}}/",
)


class Setting(NamedTuple):
    """One setting: what it may hold, and what it is for."""

    kind: Kind
    description: str


SETTINGS: dict[str, Setting] = {
    "routing.fallback.recipe": Setting(
        TEXT,
        "Started when a trigger was hit and the model answered NONE; the empty text starts nothing.",
    ),
    "routing.fallback.generateTimeout": Setting(
        SECONDS,
        "Seconds that a fallback which generates a recipe may take for that.",
    ),
    "routing.recipeListLimit": Setting(WHOLE, "How many recipes the model is shown; beyond it, a ranked shortlist."),
    "session.defaultChatEngine": Setting(TEXT, "The chat's engine, in place of eddie (hub project) and arthur."),
    "selector.model": Setting(TEXT, "The model that is asked; it beats that of the recipe `recipe-selector`."),
    "selector.backend": Setting(
        _choice("auto", "anthropic", "command", "off"),
        "What is asked: anthropic, a command, nothing; auto takes anthropic where a key is set.",
    ),
    "selector.command": Setting(
        SELECTOR_ARGV,
        "For the backend `command`: the prompt on standard input, the reply on standard output.",
    ),
    "selector.env": Setting(VARIABLES, "Variables for that command; it gets no key unless it is listed here."),
    "selector.timeout": Setting(SECONDS, "Seconds for the whole model stage, over all attempts."),
    "selector.maxAttempts": Setting(WHOLE, "How often a malformed reply is asked for again, the first time included."),
    "limits.attempts": Setting(WHOLE, "How often a recipe may have one answer asked for."),
    "limits.answerTokens": Setting(WHOLE, "The tokens of one answer."),
    "limits.promptCharacters": Setting(WHOLE, "The characters of one prompt; a longer one is not sent."),
    "limits.descriptionCharacters": Setting(
        WHOLE,
        "The characters of one recipe's description that the model is shown.",
    ),
    "limits.responseBytes": Setting(WHOLE, "What a server or a command may answer, unpacked."),
    "limits.waitSeconds": Setting(SECONDS, "How long a server may make us wait before the next try."),
    "limits.logBytes": Setting(WHOLE, "What is kept of the output of a process."),
    "log.decisions": Setting(FLAG, "Whether decisions are logged."),
    "log.tasks": Setting(FLAG, "Whether the log has the text of tasks; else it has their hash and length."),
    "models": Setting(
        Kind("a mapping of alias to model", _models, "values"),
        "Aliases of models, which recipes and settings may name in place of a model.",
    ),
    "spawn.command": Setting(
        SPAWN_COMMAND,
        "The program and its arguments, in place of a preset; the empty list means none.",
    ),
    "spawn.preset": Setting(TEXT, "The preset that starts recipes, or `none`."),
    "spawn.stdin": Setting(_choice(*STDIN_MODES), "What the command reads."),
    "spawn.env": Setting(
        VARIABLES,
        'Variables for the command; null unsets one, "{env.NAME}" passes on one of vancectl\'s own.',
    ),
    "spawn.timeout": Setting(LIMIT, "The time limit in seconds; null for none."),
    "spawn.engines": Setting(ENGINES, "What an engine has of its own: command or preset, stdin, env and timeout."),
    "spawn.maxDepth": Setting(WHOLE, "How many processes may start one another in a row."),
    "spawn.planOnExit": Setting(FLAG, "Whether a plan may name a program to call at the end of a child."),
    "sources": Setting(
        SOURCES,
        "The agents, skills, commands and patterns of other programs: auto, or each with its format.",
    ),
    "trust.folders": Setting(FOLDERS, "Folders where a project may bring more than recipes and cases."),
    "trust.required": Setting(FLAG, "Whether delegate starts a project's recipe only where its folder is trusted."),
}
KINDS = {key: setting.kind for key, setting in SETTINGS.items()}
# A list in the place of these settings is that of their commonest one.
SHORT = {"trust": "trust.folders"}


def kind_of(key: str) -> Kind | None:
    """What a setting, or one entry of a setting, may hold; None where there is no such key."""
    setting, entry = split_key(key)
    if not entry:
        return KINDS.get(setting)
    if setting == "spawn.engines":
        return ENGINE_KINDS.get(entry[1]) if len(entry) > 1 else ENGINE
    return TEXT


def split_key(key: str) -> tuple[str, list[str]]:
    """A setting and the path of an entry in it: `spawn.engines.marvin.stdin` is an entry of `spawn.engines`."""
    for setting in ("models", *ENVIRONMENTS, "spawn.engines"):
        if key.startswith(f"{setting}.") and len(key) > len(setting) + 1:
            rest = key.removeprefix(f"{setting}.")
            if setting != "spawn.engines":
                return setting, [rest]
            engine, *field = rest.split(".", 1)
            return setting, [engine_name(engine), *field]
    return key, []
