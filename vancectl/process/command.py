"""The spawn command: a template from the settings becomes an argv. Pure; no shell is ever involved."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from vancectl.errors import SettingsError, UsageError
from vancectl.inventory.recipe import TOOL_LISTS
from vancectl.process.code import filled_code
from vancectl.process.preset import NONE, Part, Preset, command_of, escaped, load_preset, unescaped
from vancectl.programs.environment import passed_on
from vancectl.programs.search import find_program
from vancectl.settings.settings import Settings, Source, Value
from vancectl.settings.trust import FOLDERS, is_trusted_here
from vancectl.text.names import did_you_mean, near_names

PLACEHOLDERS = (
    "id", "name", "recipe", "engine", "task", "message", "title", "session", "project", "tenant", "profile",
    "payload_file", "prompt_file", "system_file", "source_name", "source_file", "source_folder",
)  # fmt: skip
# The same of what a recipe asks of its program: lists with commas, and models with their aliases resolved.
ASKED = ("model", "fallback_models", *TOOL_LISTS, "allowedSkills", "defaultActiveSkills")
PARAM_PREFIX = "params."
_KNOWN = (*PLACEHOLDERS, *ASKED)
EXAMPLE = 'spawn: {command: [claude, -p, --, "{task}"], stdin: none}'

# `{{` and `}}` give a literal brace; anything in single braces must be a placeholder.
_ABSENT: tuple[object, ...] = (None, "")
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """A spawn command as the settings have it; `argv` is empty where they have none.

    `key` and `origin` name its place for a message; `stdin_chosen` says whether anyone chose what it reads.
    """

    argv: tuple[Part, ...]
    stdin: str
    environment: dict[str, str | None]
    timeout: float | None
    key: str
    origin: str
    stdin_chosen: bool = True
    preset: Preset | None = None

    @property
    def program(self) -> str:
        """The first word: a list is none, as the settings are read."""
        return str(self.argv[0])

    def parts(self) -> list[str]:
        """All texts of the command, those in lists too."""
        return [word for part in self.argv for word in (part if isinstance(part, tuple) else (part,))]


class Argument(NamedTuple):
    """What became of one text of a command."""

    part: str
    text: str


def find_template(settings: Settings, engine: str) -> CommandTemplate:
    """The engine's own command or preset, else `spawn.command` or `spawn.preset`, whichever was set nearer.

    Raises SettingsError where there is no such preset, and where placeholders are wrong.
    """
    own = settings["spawn.engines"].get(engine, {})
    where = settings.value("spawn.engines")
    environment = {**settings["spawn.env"], **(own.get("env") or {})}
    timeout = own.get("timeout") or settings["spawn.timeout"]
    if own.get("command") or (own.get("preset") is None and _command_is_nearer(settings)):
        stdin = settings.value("spawn.stdin")
        command: Value = where if own.get("command") else settings.value("spawn.command")
        template = CommandTemplate(
            command_of(own.get("command") or settings["spawn.command"] or ()),
            own.get("stdin") or stdin.value,
            environment,
            timeout,
            f"spawn.engines.{engine}.command" if own.get("command") else "spawn.command",
            command.origin,
            "stdin" in own or stdin.source is not Source.BUNDLED,
        )
    else:
        key = f"spawn.engines.{engine}.preset" if own.get("preset") else "spawn.preset"
        origin = where.origin if own.get("preset") else settings.value("spawn.preset").origin
        name = own.get("preset") or settings["spawn.preset"]
        trusted = is_trusted_here(settings[FOLDERS])
        template = _of_preset(name, environment, timeout, key, origin, trusted=trusted)
    check_template(template)
    return template


def find_source_template(settings: Settings, preset: str, key: str, params: Sequence[str]) -> CommandTemplate:
    """What starts a recipe of another program: the preset of its format, or that of its source in the settings.

    `params` are the names of those that its program is given.

    Raises SettingsError where there is no such preset.
    """
    origin = settings.value("sources").origin
    trusted = is_trusted_here(settings[FOLDERS])
    template = _of_preset(
        preset, settings["spawn.env"], settings["spawn.timeout"], f"sources.{key}.preset", origin, trusted=trusted
    )
    each = template.preset.each if template.preset is not None else ()
    more = [
        word.replace("{key}", escaped(name)).replace("{value}", f"{{{PARAM_PREFIX}{name}}}")
        for name in params
        for word in each
    ]
    template = replace(template, argv=(*template.argv, *more))
    check_template(template)
    return template


def filled_text(text: str, values: Mapping[str, str]) -> str:
    """A text with placeholders, filled in once."""
    return _TOKEN.sub(lambda token: values.get(token.group(1) or "", token.group()), text)


def _command_is_nearer(settings: Settings) -> bool:
    """Whether `spawn.command` was set by a source that comes no earlier than that of `spawn.preset`."""
    order = list(Source)
    command, preset = settings.value("spawn.command"), settings.value("spawn.preset")
    return command.value is not None and order.index(command.source) >= order.index(preset.source)


def _of_preset(
    name: str | None,
    environment: Mapping[str, str | None],
    timeout: float | None,
    key: str,
    origin: str,
    *,
    trusted: bool,
) -> CommandTemplate:
    """The preset says itself what its program reads; `spawn.env` goes over its variables."""
    if name is None or name.strip().lower() in {"", NONE}:
        return CommandTemplate((), "none", dict(environment), timeout, key, origin)
    preset = load_preset(name.strip().lower(), key)
    return CommandTemplate(
        preset.argv(trusted=trusted),
        preset.stdin,
        {**preset.environment, **environment},
        timeout,
        key,
        f"{origin} ({preset.path})",
        preset=preset,
    )


def spawn_program(template: CommandTemplate) -> str:
    """The absolute path of the program that a start needs, on the PATH that it will have. Raises ProgramError."""
    names = [unescaped(template.program)]
    if template.preset is not None and template.preset.program:
        names.append(template.preset.program)
    return [find_program(name, search_environment(template)) for name in names][-1]


def search_environment(template: CommandTemplate) -> dict[str, str]:
    """The PATH of the child-to-be, and nothing else."""
    listed = template.environment
    path = passed_on(listed["PATH"]) if "PATH" in listed else os.environ.get("PATH")
    return {"PATH": path} if path is not None else {}


def unable(engine: str) -> SettingsError:
    """What to say for an engine that a turn or two of a model cannot stand for."""
    return SettingsError(
        f"no spawn command is configured for the engine `{engine}`, and the bundled worker cannot run it",
        remedy=f"set spawn.engines.{engine}.command or spawn.command in the tenant's settings.yaml, "
        f"for example {EXAMPLE}; `vancectl settings show` names the file",
    )


def no_command(engine: str) -> SettingsError:
    """What to say where there is no command to start `engine` with."""
    return SettingsError(
        "no spawn command is configured, so nothing can be started",
        remedy=f"set spawn.command (or spawn.engines.{engine}.command) in the tenant's settings.yaml, for example "
        f"{EXAMPLE}; `vancectl settings show` names the file",
    )


def check_template(template: CommandTemplate) -> None:
    """Raises SettingsError for a placeholder that does not exist, for a brace that stands alone, and for a program
    that is not named outright: recipe, engine and params may come from a cloned repository (docs/design.md, section 3).
    """
    if template.argv and any(token.group(1) is not None for token in _TOKEN.finditer(template.program)):
        raise SettingsError(
            f"`{template.key}` in {template.origin} has a placeholder in the program's own name, "
            "so that a recipe could choose what is run",
            remedy="name the program; spawn.engines.ENGINE.command gives an engine one of its own",
        )
    for part in template.parts():
        for token in _TOKEN.finditer(part):
            name = token.group(1)
            if name in _KNOWN or token.group() in {"{{", "}}"}:
                continue
            if name is not None and name.startswith(PARAM_PREFIX) and name != PARAM_PREFIX:
                continue
            known = f"`{{{{` gives a literal brace; there are {', '.join(_KNOWN)} and params.KEY"
            raise SettingsError(
                f"`{template.key}` in {template.origin} holds the unknown placeholder `{token.group()}`",
                remedy=did_you_mean(near_names(name or "", _KNOWN, most=1), known, "{{{}}}"),
            )


def uses(template: CommandTemplate, placeholder: str) -> bool:
    """Whether the command needs a placeholder: files are only written for commands that read them."""
    texts = [*template.parts(), *(text for text in template.environment.values() if text is not None)]
    return any(token.group(1) == placeholder for text in texts for token in _TOKEN.finditer(text))


def fill(template: CommandTemplate, values: Mapping[str, str], params: Mapping[str, Any]) -> list[Argument]:
    """The argv. One placeholder never becomes two arguments, and what was filled in is not looked at again.

    A list in the command is left out as a whole where a placeholder in it has no value. Raises UsageError for a param
    outside of such a list that the applied recipe does not have.
    """
    fill_in = _replacement(template, values, params)
    texts = [
        text
        for part in template.argv
        for text in (part if isinstance(part, tuple) else (part,))
        if isinstance(part, str) or all(_has_value(each, values, params) for each in part)
    ]
    return [Argument(text, _TOKEN.sub(fill_in, text)) for text in texts]


def fill_environment(
    template: CommandTemplate, values: Mapping[str, str], params: Mapping[str, Any]
) -> dict[str, str | None]:
    """The variables: one that is a placeholder and nothing else is filled in, or left out where that has no value."""
    fill_in = _replacement(template, values, params)
    filled: dict[str, str | None] = {}
    for variable, text in template.environment.items():
        token = _TOKEN.fullmatch(text or "")
        name = token.group(1) or "" if token is not None else ""
        if text is None or not (name in _KNOWN or name.startswith(PARAM_PREFIX)):
            filled[variable] = text
        elif _has_value(text, values, params):
            filled[variable] = _TOKEN.sub(fill_in, text)
    return filled


def _has_value(text: str, values: Mapping[str, str], params: Mapping[str, Any]) -> bool:
    """Whether each placeholder in the text stands for something."""
    names = [name for token in _TOKEN.finditer(text) if (name := token.group(1)) is not None]
    return all(
        values[name] if name in values else params.get(name.removeprefix(PARAM_PREFIX), "") not in _ABSENT
        for name in names
    )


def cautions(template: CommandTemplate, arguments: Sequence[Argument]) -> list[str]:
    """What is most likely not meant, though it can be run."""
    found = [
        f"`{{{code.placeholder}}}` in {template.key} is read as code by `{code.program}`, so that its value "
        "is run; pass it as an argument of its own"
        for code in filled_code(template.parts())
    ]
    taken = next((name for name in ("task", "message", "prompt_file") if uses(template, name)), None)
    if template.stdin == "payload" and not template.stdin_chosen and taken is not None:
        found.append(
            f"`{template.key}` takes {{{taken}}} as an argument and also reads the payload on stdin, which many "
            "programs append to the task; set spawn.stdin to none, or to payload if that is meant"
        )
    for part, argument in arguments:
        if part == "--":
            break
        if part.startswith("{") and not part.startswith("{{") and argument.startswith("-"):
            found.append(
                f"the argument for `{part}` begins with `-`, so that the program may take it for an option; "
                f'put "--" before it in {template.key}'
            )
    return found


def _replacement(
    template: CommandTemplate, values: Mapping[str, str], params: Mapping[str, Any]
) -> Callable[[re.Match[str]], str]:
    def replace(token: re.Match[str]) -> str:
        name = token.group(1)
        if name is None:
            return token.group()[0]
        if name in values:
            return values[name]
        key = name.removeprefix(PARAM_PREFIX)
        if key not in params:
            raise UsageError(
                f"`{template.key}` wants the param `{key}`, which the recipe does not have",
                remedy=f"give it with --param {key}=VALUE, or in the recipe",
            )
        value = params[key]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return replace
