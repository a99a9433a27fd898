"""Settings, each value with its source: bundled < tenant < environment < command line.

There is no project source, on purpose: a cloned repository may bring recipes, never the name of a program to
run, a base URL or a fallback policy (docs/design.md, section 3: the security boundary).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from vancectl.disk.folders import defaults_dir
from vancectl.errors import Place, SettingsError
from vancectl.reading.compiled import compiled
from vancectl.settings.keys import (
    ENGINE,
    ENGINE_KINDS,
    ENGINES,
    ENVIRONMENTS,
    KINDS,
    SHORT,
    TEXT,
    Kind,
    kind_of,
    split_key,
)
from vancectl.settings.tenant import tenant_folder
from vancectl.text.names import did_you_mean, engine_name, near_names, some_of
from vancectl.text.strict_json import read_json

if TYPE_CHECKING:
    from vancectl.reading.document import Document, Node

# Line and column of a key; a setting that a file sets, with its value and the places of its parts; and all of them.
_Mark: TypeAlias = tuple[int, int]
_Entry: TypeAlias = tuple[str, Any, dict[str, _Mark]]
_Said: TypeAlias = tuple[list[_Entry], SettingsError | None]

VARIABLE_PREFIX = "VANCECTL_"


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


def bundled_file() -> Path:
    return defaults_dir() / "settings.yaml"


def bundled_settings() -> Settings:
    """What holds where nobody has set anything."""
    values = {key: Value(None, Source.BUNDLED, str(bundled_file())) for key in KINDS}
    _merge_file(values, bundled_file(), Source.BUNDLED)
    return Settings(values)


def load_settings(tenant: str | None, options: Mapping[str, Any] | None = None) -> Settings:
    """Merges all sources; without a tenant its file is left out.

    Raises SettingsError for an unknown key or a wrong value, with file and line.

    `models` and `spawn.engines` are merged entry by entry; every other value is replaced as a whole. A variable or an
    option may also name one entry: `spawn.engines.marvin.command`, `spawn.env.DEBUG`, `models.default:fast`.
    """
    values = dict(bundled_settings().values())
    folder = tenant_folder(tenant) if tenant is not None else None
    if folder is not None and _is_there(folder / "settings.yaml"):
        _merge_file(values, folder / "settings.yaml", Source.TENANT)
    _merge_given(values, options or {})
    for key, kind in KINDS.items():
        if values[key].value is None and not kind.optional:
            raise SettingsError(
                f"`{key}` has no value", where=Place(bundled_file()), remedy=f"it must be {kind.expected}"
            )
    return Settings(values)


def check_given(options: Mapping[str, Any]) -> None:
    """Raises SettingsError for what is wrong with the variables and options themselves, whatever the files say.

    A mistyped one would else be found only by the task that needs it.
    """
    _merge_given({key: Value(None, Source.BUNDLED, "") for key in KINDS}, options)


def clean_value(key: str, value: Any, origin: str) -> Any:
    """The value as a file is to hold it. Raises SettingsError for an unknown key, or a value that it cannot have."""
    kind = kind_of(key)
    if kind is None:
        raise unknown_key(key, None)
    return _clean(key, value, kind, origin, {}) if value is not None else None


def check_text(path: Path, text: str) -> None:
    """Raises SettingsError where a tenant's file with this text would be broken."""
    read_tenant_list(path, "trust.folders", text)


def read_tenant_list(path: Path, key: str, text: str | None = None) -> list[str]:
    """A list as a tenant's file has it, other sources apart; `text` is what the file is to hold.

    Raises SettingsError where the file is broken.
    """
    values = {each: Value(None, Source.BUNDLED, "") for each in KINDS}
    if text is not None:
        from vancectl.reading.document import Document

        _merge_entries(values, _said(Document.of_text(path, text)), path, Source.TENANT)
    elif _is_there(path):
        _merge_file(values, path, Source.TENANT)
    return list(values[key].value or [])


def variable_of(key: str) -> str:
    """A setting's variable: `routing.fallback.recipe` is `VANCECTL_ROUTING__FALLBACK__RECIPE`."""
    return VARIABLE_PREFIX + key.upper().replace(".", "__")


def parse_value(key: str, text: str, origin: str) -> Any:
    """A value given as text: as it is where text is expected, else read as JSON.

    Raises SettingsError where it is not JSON.
    """
    kind = kind_of(key)
    if text == "null" and split_key(key)[0] in ENVIRONMENTS:
        return None
    if kind is None or kind.texts == "value" or text in kind.words:
        return text
    try:
        return read_json(text)
    except ValueError:
        remedy = kind.remedy if kind.texts == "items" else f"write it as JSON (found `{text[:100]}`)"
        raise SettingsError(f"`{key}` in {origin} must be {kind.expected}", remedy=remedy) from None


def unknown_key(key: str, place: Place | None) -> SettingsError:
    """The error for a key that no setting has, with the nearest one."""
    setting, entry = split_key(key)
    below = [f"{setting}.{entry[0]}.{field}" for field in ENGINE_KINDS] if setting == "spawn.engines" and entry else []
    group = [name for name in KINDS if name.startswith(f"{key}.")]
    if group:
        meant = f"write one of its keys: {some_of([f'`{name}`' for name in group])}"
    else:
        meant = did_you_mean(near_names(key, below or KINDS, most=1)) or "`vancectl settings show` lists all keys"
    return SettingsError(f"there is no setting `{key}`", where=place, remedy=meant)


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
    for setting in (*ENVIRONMENTS, "spawn.engines"):
        entry = variable.removeprefix(f"{variable_of(setting)}__")
        if entry not in {variable, ""}:
            # Engines' names are lower-case (catalog); a variable's name is its own.
            return f"{setting}.{entry.lower().replace('__', '.') if setting == 'spawn.engines' else entry}"
    near = near_names(variable, [variable_of(key) for key in KINDS], most=1)
    meant = did_you_mean(near, form="{}") or "`vancectl settings show` lists all keys"
    raise SettingsError(f"the variable {variable} is not the name of a setting", remedy=meant)


def _merge_given(values: dict[str, Value], options: Mapping[str, Any]) -> None:
    for variable, text in _variables_of(os.environ):
        key = _key_of(variable)
        _merge(values, key, parse_value(key, text, variable), Source.ENVIRONMENT, variable)
    for key, value in options.items():
        _merge(values, key, value, Source.OPTION, "--set")


def _merge_file(values: dict[str, Value], path: Path, source: Source) -> None:
    """A file comes from the cache where it is what it was; its values are checked as any other."""
    said = compiled(path, "settings", lambda: _said(_document(path)), keep=lambda said: said[1] is None)
    _merge_entries(values, said, path, source)


def _document(path: Path) -> Document:
    from vancectl.reading.document import Document

    return Document.read(path)


def _merge_entries(values: dict[str, Value], said: _Said, path: Path, source: Source) -> None:
    entries, error = said
    for key, value, marks in entries:
        places = {part: Place(path, *mark) for part, mark in marks.items()}
        _merge(values, key, value, source, str(path), places)
    if error is not None:
        raise error


def _said(document: Document) -> _Said:
    """What the file says, and the first error behind that."""
    entries: list[_Entry] = []
    try:
        if document.root is not None:
            for entry in _entries(document, document.root, ""):
                entries.append(entry)
    except SettingsError as error:
        return entries, error
    faults = [finding for finding in document.findings if finding.breaks and not document.empty]
    return entries, faults[0].of("the settings are broken", SettingsError) if faults else None


def _entries(document: Document, mapping: Node, above: str) -> Iterator[_Entry]:
    for key, key_node, node in document.pairs(mapping):
        full = above + key
        if full in SHORT and node.id == "sequence":
            full = SHORT[full]
        marks = {full: _mark(key_node)}
        kind = KINDS.get(full)
        if kind is not None:
            yield full, _read(document, node, full, kind, marks), marks
        elif any(known.startswith(full + ".") for known in KINDS):
            inner = document.mapping(node, full)
            if inner is not None:
                yield from _entries(document, inner, full + ".")
        else:
            raise unknown_key(full, Place(document.path, *marks[full]))


def _read(document: Document, node: Node, key: str, kind: Kind, marks: dict[str, _Mark]) -> Any:
    """A value from a file: texts as written, everything else as YAML means it. Notes where each part stands."""
    if kind.texts == "value":
        return document.text(node, key)
    if kind.texts == "items" and node.id == "sequence":
        return [
            [document.text(word, key) for word in item.value] if item.id == "sequence" else document.text(item, key)
            for item in node.value
        ]
    if node.id != "mapping" or not (kind.texts == "values" or kind in {ENGINES, ENGINE}):
        return document.plain(node)
    values = {}
    for name, name_node, value in document.pairs(node):
        full = f"{key}.{engine_name(name) if kind is ENGINES else name}"
        marks[full] = _mark(name_node)
        inner = {ENGINES: ENGINE, ENGINE: ENGINE_KINDS.get(name)}.get(kind, TEXT)
        values[name] = _read(document, value, full, inner, marks) if inner is not None else None
    return values


def _mark(node: Node) -> _Mark:
    return node.start_mark.line + 1, node.start_mark.column + 1


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
    setting, entry = split_key(key)
    held = values[setting].value
    if value is None and not kind.optional:
        return
    if value is not None:
        value = _clean(key, value, kind, origin, places)
    if len(entry) > 1:
        value = {**(held or {}).get(entry[0], {}), entry[1]: value}
    if entry:
        value = _clean(setting, {**(held or {}), entry[0]: value}, KINDS[setting], origin, places)
    elif isinstance(value, dict) and setting not in (*ENVIRONMENTS, "sources") and held:
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
