"""Settings, each value with its source: bundled < tenant < environment < command line.

There is no project source, on purpose: a cloned repository may bring recipes, never the name of a program to
run, a base URL or a fallback policy (design, section 3: the security boundary).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from vancectl.errors import Place, SettingsError
from vancectl.folders import defaults_dir
from vancectl.inventory.document import Document, Node
from vancectl.inventory.layer import tenant_folder
from vancectl.inventory.name import nearest_key

VARIABLE_PREFIX = "VANCECTL_"
STDIN_MODES = ("payload", "task", "prompt", "none")


class Source(StrEnum):
    """Who set a value; later ones win."""

    BUNDLED = "bundled"
    TENANT = "tenant"
    ENVIRONMENT = "environment"
    OPTION = "option"


@dataclass(frozen=True, slots=True)
class Value:
    """A setting's value, who set it, and where: a file's path, a variable's name, or `--set`."""

    value: Any
    source: Source
    origin: str


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


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < sys.float_info.max:
        raise ValueError
    return float(value)


def _argv(value: Any) -> list[str]:
    if not isinstance(value, list) or not value or not value[0] or not all(map(_passable, value)):
        raise ValueError
    return value


def _argv_or_none(value: Any) -> list[str]:
    return [] if value == [] else _argv(value)


def _choice(*allowed: str) -> Kind:
    def clean(value: Any) -> str:
        if value not in allowed:
            raise ValueError
        return str(value)

    return Kind("one of " + ", ".join(allowed), clean, "value")


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
SPAWN_ARGV = replace(ARGV, clean=_argv_or_none)  # the empty list means no command, whatever the preset
SECONDS = Kind("a number of seconds above 0", _seconds)
LIMIT = replace(SECONDS, optional=True)
VARIABLES = Kind("a mapping of variable to text, or to null to unset it", _variables, "values")
ENGINES = Kind("a mapping of engine to its command, preset, stdin, env and timeout", _mapping)
ENGINE = Kind("a mapping with command, preset, stdin, env and timeout", _mapping)
# What an engine may have of its own.
ENGINE_KINDS = {"command": ARGV, "preset": TEXT, "stdin": _choice(*STDIN_MODES), "env": VARIABLES, "timeout": LIMIT}

KINDS: dict[str, Kind] = {
    "routing.fallback.recipe": TEXT,
    "routing.fallback.generateTimeout": SECONDS,
    "routing.recipeListLimit": WHOLE,
    "session.defaultChatEngine": TEXT,
    "selector.model": TEXT,
    "selector.backend": _choice("auto", "anthropic", "command", "off"),
    "selector.command": ARGV,
    "selector.timeout": SECONDS,
    "selector.maxAttempts": WHOLE,
    "log.decisions": FLAG,
    "log.tasks": FLAG,
    "models": Kind("a mapping of alias to model", _models, "values"),
    "spawn.command": SPAWN_ARGV,
    "spawn.preset": TEXT,
    "spawn.stdin": _choice(*STDIN_MODES),
    "spawn.env": VARIABLES,
    "spawn.timeout": LIMIT,
    "spawn.engines": ENGINES,
    "spawn.maxDepth": WHOLE,
}


class Settings:
    """The settings in force. A key that nobody set has the value None and the source `bundled`."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key].value

    def values(self) -> list[tuple[str, Value]]:
        """Every key with its value, in the order of the table."""
        return [(key, self._values[key]) for key in KINDS]

    def value(self, key: str) -> Value:
        return self._values[key]


def load_settings(tenant: str, options: Mapping[str, Any] | None = None) -> Settings:
    """Merges all sources. Raises SettingsError for an unknown key or a wrong value, with file and line.

    `models` and `spawn.engines` are merged entry by entry; every other value is replaced as a whole. A variable or an
    option may also name one entry: `spawn.engines.marvin.command`, `spawn.env.DEBUG`, `models.default:fast`.
    """
    bundled = defaults_dir() / "settings.yaml"
    values = {key: Value(None, Source.BUNDLED, str(bundled)) for key in KINDS}
    _merge_file(values, bundled, Source.BUNDLED)
    folder = tenant_folder(tenant)
    if folder is not None and _is_there(folder / "settings.yaml"):
        _merge_file(values, folder / "settings.yaml", Source.TENANT)
    for variable, text in _variables_of(os.environ):
        key = _key_of(variable)
        _merge(values, key, parse_value(key, text, variable), Source.ENVIRONMENT, variable)
    for key, value in (options or {}).items():
        _merge(values, key, value, Source.OPTION, "--set")
    for key, kind in KINDS.items():
        if values[key].value is None and not kind.optional:
            raise SettingsError(f"`{key}` has no value", where=Place(bundled), remedy=f"it must be {kind.expected}")
    return Settings(values)


def variable_of(key: str) -> str:
    """A setting's variable: `routing.fallback.recipe` is `VANCECTL_ROUTING__FALLBACK__RECIPE`."""
    return VARIABLE_PREFIX + key.upper().replace(".", "__")


def kind_of(key: str) -> Kind | None:
    """What a setting, or one entry of a setting, may hold; None where there is no such key."""
    setting, entry = _split(key)
    if not entry:
        return KINDS.get(setting)
    if setting == "spawn.engines":
        return ENGINE_KINDS.get(entry[1]) if len(entry) > 1 else ENGINE
    return TEXT


def parse_value(key: str, text: str, origin: str) -> Any:
    """A value given as text: as it is where text is expected, else read as JSON.

    Raises SettingsError where it is not JSON.
    """
    kind = kind_of(key)
    if key.startswith("spawn.env.") and text == "null":
        return None
    if kind is None or kind.texts == "value":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        remedy = kind.remedy if kind.texts == "items" else f"write it as JSON (found `{text[:100]}`)"
        raise SettingsError(f"`{key}` in {origin} must be {kind.expected}", remedy=remedy) from None


def unknown_key(key: str, place: Place | None) -> SettingsError:
    """The error for a key that no setting has, with the nearest one."""
    setting, entry = _split(key)
    below = [f"{setting}.{entry[0]}.{field}" for field in ENGINE_KINDS] if setting == "spawn.engines" and entry else []
    near = nearest_key(key, below or KINDS)
    meant = f"did you mean `{near}`?" if near else "`vancectl settings show` lists all keys"
    return SettingsError(f"there is no setting `{key}`", where=place, remedy=meant)


def _split(key: str) -> tuple[str, list[str]]:
    """A setting and the path of an entry in it: `spawn.engines.marvin.stdin` is an entry of `spawn.engines`."""
    for setting in ("models", "spawn.env", "spawn.engines"):
        if key.startswith(f"{setting}.") and len(key) > len(setting) + 1:
            rest = key.removeprefix(f"{setting}.")
            return setting, rest.split(".", 1) if setting == "spawn.engines" else [rest]
    return key, []


def _is_there(path: Path) -> bool:
    """Whether there is anything to read, a link that leads nowhere included: only an absent file is no file."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass  # reading it will say why it cannot be read
    return True


def _variables_of(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """The variables that mean settings: those of a key, and any that looks so mistyped that it should be seen."""
    known = {variable_of(key) for key in KINDS}
    simple = {variable.replace("__", "_") for variable in known}
    return [
        (variable, text)
        for variable, text in sorted(environment.items())
        if variable.startswith(VARIABLE_PREFIX) and (variable in known or "__" in variable or variable in simple)
    ]


def _key_of(variable: str) -> str:
    for key in KINDS:
        if variable_of(key) == variable:
            return key
    for setting in ("spawn.env", "spawn.engines"):
        entry = variable.removeprefix(f"{variable_of(setting)}__")
        if entry not in {variable, ""}:
            # Engines' names are lower-case (catalog); a variable's name is its own.
            return f"{setting}.{entry.lower().replace('__', '.') if setting == 'spawn.engines' else entry}"
    near = nearest_key(variable, [variable_of(key) for key in KINDS])
    meant = f"did you mean {near}?" if near else "`vancectl settings show` lists all keys"
    raise SettingsError(f"the variable {variable} stands for no setting", remedy=meant)


def _merge_file(values: dict[str, Value], path: Path, source: Source) -> None:
    document = Document.read(path)
    empty = [finding for finding in document.findings if finding.data.get("found") == "empty"]
    if document.root is not None:
        _merge_mapping(values, document, document.root, "", source)
    elif empty:
        return
    for finding in document.findings:
        if finding.breaks:
            raise SettingsError(
                f"the settings are broken: {finding.sentence()}", where=finding.place, remedy=finding.remedy()
            )


def _merge_mapping(values: dict[str, Value], document: Document, mapping: Node, above: str, source: Source) -> None:
    for key, key_node, node in document.pairs(mapping):
        full = above + key
        places = {full: _place(document, key_node)}
        kind = KINDS.get(full)
        if kind is not None:
            value = _read(document, node, full, kind, places)
            _merge(values, full, value, source, str(document.path), places)
        elif any(known.startswith(full + ".") for known in KINDS):
            inner = document.mapping(node, full)
            if inner is not None:
                _merge_mapping(values, document, inner, full + ".", source)
        else:
            raise unknown_key(full, places[full])


def _read(document: Document, node: Node, key: str, kind: Kind, places: dict[str, Place]) -> Any:
    """A value from a file: texts as written, everything else as YAML means it. Notes where each part stands."""
    if kind.texts == "value":
        return document.text(node, key)
    if kind.texts == "items" and node.id == "sequence":
        return [document.text(item, key) for item in node.value]
    if node.id != "mapping" or not (kind.texts == "values" or kind in {ENGINES, ENGINE}):
        return document.plain(node)
    values = {}
    for name, name_node, value in document.pairs(node):
        full = f"{key}.{name}"
        places[full] = _place(document, name_node)
        inner = {ENGINES: ENGINE, ENGINE: ENGINE_KINDS.get(name)}.get(kind, TEXT)
        values[name] = _read(document, value, full, inner, places) if inner is not None else None
    return values


def _place(document: Document, node: Node) -> Place:
    return Place(document.path, node.start_mark.line + 1, node.start_mark.column + 1)


def _merge(
    values: dict[str, Value],
    key: str,
    value: Any,
    source: Source,
    origin: str,
    places: Mapping[str, Place] = MappingProxyType({}),
) -> None:
    """Lays a value over what holds already. `places` are those of a file's keys."""
    kind = kind_of(key)
    if kind is None:
        raise unknown_key(key, places.get(key))
    setting, entry = _split(key)
    held = values[setting].value
    if value is None and not kind.optional:
        return
    if value is not None:
        value = _clean(key, value, kind, origin, places)
    if len(entry) > 1:
        value = {**(held or {}).get(entry[0], {}), entry[1]: value}
    if entry:
        value = _clean(setting, {**(held or {}), entry[0]: value}, KINDS[setting], origin, places)
    elif isinstance(value, dict) and setting != "spawn.env" and held:
        value = {**held, **value}
    values[setting] = Value(value, source, origin)


def _clean(key: str, value: Any, kind: Kind, origin: str, places: Mapping[str, Place]) -> Any:
    try:
        value = kind.clean(value)
    except ValueError:
        place = places.get(key)
        by = "" if place else f" in {origin}"
        raise SettingsError(f"`{key}`{by} must be {kind.expected}", where=place, remedy=kind.remedy) from None
    if kind is ENGINES:
        return {name: _clean(f"{key}.{name}", given or {}, ENGINE, origin, places) for name, given in value.items()}
    if kind is not ENGINE:
        return value
    fields = {}
    for field, given in value.items():
        full = f"{key}.{field}"
        if field not in ENGINE_KINDS:
            raise unknown_key(full, places.get(full))
        if given is not None:
            fields[field] = _clean(full, given, ENGINE_KINDS[field], origin, places)
    return fields
