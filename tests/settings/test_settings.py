"""Settings: bundled < tenant < environment < option, each with its source, and nothing from the project."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace
from vancectl.settings.keys import KINDS
from vancectl.settings.settings import variable_of

# For every key a value that the bundled settings do not have.
OTHER: dict[str, Any] = {
    "routing.fallback.recipe": "mine",
    "routing.fallback.generateTimeout": 5.0,
    "routing.recipeListLimit": 7,
    "session.defaultChatEngine": "marvin",
    "selector.model": "some-model",
    "selector.backend": "off",
    "selector.command": ["oracle", "-x y"],
    "selector.env": {"A": "b c", "CLAUDECODE": None},
    "selector.timeout": 2.5,
    "limits.attempts": 2,
    "limits.answerTokens": 100,
    "limits.promptCharacters": 5000,
    "limits.descriptionCharacters": 50,
    "limits.responseBytes": 1000,
    "limits.waitSeconds": 1.5,
    "limits.logBytes": 1000,
    "log.decisions": False,
    "log.tasks": True,
    "selector.maxAttempts": 5,
    "models": {"own": "some-model"},
    "spawn.command": ["agent", "{task}", ""],
    "spawn.preset": "claude",
    "spawn.stdin": "none",
    "spawn.env": {"A": "b c", "CLAUDECODE": None},
    "spawn.timeout": 1.5,
    "spawn.maxDepth": 3,
    "spawn.planOnExit": True,
    "trust.folders": ["/srv/mine", "/opt/*"],
    "trust.required": True,
    "sources": {"mine": {"format": "goose", "path": "/srv/recipes"}},
    "spawn.engines": {"ford": {"command": ["x"], "stdin": "task", "env": {"A": "1"}, "timeout": 3.0, "preset": "llm"}},
}


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def show(ws: Workspace, key: str | None = None, *options: str, env: dict[str, str | None] | None = None) -> Result:
    return ws.run("settings", "show", *([key] if key else []), *options, env=env)


def value(ws: Workspace, key: str, *options: str, env: dict[str, str | None] | None = None) -> Any:
    (row,) = show(ws, key, *options, env=env).expect().json
    return row["value"]


def rows(result: Result) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in result.expect().json}


def test_other_values_for_every_key() -> None:
    assert OTHER.keys() == KINDS.keys()


@pytest.fixture
def bundled(ws: Workspace) -> dict[str, dict[str, Any]]:
    return rows(show(ws))


def test_bundled(bundled: dict[str, dict[str, Any]]) -> None:
    assert list(bundled) == list(KINDS)
    assert {row["source"] for row in bundled.values()} == {"bundled"}
    assert {row["origin"].rpartition("/")[2] for row in bundled.values()} == {"settings.yaml"}
    values = {key: row["value"] for key, row in bundled.items()}
    assert values.pop("models").keys() == {"default:fast", "default:smart", "default:deep"}
    assert values == {
        "routing.fallback.recipe": "slart-and-run", "routing.recipeListLimit": 50, "session.defaultChatEngine": None,
        "selector.model": None, "selector.backend": "auto", "selector.command": None, "selector.timeout": 30.0,
        "selector.env": {},
        "selector.maxAttempts": 2, "limits.logBytes": 67108864, "log.decisions": True, "log.tasks": False,
        "spawn.command": None, "spawn.stdin": "payload", "spawn.env": {},
        "spawn.timeout": None, "spawn.engines": {}, "spawn.preset": "worker", "spawn.maxDepth": 5,
        "spawn.planOnExit": False, "trust.folders": [], "trust.required": False, "sources": "auto",
        "routing.fallback.generateTimeout": 240.0,
        "limits.attempts": 10, "limits.answerTokens": 32_000, "limits.promptCharacters": 1_000_000,
        "limits.descriptionCharacters": 4_000, "limits.responseBytes": 16_000_000, "limits.waitSeconds": 60.0,
    }  # fmt: skip


def expected(bundled: dict[str, dict[str, Any]], key: str) -> Any:
    return {**bundled[key]["value"], **OTHER[key]} if key == "models" else OTHER[key]


def test_every_key_from_the_tenant(ws: Workspace, bundled: dict[str, dict[str, Any]]) -> None:
    path = ws.settings(OTHER)
    found = rows(show(ws))
    for key, row in found.items():
        assert (row["value"], row["source"], row["origin"]) == (expected(bundled, key), "tenant", str(path))


def test_every_key_from_the_environment(ws: Workspace, bundled: dict[str, dict[str, Any]]) -> None:
    found = rows(show(ws, env={variable_of(key): as_text(other) for key, other in OTHER.items()}))
    for key, row in found.items():
        assert (row["value"], row["source"], row["origin"]) == (expected(bundled, key), "environment", row["variable"])
        assert row["variable"] == "VANCECTL_" + key.replace(".", "__").upper()


def test_every_key_from_an_option(ws: Workspace, bundled: dict[str, dict[str, Any]]) -> None:
    options = [part for key, other in OTHER.items() for part in ("--set", f"{key}={as_text(other)}")]
    for key, row in rows(show(ws, None, *options)).items():
        assert (row["value"], row["source"], row["origin"]) == (expected(bundled, key), "option", "--set")


@pytest.mark.parametrize(
    ("tenant", "variable", "option", "found"),
    [
        (None, None, None, ("slart-and-run", "bundled")),
        ("t", None, None, ("t", "tenant")),
        ("t", "v", None, ("v", "environment")),
        ("t", "v", "o", ("o", "option")),
        ("t", None, "o", ("o", "option")),
        ("t", "", None, ("", "environment")),
        ("t", "v", "", ("", "option")),
        ("", None, None, ("", "tenant")),
        ("", "v", None, ("v", "environment")),
    ],
)
def test_later_sources_win(
    ws: Workspace, tenant: str | None, variable: str | None, option: str | None, found: tuple[str, str]
) -> None:
    if tenant is not None:
        ws.settings(routing__fallback__recipe=tenant)
    options = [] if option is None else ["--set", f"routing.fallback.recipe={option}"]
    (row,) = show(ws, "routing.fallback.recipe", *options, env={"VANCECTL_ROUTING__FALLBACK__RECIPE": variable}).json
    assert (row["value"], row["source"]) == found


def test_the_last_of_several_options_counts(ws: Workspace) -> None:
    assert value(ws, "spawn.stdin", "--set", "spawn.stdin=task", "--set", " spawn.stdin =none") == "none"


def test_each_tenant_has_its_own(ws: Workspace) -> None:
    ws.settings(spawn__stdin="task")
    ws.write("H/../config/tenants/acme/settings.yaml", "spawn: {stdin: none}\n")
    assert value(ws, "spawn.stdin") == "task"
    assert value(ws, "spawn.stdin", "--tenant", "acme") == "none"
    assert value(ws, "spawn.stdin", env={"VANCECTL_TENANT": "acme"}) == "none"
    assert "there is no tenant `nobody`" in show(ws, "spawn.stdin", "--tenant", "nobody").expect(2).stderr


# How the values of a file are read.


@pytest.mark.parametrize(
    ("text", "key", "found"),
    [
        ("selector: {backend: off}", "selector.backend", "off"),
        ("selector: {model: 2026-01-01}", "selector.model", "2026-01-01"),
        ("selector: {model: 1.50}", "selector.model", "1.50"),
        ("routing: {fallback: {recipe: no}}", "routing.fallback.recipe", "no"),
        ("spawn: {command: [sleep, 300, no, 1.50, 2026-01-01, 1:30]}", "spawn.command",
         ["sleep", "300", "no", "1.50", "2026-01-01", "1:30"]),
        ("spawn: {env: {A: 1, B: yes, C: 0x10, D: , E: ~, F: '', G: null}}", "spawn.env",
         {"A": "1", "B": "yes", "C": "0x10", "D": None, "E": None, "F": "", "G": None}),
        ("models: {own: 2026-01-01}", "models", "2026-01-01"),
        ("spawn: {engines: {ford: {command: [sleep, 1], stdin: none, env: {A: on}, timeout: 2}}}", "spawn.engines",
         {"ford": {"command": ["sleep", "1"], "stdin": "none", "env": {"A": "on"}, "timeout": 2.0}}),
        ("spawn: {engines: {ford: {command: , stdin: none, timeout: }, vogon: }}", "spawn.engines",
         {"ford": {"stdin": "none"}, "vogon": {}}),
        ("routing.fallback.recipe: flat", "routing.fallback.recipe", "flat"),
        ("spawn: {timeout: 3}", "spawn.timeout", 3.0),
        ("spawn:\n  command: &c [a]\n  engines: {ford: {command: *c}}", "spawn.engines", {"ford": {"command": ["a"]}}),
    ],
)  # fmt: skip
def test_texts_stay_as_they_are_written(ws: Workspace, text: str, key: str, found: object) -> None:
    ws.write("T/settings.yaml", text + "\n")
    read = value(ws, key)
    assert (read["own"] if key == "models" else read) == found


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "spawn:\n", "spawn: {}\n", "~\n"])
def test_a_file_that_sets_nothing(ws: Workspace, text: str) -> None:
    ws.write("T/settings.yaml", text)
    assert {row["source"] for row in show(ws).expect().json} == {"bundled"}


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("routing.recipeListLimit", 50), ("selector.backend", "auto"), ("selector.timeout", 30.0),
        ("selector.maxAttempts", 2), ("spawn.stdin", "payload"), ("spawn.env", {}), ("spawn.engines", {}),
    ],
)  # fmt: skip
def test_nothing_written_leaves_what_holds_already(ws: Workspace, key: str, left: object) -> None:
    ws.settings({key: None})
    assert value(ws, key) == left


@pytest.mark.parametrize("key", ["spawn.command", "spawn.timeout", "selector.command"])
def test_null_takes_away_what_may_be_missing(ws: Workspace, key: str) -> None:
    ws.settings({key: OTHER[key]})
    assert value(ws, key, "--set", f"{key}=null") is None
    assert value(ws, key, env={variable_of(key): "null"}) is None


# One entry of a mapping.


def test_entries_are_merged_with_their_neighbours(ws: Workspace) -> None:
    ws.settings({"spawn.engines": {"ford": {"command": ["a"], "stdin": "none"}, "vogon": {"command": ["b"]}}})
    found = value(ws, "spawn.engines", "--set", 'spawn.engines={"vogon": {"stdin": "task"}, "zaphod": {}}')
    assert found == {"ford": {"command": ["a"], "stdin": "none"}, "vogon": {"stdin": "task"}, "zaphod": {}}


@pytest.mark.parametrize(
    ("assignment", "key", "found"),
    [
        ('spawn.engines.ford.command=["b"]', "spawn.engines", {"ford": {"command": ["b"], "stdin": "none"}}),
        ("spawn.engines.ford.stdin=task", "spawn.engines", {"ford": {"command": ["a"], "stdin": "task"}}),
        ("spawn.engines.ford.command=null", "spawn.engines", {"ford": {"stdin": "none"}}),
        ('spawn.engines.ford={"timeout": 2}', "spawn.engines", {"ford": {"timeout": 2.0}}),
        ("spawn.engines.v.timeout=2", "spawn.engines",
         {"ford": {"command": ["a"], "stdin": "none"}, "v": {"timeout": 2.0}}),
        ("spawn.env.B=x=y", "spawn.env", {"A": "1", "B": "x=y"}),
        ("spawn.env.A=null", "spawn.env", {"A": None}),
        ("spawn.env.A=", "spawn.env", {"A": ""}),
    ],
)  # fmt: skip
def test_one_entry_as_an_option(ws: Workspace, assignment: str, key: str, found: object) -> None:
    ws.settings({"spawn.engines": {"ford": {"command": ["a"], "stdin": "none"}}, "spawn.env": {"A": 1}})
    assert value(ws, key, "--set", assignment) == found


def test_one_model_as_an_option(ws: Workspace) -> None:
    found = value(ws, "models", "--set", "models.default:fast=other")
    assert (found["default:fast"], found["default:smart"]) == ("other", "claude-sonnet-5-5")


def test_one_entry_as_a_variable(ws: Workspace) -> None:
    env: dict[str, str | None] = {
        "VANCECTL_SPAWN__ENGINES__FORD__COMMAND": '["b"]', "VANCECTL_SPAWN__ENV__DEBUG_LEVEL": "2",
    }  # fmt: skip
    assert value(ws, "spawn.engines", env=env) == {"ford": {"command": ["b"]}}
    assert value(ws, "spawn.env", env=env) == {"DEBUG_LEVEL": "2"}
    env = {"VANCECTL_SELECTOR__ENV__A_B": "2", "VANCECTL_SELECTOR__ENV__C": "null"}
    assert value(ws, "selector.env", env=env) == {"A_B": "2", "C": None}


# Wrong values.

A_LIST = "a list of texts: the program, then its arguments"
USE_CLAUDE_SO = 'use a list, such as ["claude", "-p", "--bare", "--tools", ""]: nothing is split, and no shell is asked'
USE_A_LIST = 'use a list, such as ["claude", "-p", "--", "{task}"]: nothing is split, and no shell is asked'
FOLDERS = "a list of absolute folders; `/*` at the end of one takes in all below it"
WRONG = [
    ("routing.recipeListLimit", 0, "a whole number, at least 1"),
    ("routing.recipeListLimit", -3, "a whole number, at least 1"),
    ("routing.recipeListLimit", 1.5, "a whole number, at least 1"),
    ("routing.recipeListLimit", True, "a whole number, at least 1"),
    ("routing.recipeListLimit", "many", "a whole number, at least 1"),
    ("selector.backend", "openai", "one of auto, anthropic, command, off"),
    ("selector.backend", "", "one of auto, anthropic, command, off"),
    ("selector.backend", "OFF", "one of auto, anthropic, command, off"),
    ("selector.command", "claude -p", A_LIST),
    ("selector.command", [], A_LIST),
    ("selector.env", {"A=B": "c"}, "a mapping of variable to text, or to null to unset it"),
    ("selector.timeout", 0, "a number of seconds above 0"),
    ("selector.timeout", -1, "a number of seconds above 0"),
    ("selector.timeout", "10s", "a number of seconds above 0"),
    ("selector.timeout", True, "a number of seconds above 0"),
    ("selector.timeout", 10**400, "a number of seconds above 0"),
    ("selector.maxAttempts", 0, "a whole number, at least 1"),
    ("models", ["a"], "a mapping of alias to model"),
    ("models", {"a": ""}, "a mapping of alias to model"),
    ("models", {"a": ["b"]}, "a mapping of alias to model"),
    ("spawn.command", "C:\\Tools\\agent.exe --fast {task}", A_LIST),
    ("spawn.command", [""], A_LIST),
    ("spawn.command", ["a", None], A_LIST),
    ("spawn.command", ["a\0b"], A_LIST),
    ("spawn.command", {"a": "b"}, A_LIST),
    ("spawn.stdin", "json", "one of payload, task, message, prompt, none"),
    ("spawn.env", ["A=b"], "a mapping of variable to text, or to null to unset it"),
    ("spawn.env", {"A=B": "c"}, "a mapping of variable to text, or to null to unset it"),
    ("spawn.env", {"": "c"}, "a mapping of variable to text, or to null to unset it"),
    ("spawn.env", {"A": "b\0c"}, "a mapping of variable to text, or to null to unset it"),
    ("spawn.timeout", 0, "a number of seconds above 0"),
    ("trust.folders", ["mine"], FOLDERS),
    ("trust.folders", ["~/mine"], FOLDERS),
    ("trust.folders", "/mine", FOLDERS),
    ("trust.required", 1, "true or false"),
    ("spawn.engines", ["ford"], "a mapping of engine (each once) to its command, preset, stdin, env and timeout"),
    ("spawn.engines.ford", ["x"], "a mapping with command, preset, stdin, env and timeout"),
    ("spawn.engines.ford.command", "x {task}", A_LIST),
    ("spawn.engines.ford.stdin", "json", "one of payload, task, message, prompt, none"),
    ("spawn.engines.ford.env", {"A=B": "c"}, "a mapping of variable to text, or to null to unset it"),
    ("spawn.engines.ford.timeout", -1, "a number of seconds above 0"),
]


def help_for(key: str) -> str:
    return USE_CLAUDE_SO if key == "selector.command" else USE_A_LIST


def wrong_id(given: object) -> str:
    return str(given)[:24] if not isinstance(given, str) or "." in given else ""


@pytest.mark.parametrize(("key", "wrong", "words"), WRONG, ids=wrong_id)
def test_a_wrong_value_in_the_file(ws: Workspace, key: str, wrong: object, words: str) -> None:
    path = ws.settings({key: wrong})
    failed = show(ws).expect(2)
    assert "tenant" not in {row["source"] for row in failed.json}  # the file counts for nothing
    assert failed.stderr.startswith(f"error: {path}:{key.count('.') + 1}:")
    assert f": `{key}` must be {words}\n  help: {help_for(key) if words == A_LIST else ''}" in failed.stderr


@pytest.mark.parametrize(
    ("text", "place", "key"),
    [
        ("routing: {fallback: {recipe: [a]}}", "1:30", "routing.fallback.recipe"),
        ("session:\n  defaultChatEngine: {a: 1}", "2:22", "session.defaultChatEngine"),
        ("selector: {model: [a]}", "1:19", "selector.model"),
        ("spawn: {stdin: [none]}", "1:16", "spawn.stdin"),
        ("spawn: {env: {A: [b]}}", "1:18", "spawn.env.A"),
        ("selector: {env: {A: [b]}}", "1:21", "selector.env.A"),
        ("spawn: {engines: {ford: {env: {A: []}}}}", "1:35", "spawn.engines.ford.env.A"),
    ],
)
def test_no_text_where_text_is_meant(ws: Workspace, text: str, place: str, key: str) -> None:
    path = ws.write("T/settings.yaml", text + "\n")
    failed = show(ws).expect(2)
    assert failed.stderr.startswith(f"error: {path}:{place}: the settings are broken: `{key}` must be text (found ")


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("routing.recipeListLimit=0", "a whole number, at least 1"),
        ("routing.recipeListLimit=many", "a whole number, at least 1"),
        ("selector.backend=openai", "one of auto, anthropic, command, off"),
        ("selector.timeout=true", "a number of seconds above 0"),
        ("models=[]", "a mapping of alias to model"),
        ("models.a=", "a mapping of alias to model"),
        ("spawn.command=agent {task}", A_LIST),
        ('spawn.command=["a", []]', A_LIST),
        ('spawn.command=[["a"], "b"]', A_LIST),
        ('spawn.command=["a", ["b", 1]]', A_LIST),
        ('spawn.command=["a", ["b", ["c"]]]', A_LIST),
        ("spawn.command=", A_LIST),
        ("spawn.stdin=", "one of payload, task, message, prompt, none"),
        ('spawn.env={"A": 1}', "a mapping of variable to text, or to null to unset it"),
        ("spawn.engines=[]", "a mapping of engine (each once) to its command, preset, stdin, env and timeout"),
        ("spawn.engines.ford=1", "a mapping with command, preset, stdin, env and timeout"),
        ("spawn.engines.ford.command=x", A_LIST),
    ],
)
def test_a_wrong_value_as_an_option(ws: Workspace, assignment: str, words: str) -> None:
    failed = show(ws, None, "--set", assignment).expect(2)
    key = "models" if assignment == "models.a=" else assignment.partition("=")[0]
    assert failed.stdout == ""
    assert failed.stderr.startswith(f"error: `{key}` in --set must be {words}\n  help: ")
    assert (f"  help: {USE_A_LIST}\n" in failed.stderr) == (words == A_LIST)


@pytest.mark.parametrize(
    ("variable", "text", "told"),
    [
        ("VANCECTL_SPAWN__COMMAND", "", f"must be {A_LIST}\n  help: {USE_A_LIST}"),
        ("VANCECTL_SPAWN__COMMAND", "agent {task}", f"must be {A_LIST}\n  help: {USE_A_LIST}"),
        ("VANCECTL_SPAWN__TIMEOUT", "", "above 0\n  help: write it as JSON (found ``)"),
        ("VANCECTL_SPAWN__TIMEOUT", "soon", "above 0\n  help: write it as JSON (found `soon`)"),
        ("VANCECTL_SPAWN__TIMEOUT", "NaN", "must be a number of seconds above 0"),
        ("VANCECTL_SPAWN__TIMEOUT", "Infinity", "must be a number of seconds above 0"),
        ("VANCECTL_SPAWN__STDIN", "", "must be one of payload, task, message, prompt, none"),
        ("VANCECTL_MODELS", "{", "must be a mapping of alias to model"),
        ("VANCECTL_MODELS", "[" * 5000, "must be a mapping of alias to model"),
        ("VANCECTL_SPAWN__COMMAND", '["\\ud800"]', f"must be {A_LIST}"),
        ("VANCECTL_SPAWN__COMMAND", '["sleep", 3]', f"must be {A_LIST}"),
        ("VANCECTL_SPAWN__ENGINES__FORD__STDIN", "json", "must be one of payload, task, message, prompt, none"),
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_a_wrong_value_in_a_variable(ws: Workspace, variable: str, text: str, told: str) -> None:
    failed = show(ws, env={variable: text}).expect(2)
    assert failed.stdout == ""
    assert f" in {variable} must be " in failed.stderr
    assert told in failed.stderr


# Unknown keys.


@pytest.mark.parametrize(
    ("text", "line", "key", "told"),
    [
        ("spawn:\n  comand: [x]\n", 2, "spawn.comand", "did you mean `spawn.command`?"),
        ("routing: {fallback: {recip: x}}\n", 1, "routing.fallback.recip", "did you mean `routing.fallback.recipe`?"),
        ("spwan: {command: [x]}\n", 1, "spwan", "`vancectl settings show` lists all keys"),
        ("nonsense: 1\n", 1, "nonsense", "`vancectl settings show` lists all keys"),
        ("spawn:\n  engines:\n    ford:\n      comand: [x]\n", 4, "spawn.engines.ford.comand",
         "did you mean `spawn.engines.ford.command`?"),
        ("spawn:\n  engines:\n    ford:\n      stdin: none\n      time: 1\n", 5, "spawn.engines.ford.time",
         "did you mean `spawn.engines.ford.timeout`?"),
        ("selector.modell: x\n", 1, "selector.modell", "did you mean `selector.model`?"),
    ],
)  # fmt: skip
def test_an_unknown_key_in_the_file(ws: Workspace, text: str, line: int, key: str, told: str) -> None:
    path = ws.write("T/settings.yaml", text)
    failed = show(ws).expect(2)
    assert "tenant" not in {row["source"] for row in failed.json}  # the file counts for nothing
    assert failed.stderr.startswith(f"error: {path}:{line}:")
    assert f"there is no setting `{key}`\n  help: {told}\n" in failed.stderr


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("VANCECTL_SPAWN__COMAND", "did you mean VANCECTL_SPAWN__COMMAND?"),
        ("VANCECTL_SPAWN_COMMAND", "did you mean VANCECTL_SPAWN__COMMAND?"),
        ("VANCECTL_ROUTING_FALLBACK_RECIPE", "did you mean VANCECTL_ROUTING__FALLBACK__RECIPE?"),
        ("VANCECTL_SELECTOR_MODEL", "did you mean VANCECTL_SELECTOR__MODEL?"),
        ("VANCECTL_QUITE__ANOTHER", "`vancectl settings show` lists all keys"),
    ],
)
def test_an_unknown_variable(ws: Workspace, variable: str, told: str) -> None:
    failed = show(ws, env={variable: "x"}).expect(2)
    assert (failed.stdout, failed.stderr) == (
        "", f"error: the variable {variable} is not the name of a setting\n  help: {told}\n",
    )  # fmt: skip


@pytest.mark.parametrize("variable", ["VANCECTL_MODEL", "VANCECTL_SESSION", "VANCECTL_OWN", "VANCECTLSPAWN__COMMAND"])
def test_variables_that_are_no_settings(ws: Workspace, variable: str) -> None:
    assert {row["source"] for row in show(ws, env={variable: "x"}).expect().json} == {"bundled"}


@pytest.mark.parametrize(
    ("assignment", "told"),
    [
        ("spawn.comand=[]", "there is no setting `spawn.comand`\n  help: did you mean `spawn.command`?"),
        ("Spawn.Command=[]", "there is no setting `Spawn.Command`\n  help: did you mean `spawn.command`?"),
        ("spawn.engines.ford.comand=[]", "help: did you mean `spawn.engines.ford.command`?"),
        ('spawn.engines={"ford": {"comand": []}}', "help: did you mean `spawn.engines.ford.command`?"),
        ("spawn=1", "there is no setting `spawn`"),
        ("=1", "there is no setting ``"),
        ("spawn.command", "`--set spawn.command` has no value\n  help: write --set KEY=VALUE"),
    ],
)
def test_an_unknown_key_as_an_option(ws: Workspace, assignment: str, told: str) -> None:
    failed = show(ws, None, "--set", assignment).expect(2)
    assert (failed.stdout, told in failed.stderr) == ("", True)


# Broken files.


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("spawn: [\n", ":2:1: the settings are broken: "),
        ("- a\n", ":1:1: the settings are broken: "),
        ("spawn: {stdin: task, stdin: none}\n", ":1:22: the settings are broken: "),
        ("spawn:\n\tstdin: task\n", ":2:1: the settings are broken: "),
        (b"spawn: {stdin: \xff}\n", ":1: the settings are broken: "),
        ("spawn: [a]\n", ":1:8: the settings are broken: "),
        ("a: 1\n---\nb: 2\n", ": the settings are broken: "),
    ],
    ids=["syntax", "list", "twice", "tab", "not-utf-8", "wrong-group", "two-documents"],
)
def test_a_broken_file(ws: Workspace, content: str | bytes, place: str) -> None:
    path = ws.write("T/settings.yaml", content)
    failed = show(ws).expect(2)
    assert "tenant" not in {row["source"] for row in failed.json}  # the file counts for nothing
    assert failed.stderr.startswith(f"error: {path}")
    assert place in failed.stderr
    assert "  help: " in failed.stderr


def test_a_file_that_is_a_folder_or_leads_nowhere_is_not_passed_over(ws: Workspace) -> None:
    ws.write("T/settings.yaml/x", "")
    assert "the settings are broken" in show(ws).expect(2).stderr
    ws.path("T/settings.yaml/x").unlink()
    ws.path("T/settings.yaml").rmdir()
    ws.path("T/settings.yaml").symlink_to("gone.yaml")
    assert "the settings are broken" in show(ws).expect(2).stderr


def test_bundled_settings_that_lack_a_key(ws: Workspace) -> None:
    path = ws.write("B/settings.yaml", "spawn: {stdin: none}\n")
    failed = show(ws).expect(2)
    assert failed.stderr == (
        f"error: {path}: `routing.fallback.generateTimeout` has no value\n"
        "  help: it must be a number of seconds above 0\n"
    )


def test_wrong_settings_end_every_command_that_needs_them(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    path = ws.settings(spawn__command="agent {task}")
    failed = ws.run("delegate", "fix tests").expect(2)
    assert failed.stderr == f"error: {path}:2:3: `spawn.command` must be {A_LIST}\n  help: {USE_A_LIST}\n"
    assert not ws.state.exists()


# The security boundary: a cloned repository brings recipes, and no settings.


@pytest.mark.parametrize(
    "name",
    [".vance/settings.yaml", "_vance/settings.yaml", ".vance/settings.json", "settings.yaml", ".vance/.env", ".env"],
)
def test_a_project_sets_nothing(ws: Workspace, name: str) -> None:
    ws.recipe("P/_vance/recipes/good.yaml" if "_vance" in name else "P/recipes/good.yaml", triggers=["fix tests"])
    evil = {"spawn": {"command": ["touch", "owned"]}, "routing": {"fallback": {"recipe": "evil"}}}
    ws.write(f"P/{name}", "VANCECTL_SPAWN__STDIN=none\n" if name.endswith(".env") else json.dumps(evil))
    assert {row["source"] for row in show(ws).expect().json} == {"bundled"}
    failed = ws.run("delegate", "fix tests").expect(3)
    assert failed.json["error"] == "the worker has no key to run the recipe with: set ANTHROPIC_API_KEY"
    assert not ws.path("P/owned").exists()


def test_settings_in_project_yaml_are_without_effect_and_warned_of(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    path = ws.write(
        "P/project.yaml",
        "id: p\nspawn: {command: [touch, owned]}\nselector: {backend: command, command: [touch, owned]}\n"
        "routing.fallback.recipe: evil\nsettings: {spawn: {command: [touch, owned]}}\n",
    )
    assert {row["source"] for row in show(ws).expect().json} == {"bundled"}
    failed = ws.run("delegate", "fix tests").expect(3)
    assert failed.json["error"] == "the worker has no key to run the recipe with: set ANTHROPIC_API_KEY"
    assert f"{path}:2:1" in failed.stderr
    assert "a project has no settings" in failed.stderr
    assert not ws.path("P/owned").exists()


def test_a_recipe_s_fields_are_no_settings(ws: Workspace) -> None:
    evil = {"command": ["touch", "owned"], "env": {"PATH": "."}}
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], spawn=evil, params={"spawn.command": ["touch", "owned"]})
    ws.settings(spawn__command=["cat"])
    ws.run("delegate", "fix tests").expect()
    assert not ws.path("P/owned").exists()


def test_a_project_s_tenant_only_chooses_among_the_user_s_own(ws: Workspace) -> None:
    ws.write("P/project.yaml", "tenant: ../../project/.vance\n")
    ws.write("P/.vance/settings.yaml", "spawn: {command: [touch, owned]}\n")
    failed = show(ws).expect(2)
    assert "is no tenant's name" in failed.stderr


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("selector.bakend=off", "did you mean `selector.backend`?"),
        ("selector.timeout=abc", "`selector.timeout` in --set must be a number of seconds above 0"),
        ("limits.attempts=1e10", "`limits.attempts` in --set must be a whole number"),
        ("nonsense", "`--set nonsense` has no value"),
    ],
)
def test_what_is_given_is_checked_whatever_decides(ws: Workspace, assignment: str, said: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    assert said in ws.run("select", "fix tests", "--set", assignment).expect(2).stderr


def test_a_mistyped_variable_is_found_whatever_decides(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.env["VANCECTL_SELECTOR__BAKEND"] = "off"
    assert "did you mean VANCECTL_SELECTOR__BACKEND?" in ws.run("select", "fix tests").expect(2).stderr


def test_a_limit_beyond_all_waits_is_none(ws: Workspace) -> None:
    with MessagesServer() as server:
        ws.model(server)
        assert ws.run("select", "x", "--set", "selector.timeout=1e308").expect().json["reason"] == "model-none"


def test_secrets_of_programs_are_not_shown(ws: Workspace) -> None:
    secret = {"TOKEN": "s3cr3t", "PROXY": "http://me:s3cr3t@proxy/", "KEPT": "plain", "KEY": "{env.MY_KEY}"}
    ws.settings(spawn={"env": secret, "engines": {"ford": {"command": ["x"], "env": secret}}}, selector={"env": secret})
    shown = ws.run("settings", "show").expect()
    assert "s3cr3t" not in shown.stdout
    assert {row["key"]: row["value"] for row in shown.json}["spawn.env"] == {
        "TOKEN": "***", "PROXY": "http://me:***@proxy/", "KEPT": "plain", "KEY": "{env.MY_KEY}"
    }  # fmt: skip
