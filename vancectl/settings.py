"""Settings, each value with its source: bundled < tenant < environment < command line.

There is no project source, on purpose: a cloned repository may bring recipes, never the name of a program to
run, a base URL or a fallback policy (design, section 3: the security boundary).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from vancectl.errors import Place, SettingsError
from vancectl.folders import defaults_dir
from vancectl.inventory.document import Document, Node
from vancectl.inventory.layer import tenant_folder
from vancectl.inventory.name import nearest_key

VARIABLE_PREFIX = "VANCECTL_"
STDIN_MODES = ("payload", "task", "none")


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
    """What a setting may hold: `expected` in words, and a check that gives the clean value or raises ValueError."""

    expected: str
    clean: Callable[[Any], Any]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _whole(least: int) -> Callable[[Any], int]:
    def clean(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError
        return value

    return clean


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ValueError
    return float(value)


def _argv(value: Any) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(part, str) for part in value) or not value[0]:
        raise ValueError
    return value


def _choice(*allowed: str) -> Kind:
    def clean(value: Any) -> str:
        if value not in allowed:
            raise ValueError
        return str(value)

    return Kind("one of " + ", ".join(allowed), clean)


def _models(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(model, str) and model for model in value.values()):
        raise ValueError
    return value


def _variables(value: Any) -> dict[str, str | None]:
    if not isinstance(value, dict) or not all(text is None or isinstance(text, str) for text in value.values()):
        raise ValueError
    return value


def _engines(value: Any) -> dict[str, dict[str, Any]]:
    """Each engine's own `command`, `stdin`, `env`, `timeout`."""
    if not isinstance(value, dict):
        raise ValueError
    engines = {}
    for engine, fields in value.items():
        if not isinstance(fields, dict) or not fields.keys() <= _ENGINE_KINDS.keys():
            raise ValueError
        engines[engine] = {
            field: _ENGINE_KINDS[field].clean(given) for field, given in fields.items() if given is not None
        }
    return engines


TEXT = Kind("text", _text)
ARGV = Kind("a list of texts: the program, then its arguments (a list, so that nothing is split or quoted)", _argv)
SECONDS = Kind("a number of seconds above 0", _seconds)
VARIABLES = Kind("a mapping of variable to text, or to null to unset it", _variables)
_ENGINE_KINDS = {"command": ARGV, "stdin": _choice(*STDIN_MODES), "env": VARIABLES, "timeout": SECONDS}

KINDS: dict[str, Kind] = {
    "routing.fallback.recipe": TEXT,
    "routing.recipeListLimit": Kind("a whole number, at least 1", _whole(1)),
    "session.defaultChatEngine": TEXT,
    "selector.model": TEXT,
    "selector.backend": _choice("auto", "anthropic", "command", "off"),
    "selector.command": ARGV,
    "selector.timeout": SECONDS,
    "selector.maxAttempts": Kind("a whole number, at least 1", _whole(1)),
    "models": Kind("a mapping of alias to model", _models),
    "spawn.command": ARGV,
    "spawn.stdin": _choice(*STDIN_MODES),
    "spawn.env": VARIABLES,
    "spawn.timeout": SECONDS,
    "spawn.engines": Kind("a mapping of engine to its command, stdin, env and timeout", _engines),
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

    `models` and `spawn.engines` are merged entry by entry; every other value is replaced as a whole.
    """
    bundled = defaults_dir() / "settings.yaml"
    values = {key: Value(None, Source.BUNDLED, str(bundled)) for key in KINDS}
    _merge_file(values, bundled, Source.BUNDLED)
    folder = tenant_folder(tenant)
    if folder is not None and (folder / "settings.yaml").exists():
        _merge_file(values, folder / "settings.yaml", Source.TENANT)
    for variable, text in _variables_of(os.environ):
        key = _key_of(variable)
        _merge(values, key, parse_value(key, text, variable), Source.ENVIRONMENT, variable, None)
    for key, value in (options or {}).items():
        _merge(values, key, value, Source.OPTION, "--set", None)
    return Settings(values)


def variable_of(key: str) -> str:
    """A setting's variable: `routing.fallback.recipe` is `VANCECTL_ROUTING__FALLBACK__RECIPE`."""
    return VARIABLE_PREFIX + key.upper().replace(".", "__")


def parse_value(key: str, text: str, origin: str) -> Any:
    """A value given as text: as it is where text is expected, else read as JSON.

    Raises SettingsError where it is not JSON.
    """
    kind = KINDS.get(key)
    if kind is None or kind is TEXT or kind.expected.startswith("one of"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise SettingsError(
            f"`{key}` in {origin} must be {kind.expected}", remedy=f"write it as JSON (found `{text}`)"
        ) from None


def _variables_of(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """The variables that mean settings: those of a key, and any other with `__`, so that a mistyped one is seen."""
    known = {variable_of(key) for key in KINDS}
    return [
        (variable, text)
        for variable, text in sorted(environment.items())
        if variable in known or (variable.startswith(VARIABLE_PREFIX) and "__" in variable)
    ]


def _key_of(variable: str) -> str:
    for key in KINDS:
        if variable_of(key) == variable:
            return key
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
        place = Place(document.path, key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        if full in KINDS:
            # Texts stay as written (`model: 2026-01-01` is a text); everything else is read as YAML means it.
            value = document.text(node, full) if KINDS[full] is TEXT else document.plain(node)
            _merge(values, full, value, source, str(document.path), place)
        elif any(known.startswith(full + ".") for known in KINDS):
            inner = document.mapping(node, full)
            if inner is not None:
                _merge_mapping(values, document, inner, full + ".", source)
        else:
            raise unknown_key(full, place)


def _merge(values: dict[str, Value], key: str, value: Any, source: Source, origin: str, place: Place | None) -> None:
    kind = KINDS.get(key)
    if kind is None:
        raise unknown_key(key, place)
    if value is not None:
        try:
            value = kind.clean(value)
        except ValueError:
            by = "" if place else f" in {origin}"
            raise SettingsError(
                f"`{key}`{by} must be {kind.expected}",
                where=place,
                remedy="`vancectl settings show` shows what is in force",
            ) from None
        if isinstance(value, dict) and key != "spawn.env" and values[key].value:
            value = {**values[key].value, **value}
    values[key] = Value(value, source, origin)


def unknown_key(key: str, place: Place | None) -> SettingsError:
    """The error for a key that no setting has, with the nearest one."""
    near = nearest_key(key, KINDS)
    meant = f"did you mean `{near}`?" if near else "`vancectl settings show` lists all keys"
    return SettingsError(f"there is no setting `{key}`", where=place, remedy=meant)
