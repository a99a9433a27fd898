"""The tools that an MCP client is offered: what each takes, what it gives back, and the command that does it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_TEXT = {"type": "string"}
_NAME = {"type": "string", "minLength": 1}
_TASK = {"type": "string", "minLength": 1, "description": "The task in plain words, as the user said it."}
_SESSION = {"type": "string", "minLength": 1, "description": "The session of the name; without it the server's own."}
_OR_NOTHING = ["string", "null"]


class Call(NamedTuple):
    """What a tool runs: the command, the words behind its options, and what it reads."""

    command: tuple[str, ...]
    words: list[str]
    stdin: str | None = None


class Tool(NamedTuple):
    """One tool. `call` makes the command of checked arguments; a list that it prints is given back below `wrap`."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: Sequence[str]
    output: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], Call]
    reads_only: bool = True
    ends: bool = False
    wrap: str | None = None
    scoped: bool = True  # takes the options of scope
    named: bool = False  # takes a session

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": dict(self.properties),
                "required": list(self.required),
                "additionalProperties": False,
            },
            "outputSchema": dict(self.output),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.reads_only,
                "destructiveHint": not self.reads_only,
                "idempotentHint": self.reads_only or self.ends,
                "openWorldHint": self.name in {"select", "delegate"},
            },
        }

    def fault(self, arguments: object) -> str | None:
        """What is wrong with a call's arguments, and what helps; None where nothing is."""
        if not isinstance(arguments, Mapping):
            return "the arguments must be an object"
        known = ", ".join(f"`{key}`" for key in self.properties) or "none"
        for key in arguments:
            if key not in self.properties:
                return f"`{self.name}` has no argument `{key}`; it takes {known}"
        for key in self.required:
            if key not in arguments:
                return f"`{self.name}` needs the argument `{key}`"
        for key, value in arguments.items():
            wanted = self.properties[key]["type"]
            if not _is_a(wanted, value):
                return f"`{key}` must be a JSON {wanted}"
            if self.properties[key].get("minLength") and not value.strip():
                return f"`{key}` must not be blank"
        return None


def _is_a(wanted: str, value: object) -> bool:
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str, "object": dict, "boolean": bool, "number": (int, float),
    }  # fmt: skip
    return isinstance(value, kinds[wanted]) and not (wanted == "number" and isinstance(value, bool))


def _select(arguments: Mapping[str, Any]) -> Call:
    return Call(("select",), ["--json", "-"], arguments["task"])


def _delegate(arguments: Mapping[str, Any]) -> Call:
    request = {"name": f"mcp-{os.urandom(3).hex()}", "wait": True, **arguments}
    return Call(("delegate",), ["--json", "--request", "-"], json.dumps(request, ensure_ascii=False))


def _list(_: Mapping[str, Any]) -> Call:
    return Call(("recipes", "list"), ["--json"])


def _of_process(command: str) -> Callable[[Mapping[str, Any]], Call]:
    def call(arguments: Mapping[str, Any]) -> Call:
        session = ["--session", arguments["session"]] if "session" in arguments else []
        return Call(("processes", command), ["--json", *session, "--", arguments["name"]])

    return call


_DECISION = {
    "type": "object",
    "properties": {
        "decision": {"enum": ["MATCH", "NONE", None]},
        "recipe": {"type": _OR_NOTHING},
        "engine": {"type": _OR_NOTHING},
        "rationale": _TEXT,
        "stage": _TEXT,
        "reason": _TEXT,
        "warnings": {"type": "array", "items": _TEXT},
    },
    "required": ["decision"],
}
_PROCESS = {
    "type": "object",
    "properties": {
        "id": _TEXT, "name": _TEXT, "session": _TEXT, "status": _TEXT, "exitCode": {"type": ["integer", "null"]},
    },
    "required": ["id", "name", "status"],
}  # fmt: skip
_ANSWER = {
    **_DECISION,
    "properties": {
        **_DECISION["properties"],  # type: ignore[dict-item]  # a mapping, as written above
        "fallback": {"type": "object"},
        "process": {"type": "object"},
        "error": _TEXT,
    },
}
_RECIPES = {
    "type": "object",
    "properties": {"recipes": {"type": "array", "items": {"type": "object", "properties": {"name": _TEXT}}}},
    "required": ["recipes"],
}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "select", "Select a recipe",
        "Decide which of the user's recipes fits a task: MATCH with its name, or NONE, which is an answer. Starts "
        "nothing.",
        {"task": _TASK}, ("task",), _DECISION, _select,
    ),
    Tool(
        "delegate", "Delegate a task",
        "Decide which recipe fits a task, or take `recipe`, and start it as the user has configured it. Waits for the "
        "reply, which is `process.reply`; with `wait: false` it returns at once, and `process` says how it goes. A "
        "name that was used before gives that process back and starts nothing.",
        {
            "task": _TASK,
            "name": {**_NAME, "description": "A name for the process, by which it is found again."},
            "recipe": {**_NAME, "description": "Start this recipe; leave it out to have one chosen."},
            "params": {"type": "object", "description": "Params for the recipe, over its own."},
            "profile": {**_NAME, "description": "A profile of the recipe."},
            "wait": {"type": "boolean", "description": "Wait for the end (default) or leave it running."},
            "fallbackOnNone": {"type": "boolean", "description": "After NONE start the fallback recipe (default)."},
            "timeoutSeconds": {"type": "number", "description": "End it after this time."},
            "session": _SESSION,
        },
        ("task",), _ANSWER, _delegate, reads_only=False, named=True,
    ),
    Tool(
        "list_recipes", "List the recipes",
        "All recipes that there are here, with what each is for and its trigger phrases.",
        {}, (), _RECIPES, _list, wrap="recipes",
    ),
    Tool(
        "process", "Show a process",
        "How a process that `delegate` has started goes, and its reply once it has ended.",
        {"name": {**_NAME, "description": "Its name or its id."}, "session": _SESSION},
        ("name",), _PROCESS, _of_process("show"), scoped=False, named=True,
    ),
    Tool(
        "stop_process", "Stop a process",
        "End a process that `delegate` has started, with all that belongs to it. One that has ended stays as it is.",
        {"name": {**_NAME, "description": "Its name or its id."}, "session": _SESSION},
        ("name",), _PROCESS, _of_process("stop"), reads_only=False, ends=True, scoped=False, named=True,
    ),
)  # fmt: skip


def find_tool(name: object) -> Tool | None:
    return next((tool for tool in TOOLS if tool.name == name), None)
