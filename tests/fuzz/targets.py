"""What is fuzzed: for each reader good inputs to begin with, and the commands that read them."""

# ruff: noqa: E501  # the inputs stand as a file has them

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests import messages_server as scripted
from tests.fuzz.room import FaultError, Room
from tests.workspace import REPOSITORY


class Target(NamedTuple):
    """`run` lays the input and runs commands on it; it raises FaultError. What it lays, the next input replaces."""

    seeds: tuple[bytes, ...]
    run: Callable[[Room, bytes, Random], None]
    lays: tuple[str, ...] = ()


def _bundled(name: str) -> bytes:
    return (REPOSITORY / "defaults" / name).read_bytes()


RECIPE = b"""\
title: A "title"
description: Digs tunnels below the castle, and props them up.
engine: ford
listed: true
locked: false
tags: [one, two]
params: {model: default:fast, maxTokens: 500, temperature: 0.5, deep: {list: [1, no, "x"]}}
promptPrefix: |
  You dig. {{ params.model }}{% if params.deep %} deep{% endif %}
promptMode: append
allowedToolsAdd: [Read]
modes: [plan]
profiles:
  fast: {params: {model: default:deep}, promptPrefixAppend: quick}
allowedSkills: [a]
guard: {x: y}
triggers:
  match: word
  keywords: [dig a tunnel, c++, "k\xc3\xb6nig"]
"""
SETTINGS = b"""\
routing: {fallback: {recipe: good, generateTimeout: 30}, recipeListLimit: 10}
selector: {backend: "off", model: default:fast, timeout: 3, maxAttempts: 1, env: {A: b}}
limits: {attempts: 3, waitSeconds: 1}
log: {decisions: true, tasks: false}
models: {"default:fast": some-model}
spawn:
  command: ["true", "{name}", "{task}", "--x={params.model}"]
  stdin: none
  env: {A: b}
  engines: {vogon: {command: ["true"], stdin: task}}
sources: auto
trust: {folders: [/nowhere], required: false}
"""
CASES = b"""\
# cases
cases:
- {task: fix tests, expect: good, stage: trigger}
- {task: something else, expect: NONE}
- task: |
    another one
  expect: essay
  accept: [good, python]
"""
PLAN = b"""\
name: letters
children:
- name: one
  recipe: good
  task: write
  params: {a: 1}
- expand:
    items: [{id: a, to: Ann}, {id: b, to: Bob}]
    childTemplate: {name: 'w-{{ item.id }}', recipe: good, task: 'to {{ item.to }}'}
"""
REQUEST = json.dumps(
    {
        "name": "n", "task": "fix tests", "title": "T", "steerContent": "s", "params": {"a": 1, "b": [True, None]}, "recipe": "good",
        "engine": "ford", "fallbackOnNone": False, "wait": True, "timeoutSeconds": 5, "profile": "fast", "session": "s",
    }
).encode()  # fmt: skip
APPLIED = {
    "recipe": "good",
    "engine": "ford",
    "params": {"model": "m", "maxTokens": 9},
    "profile": None,
    "promptPrefix": "Be brief.",
}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^a+$"}},
    "required": ["a"],
    "additionalProperties": False,
}
PAYLOADS = tuple(
    json.dumps({"version": 1, "task": "fix", "tenant": "default", "appliedRecipe": applied}).encode()
    for applied in (
        APPLIED,
        {**APPLIED, "engine": "jeltz", "params": {"schema": SCHEMA, "maxAttempts": 2}},
        {**APPLIED, "engine": "slartibartfast"},
    )
)
REPLIES = (
    b'{"decision": "MATCH", "recipe": "good", "rationale": "it fits"}',
    b'{"decision": "NONE", "recipe": null, "rationale": "nothing"}',
    json.dumps({"type": "result", "result": '{"decision": "MATCH", "recipe": "good", "rationale": "x"}'}).encode(),
    b'Here it is:\n```json\n{"decision": "MATCH", "recipe": "good", "rationale": "x"}\n```\n',
)
MESSAGE = {
    "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None, "usage": scripted.USAGE,
    "content": [{"type": "text", "text": '{"decision": "MATCH", "recipe": "good", "rationale": "x"}'}],
}  # fmt: skip
ANSWERS = (
    scripted.http_response(json.dumps(MESSAGE).encode()),
    scripted.http_response(b"".join(scripted.events(MESSAGE)), headers=scripted.EVENT_STREAM),
    scripted.http_response(
        b'{"type": "error", "error": {"type": "overloaded_error", "message": "slow"}}', 529, {"retry-after": "0"}
    ),
    scripted.http_response(b'{"type": "error", "error": {"type": "x", "message": "bad"}}', 400),
)
ITEMS = {
    "items.yaml": b"- {id: a, to: Ann}\n- {id: b, to: no}\n",
    "items.csv": b'id,to\na,Ann\nb,"Bob\nand Ben"\n',
    "items.jsonl": b'{"id": "a", "to": "Ann"}\n{"id": "b", "to": null}\n',
    "items.json": b'[{"id": "a", "to": "Ann"}, {"id": "b", "to": 1.5}]',
    "items.md": b"# Items\n\n- [ ] Ann\n- [x] Bob\n",
}
RECORDED = (
    b'{"inventory": "0011", "recipes": {}, "version": 1}\n'
    b'{"task": "something else", "inventory": "0011", "question": "aa", "samples": [[{"text": "x"}]]}\n'
)


def _recipes(room: Room, data: bytes, random: Random) -> None:
    room.write("P/recipes/fuzz.yaml", data)
    room.good_works()
    match random.randrange(4):
        case 0:
            room.json("recipes", "lint", "--json", statuses=(0, 1, 2))
        case 1:
            room.json("recipes", "show", "fuzz", "--json", names=("fuzz",))
        case 2:
            listed = room.json("recipes", "list", "--json")
            if not {"fuzz", "good"} <= {recipe["name"] for recipe in listed or []}:
                raise FaultError("recipes list: a file vanished", str(listed)[:500])
        case _:
            room.json("delegate", "--dry-run", "--recipe", "fuzz", "--profile", "fast", "dig", names=("fuzz",))


def _settings(room: Room, data: bytes, random: Random) -> None:
    room.write("T/settings.yaml", data)
    room.json("settings", "show", "--json", names=("settings.yaml",))
    if random.random() < 0.5:
        room.json("delegate", "--dry-run", "fix tests", names=("settings.yaml", "`spawn."))
    else:
        room.json("select", "--json", "what else", names=("settings.yaml",))
    # A task that a phrase decides needs the settings seldom; where they are refused, they are named.
    room.json("select", "--json", "fix tests", names=("settings.yaml",))


def _project(room: Room, data: bytes, _: Random) -> None:
    room.write("P/project.yaml", data)
    room.json("select", "--json", "fix tests", names=("project.yaml", "tenant"))
    room.json("recipes", "path", "--json", names=("project.yaml", "tenant"))


def _catalog(room: Room, data: bytes, _: Random) -> None:
    room.write("B/catalog/engines.yaml", data)
    room.json("catalog", "show", "--json", names=("engines.yaml",))
    room.good_works()


def _presets(room: Room, data: bytes, _: Random) -> None:
    room.write("B/spawn/fuzz.yaml", data)
    room.json("spawn", "list", "--json", names=("fuzz",))
    room.json("delegate", "--json", "--dry-run", "--set", "spawn.command=null", "--set", "spawn.preset=fuzz", "fix tests",
              names=("fuzz", "spawn.preset"))  # fmt: skip


def _cases(room: Room, data: bytes, random: Random) -> None:
    name = "routes/fuzz.jsonl" if data.startswith(b"{") else "routes.yaml"
    room.write(f"P/{name}", data)
    form = random.choice(("json", "junit", "github", "tap", "markdown"))
    room.ask("check", "--format", form, names=(name, "no case"))
    room.path(f"P/{name}").unlink()


def _recordings(room: Room, data: bytes, _: Random) -> None:
    room.write("P/routes.yaml", CASES)
    room.write("P/routes.recorded.jsonl", data)
    room.json("check", "--json", names=("routes.recorded.jsonl",))
    room.json("select", "--replay", ".vance/routes.recorded.jsonl", "something else", names=("routes.recorded.jsonl",))


def _plans(room: Room, data: bytes, _: Random) -> None:
    room.write("P/plan.yaml", data)
    room.json("plan", "plan.yaml", "--dry-run", names=("plan.yaml", "/dev/", "items"))


def _items(name: str) -> Callable[[Room, bytes, Random], None]:
    def run(room: Room, data: bytes, _: Random) -> None:
        room.write(f"P/{name}", data)
        field = "item" if name.endswith("md") else "item.to"
        template = f"{{recipe: good, task: 'to {{{{ {field} }}}}'}}"
        room.write("P/plan.yaml", f"name: l\nchildren:\n- expand: {{items: {name}, childTemplate: {template}}}\n")
        room.json("plan", "plan.yaml", "--dry-run", names=(name, "plan.yaml"))

    return run


def _requests(room: Room, data: bytes, _: Random) -> None:
    room.json("delegate", "--dry-run", "--request", "-", stdin=data)


def _batches(room: Room, data: bytes, _: Random) -> None:
    room.ask("batch", "-", stdin=data)


def _payloads(room: Room, data: bytes, random: Random) -> None:
    room.model(room.server)
    text = random.choice(('{"a": "aaa"}', "fine", "description: Writes letters to people.\nengine: ford\n"))
    room.server.reply(scripted.text(text))
    room.ask("worker", stdin=data)


def _replies(room: Room, data: bytes, _: Random) -> None:
    room.model(room.server)
    room.server.reply(scripted.text(data.decode("utf-8", "surrogateescape")))
    room.json("select", "--json", "--set", "selector.timeout=3", "what else")


def _answers(room: Room, data: bytes, random: Random) -> None:
    def act(exchange: scripted.Exchange) -> None:
        exchange.send(data)
        exchange.hang_up()

    room.model(room.server)
    room.server.reply(scripted.Behaviour(act))
    limits = ("--set", "selector.timeout=2", "--set", "limits.waitSeconds=0.1", "--set", "selector.maxAttempts=1")
    if random.random() < 0.7:
        room.json("select", "--json", *limits, "what else")
    else:
        room.ask("delegate", "--timeout", "3", "--set", "spawn.command=null", "--recipe", "good", "fix")


TARGETS = {
    "recipes": Target((RECIPE, _bundled("recipes/python.yaml")), _recipes, ("P/recipes/fuzz.yaml",)),
    "settings": Target((SETTINGS,), _settings, ("T/settings.yaml",)),
    "project": Target((b"id: shop\ntenant: default\nhub: false\n",), _project, ("P/project.yaml",)),
    "catalog": Target((_bundled("catalog/engines.yaml"),), _catalog, ("B/catalog/engines.yaml",)),
    "presets": Target((_bundled("spawn/claude.yaml"), _bundled("spawn/worker.yaml")), _presets, ("B/spawn/fuzz.yaml",)),
    "cases": Target((CASES, b'{"task": "fix tests", "expect": "good"}\n{"task": "b", "expect": null}\n'), _cases),
    "recordings": Target((RECORDED,), _recordings, ("P/routes.recorded.jsonl",)),
    "plans": Target((PLAN,), _plans),
    **{name: Target((seed,), _items(name)) for name, seed in ITEMS.items()},
    "requests": Target((REQUEST,), _requests),
    "batches": Target(
        (b'{"task": "fix tests", "id": "a"}\n{"task": "b", "params": {}}\n', b"fix tests\nother\n"), _batches
    ),
    "payloads": Target(PAYLOADS, _payloads),
    "replies": Target(REPLIES, _replies),
    "answers": Target(ANSWERS, _answers),
}
