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
from vancectl.reading.compiled import compiled
from vancectl.text.names import did_you_mean, engine_name, near_names

NONE = "none"
# The running installation as a program, wherever it lies. Python's -P keeps the working directory out of its path: a
# project must not bring modules that stand in for ours.
INSTALLATION = "{vancectl}"
# What our worker takes where a recipe names no model.
DEFAULT_MODEL = "default:smart"
# A text of a command, or several that are left out together where what they hold a placeholder for has no value.
Part: TypeAlias = str | tuple[str, ...]
_UNTRUSTED = "{untrusted}"  # where these words go; else before `--`, or at the end


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
    return Preset(name=name, path=path, **_made(compiled(path, "presets", lambda: _said(name, path))))


def _said(name: str, path: Path) -> dict[str, Any]:
    from vancectl.process.preset_shape import PresetShape
    from vancectl.reading.document import Document
    from vancectl.reading.reader import read_shape

    document = Document.read(path)
    shape = read_shape(PresetShape, document)
    for finding in document.findings:
        raise finding.of(f"the preset `{name}`", SettingsError)
    return {field: getattr(shape, field) for field in PresetShape.model_fields}


def _made(said: dict[str, Any]) -> dict[str, Any]:
    """The fields of a preset: texts, and words that no one changes."""
    fields = {
        key: tuple(value) if isinstance(value, list) else "" if value is None else value
        for key, value in said.items()
        if key != "env"
    }
    engines = said["engines"]
    return {
        **fields,
        "command": command_of(said["command"]),
        "environment": said["env"],
        "engines": tuple(map(engine_name, engines)) if engines is not None else None,
    }
