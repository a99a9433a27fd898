"""Agent programs that vancectl can be a part of: as a server of tools (MCP), and as a hook on each prompt.

For each client: the file of its settings, what belongs there, and how that is laid into a file that has more in it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.errors import Place, UsageError
from vancectl.text.strict_json import read_json

NAME = "vancectl"
# Seconds after which a client gives a hook up.
_HOOK_SECONDS = 10


class Entry(NamedTuple):
    """Something for a client's file: `way` leads to it, `value` is what belongs there.

    Where `many` is set the way ends at a list, to which the value is added; else at a key with the name of ours.
    """

    file: Path
    way: tuple[str, ...]
    value: Any
    many: bool = False
    note: str = ""

    @property
    def is_toml(self) -> bool:
        return self.file.suffix == ".toml"

    def text(self) -> str:
        """The entry alone, as it looks in the file."""
        if self.is_toml:
            return _toml(self.way, self.value)
        return json.dumps(_nested(self.way, [self.value] if self.many else self.value), indent=2) + "\n"

    def merged(self, before: str | None) -> str | None:
        """The file with the entry in it; None where it is there already. Raises UsageError for a file of another kind.

        What else is in the file stays; a file with comments, which JSON has not, is left to its owner.
        """
        if self.is_toml:
            return self._in_toml(before or "")
        if before is None or not before.strip():
            return self.text()
        try:
            document = read_json(before)
        except ValueError:
            raise self._foreign("is not plain JSON") from None
        place = document
        for key in self.way[:-1]:
            place = place.setdefault(key, {}) if isinstance(place, dict) else None
        last = self.way[-1]
        if not isinstance(place, dict) or (self.many and not isinstance(place.setdefault(last, []), list)):
            raise self._foreign(f"has something else at `{'.'.join(self.way)}`")
        if self.many:
            if self.value in place[last]:
                return None
            place[last].append(self.value)
        elif place.get(last) == self.value:
            return None
        else:
            place[last] = self.value
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def _in_toml(self, before: str) -> str | None:
        try:
            place: Any = tomllib.loads(before)
        except tomllib.TOMLDecodeError:
            raise self._foreign("is not TOML") from None
        for key in self.way:
            place = place.get(key) if isinstance(place, dict) else None
        if place is not None:
            if place == self.value:
                return None
            raise self._foreign(f"has another `{'.'.join(self.way)}`")
        return before + ("\n" if before and not before.endswith("\n\n") else "") + self.text()

    def _foreign(self, why: str) -> UsageError:
        return UsageError(f"the file {why}", where=Place(self.file), remedy="put the printed lines there yourself")


def _nested(way: Sequence[str], value: Any) -> Any:
    for key in reversed(way):
        value = {key: value}
    return value


def _toml(way: Sequence[str], value: Mapping[str, Any]) -> str:
    """JSON's texts and lists are TOML's as well."""
    return f"[{'.'.join(way)}]\n" + "".join(f"{key} = {json.dumps(each)}\n" for key, each in value.items())


def server_entry(client: str, command: Sequence[str], home: Path, project: Path) -> Entry:
    """What makes vancectl a server of tools for a client. Raises KeyError for one that is not known."""
    program, *arguments = command
    plain = {"command": program, "args": arguments}
    return {
        "claude": Entry(project / ".mcp.json", ("mcpServers", NAME), plain),
        "codex": Entry(home / ".codex/config.toml", ("mcp_servers", NAME), plain),
        "vscode": Entry(project / ".vscode/mcp.json", ("servers", NAME), {"type": "stdio", **plain}),
        "opencode": Entry(
            project / "opencode.json", ("mcp", NAME), {"type": "local", "command": list(command), "enabled": True}
        ),
        "gemini": Entry(project / ".gemini/settings.json", ("mcpServers", NAME), plain),
    }[client]


def hook_entry(client: str, command: Sequence[str], home: Path, project: Path) -> Entry:
    """What has vancectl asked about each prompt. Raises KeyError for a client that is not known."""
    import shlex

    call: dict[str, Any] = {"type": "command", "command": shlex.join(command)}
    return {
        "claude": Entry(
            project / ".claude/settings.json", ("hooks", "UserPromptSubmit"),
            {"hooks": [{**call, "timeout": _HOOK_SECONDS}]}, many=True,
        ),
        "codex": Entry(
            home / ".codex/hooks.json", ("hooks", "UserPromptSubmit"),
            {"hooks": [{**call, "timeout": _HOOK_SECONDS}]}, many=True,
            note="Codex reads hooks only with `codex_hooks = true` below `[features]` in its config.toml",
        ),
        "gemini": Entry(
            project / ".gemini/settings.json", ("hooks", "BeforeAgent"),
            {"hooks": [{**call, "name": NAME, "timeout": _HOOK_SECONDS * 1000}]}, many=True,
        ),
    }[client]  # fmt: skip


SERVED = ("claude", "codex", "vscode", "opencode", "gemini")
HOOKED = ("claude", "codex", "gemini")
