"""Presets: spawn commands for programs that people have, as data in `defaults/spawn/*.yaml`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from vancectl.disk.folders import defaults_dir
from vancectl.errors import SettingsError
from vancectl.reading.document import Document, Node
from vancectl.settings.keys import ENGINE_KINDS, Kind
from vancectl.text.names import did_you_mean, engine_name, near_names

NONE = "none"
# The running installation as a program, wherever it lies. Python's -P keeps the working directory out of its path: a
# project must not bring modules that stand in for ours.
INSTALLATION = "{vancectl}"
# What our worker takes where a recipe names no model.
DEFAULT_MODEL = "default:smart"
# A text of a command, or several that are left out together where what they hold a placeholder for has no value.
Part: TypeAlias = str | tuple[str, ...]
_TEXTS = ("description", "stdin", "program", "reads", "dash", "words", "mentions", "says")
_LISTS = ("engines", "untrusted", "passes", "stop", "each", "known")
_UNTRUSTED = "{untrusted}"  # where these words go; else before `--`, or at the end
_OTHERS = ("command", "env", "values")


@dataclass(frozen=True, slots=True)
class Preset:
    """One bundled spawn command. `engines` are those that it can run, None for any; `reads` and `dash` say how the
    program comes by the task, and what becomes of a task that begins with `-`.
    """

    name: str
    path: Path
    command: tuple[Part, ...]
    stdin: str
    environment: dict[str, str | None]
    engines: tuple[str, ...] | None
    description: str
    reads: str
    dash: str
    program: str  # what must be there, where that is not the first word of the command
    words: str = ""  # each of these as the first character makes a command of a task, unless a blank stands before it
    mentions: str = ""  # each of these before a path has the program read that file
    # More words where the tenant does not trust the folder: they keep what a clone brings (hooks, instructions) out.
    untrusted: tuple[str, ...] = ()
    # What of a recipe holds for its program without an argument: it is in what the program reads, or cannot be broken.
    passes: tuple[str, ...] = ()
    # What the program calls the values of a recipe: for a placeholder, patterns and what stands for a value that
    # matches one, empty for the value itself. A value that matches none is nothing that the program knows.
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    # A command that ends what the program has started elsewhere, which its own end does not.
    stop: tuple[str, ...] = ()
    # For the recipes of another program: what standard input says in place of the bare message; words for each param
    # that a recipe requires, with {key} and {value}; and a command that prints the names that the program knows.
    says: str = ""
    each: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def runs_worker(self) -> bool:
        """Whether our own worker does the work here, on this machine, and so needs the key."""
        return INSTALLATION in self.command and bool(self.environment)

    @property
    def is_worker(self) -> bool:
        """Whether our own worker does the work, here or elsewhere: only it is choosy about engines."""
        return self.engines is not None

    def argv(self, *, trusted: bool) -> tuple[Part, ...]:
        """The template of the command, with the installation filled in; `trusted` says of the working directory."""
        own = (sys.executable, "-P", "-m", "vancectl")
        words = list(self.command)
        end = words.index("--") if "--" in words else len(words)
        if _UNTRUSTED in words:
            end = words.index(_UNTRUSTED)
            del words[end]
        if not trusted:
            words[end:end] = self.untrusted
        installation: list[Part] = [escaped(each) for each in own]
        return tuple(word for part in words for word in (installation if part == INSTALLATION else [part]))


def escaped(word: str) -> str:
    return word.replace("{", "{{").replace("}", "}}")


def unescaped(word: str) -> str:
    return word.replace("{{", "{").replace("}}", "}")


def command_of(written: Sequence[str | Sequence[str]]) -> tuple[Part, ...]:
    return tuple(part if isinstance(part, str) else tuple(part) for part in written)


def preset_names() -> list[str]:
    try:
        return sorted(path.stem for path in (defaults_dir() / "spawn").glob("*.yaml"))
    except OSError:
        return []


@lru_cache
def load_preset(name: str, origin: str = "spawn.preset") -> Preset:
    """Raises SettingsError for a name that none has, and for a file that is broken."""
    names = preset_names()
    if name not in names:
        known = f"there are {', '.join([*names, NONE])}"
        raise SettingsError(
            f"there is no preset `{name}` ({origin})",
            remedy=did_you_mean(near_names(name, [*names, NONE], most=1), known),
        )
    path = defaults_dir() / "spawn" / f"{name}.yaml"
    document = Document.read(path)
    fields: dict[str, Any] = {}
    for key, key_node, node in document.pairs(document.root) if document.root is not None else ():
        if key in _TEXTS:
            fields[key] = document.text(node, key)
        elif key in _LISTS:
            fields[key] = [text for text, _ in document.texts(node, key)]
        elif key == "command":
            fields[key] = [
                [text for text, _ in document.texts(item, key)]
                if item.id == "sequence"
                else document.text(item, key) or ""
                for item in (node.value if node.id == "sequence" else ())
            ]
        elif key == "env":
            fields[key] = _texts_of(document, node, key)
        elif key == "values":
            fields[key] = {
                name: {pattern: text or "" for pattern, text in _texts_of(document, inner, name).items()}
                for name, _, inner in document.pairs(node)
            }
        else:
            document.add("unknown-key", key_node, key=key, known=(*_OTHERS, *_LISTS, *_TEXTS),
                         nearest_to=key, hint="")  # fmt: skip
    for finding in document.findings:
        raise SettingsError(f"the preset `{name}`: {finding.sentence()}", where=finding.place, remedy=finding.remedy())
    texts = {key: str(fields.get(key) or "") for key in _TEXTS}
    return Preset(
        name,
        path,
        command_of(_checked("command", fields.get("command"), path)),
        _checked("stdin", fields.get("stdin", "payload"), path),
        _checked("env", fields.get("env", {}), path),
        tuple(map(engine_name, fields["engines"])) if "engines" in fields else None,
        texts["description"],
        texts["reads"],
        texts["dash"],
        texts["program"],
        texts["words"],
        texts["mentions"],
        tuple(fields.get("untrusted", ())),
        tuple(fields.get("passes", ())),
        fields.get("values", {}),
        tuple(fields.get("stop", ())),
        texts["says"],
        tuple(fields.get("each", ())),
        tuple(fields.get("known", ())),
    )


def _texts_of(document: Document, node: Node, key: str) -> dict[str, str | None]:
    mapping = document.mapping(node, key)
    pairs = document.pairs(mapping) if mapping is not None else ()
    return {name: document.text(value, name) for name, _, value in pairs}


def _checked(key: str, value: Any, path: Path) -> Any:
    kind: Kind = ENGINE_KINDS[key]
    try:
        return kind.clean(value)
    except ValueError:
        raise SettingsError(f"`{key}` of the preset {path} must be {kind.expected}") from None
