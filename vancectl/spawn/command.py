"""The spawn command: a template from the settings becomes an argv. Pure; no shell is ever involved."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vancectl.errors import SettingsError, UsageError
from vancectl.inventory.name import nearest_key
from vancectl.settings import Settings, Value

PLACEHOLDERS = (
    "name", "recipe", "engine", "task", "title", "session", "project", "tenant", "profile",
    "payload_file", "prompt_file",
)  # fmt: skip
PARAM_PREFIX = "params."
EXAMPLE = 'spawn: {command: [claude, -p, --, "{task}"], stdin: none}'

# `{{` and `}}` give a literal brace; anything in single braces must be a placeholder.
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """A spawn command as the settings have it. `key` and `origin` name its place for a message."""

    argv: tuple[str, ...]
    stdin: str
    environment: dict[str, str | None]
    timeout: float | None
    key: str
    origin: str


def find_template(settings: Settings, engine: str) -> CommandTemplate:
    """The engine's own command, else `spawn.command`. Raises SettingsError where none is configured."""
    own = (settings["spawn.engines"] or {}).get(engine, {})
    command: Value = settings.value("spawn.engines" if own.get("command") else "spawn.command")
    argv = own.get("command") or settings["spawn.command"]
    if not argv:
        raise SettingsError(
            "no spawn command is configured, so nothing can be started",
            remedy=f"set spawn.command (or spawn.engines.{engine}.command) in the tenant's settings.yaml, for example "
            f"{EXAMPLE}; `vancectl settings show` names the file",
        )
    template = CommandTemplate(
        tuple(argv),
        own.get("stdin") or settings["spawn.stdin"],
        {**(settings["spawn.env"] or {}), **(own.get("env") or {})},
        own.get("timeout") or settings["spawn.timeout"],
        f"spawn.engines.{engine}.command" if own.get("command") else "spawn.command",
        command.origin,
    )
    check_template(template)
    return template


def check_template(template: CommandTemplate) -> None:
    """Raises SettingsError for a placeholder that does not exist, and for a brace that stands alone."""
    for part in template.argv:
        for token in _TOKEN.finditer(part):
            name = token.group(1)
            if name in PLACEHOLDERS or token.group() in {"{{", "}}"}:
                continue
            if name is not None and name.startswith(PARAM_PREFIX) and name != PARAM_PREFIX:
                continue
            near = nearest_key(name or "", PLACEHOLDERS)
            meant = f"did you mean {{{near}}}? " if near else ""
            raise SettingsError(
                f"`{template.key}` in {template.origin} holds the unknown placeholder `{token.group()}`",
                remedy=f"{meant}`{{{{` gives a literal brace; there are {', '.join(PLACEHOLDERS)} and params.KEY",
            )


def uses(template: CommandTemplate, placeholder: str) -> bool:
    """Whether the command needs a placeholder: files are only written for commands that read them."""
    return any(token.group(1) == placeholder for part in template.argv for token in _TOKEN.finditer(part))


def fill(template: CommandTemplate, values: Mapping[str, str], params: Mapping[str, Any]) -> list[str]:
    """The argv. One placeholder never becomes two arguments, and what was filled in is not looked at again.

    Raises UsageError for a param that the applied recipe does not have.
    """
    return [_TOKEN.sub(_replacement(template, values, params), part) for part in template.argv]


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
