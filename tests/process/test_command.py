"""The spawn command's template: placeholders become arguments, one for one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace import Workspace
from vancectl.errors import SettingsError, UsageError
from vancectl.process.command import PLACEHOLDERS, CommandTemplate, cautions, check_template, fill, uses

VALUES = {name: f"the {name}" for name in PLACEHOLDERS}


def template(*argv: str, stdin: str = "none", chosen: bool = True) -> CommandTemplate:
    return CommandTemplate(argv, stdin, {}, None, "spawn.command", "the file", chosen)


def filled(part: str, params: dict[str, Any] | None = None, **values: str) -> str:
    made = template("agent", part)
    check_template(made)
    program, argument = (each.text for each in fill(made, VALUES | values, params or {}))
    assert program == "agent"
    return argument


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_each_placeholder(name: str) -> None:
    assert filled(f"{{{name}}}") == f"the {name}"
    assert filled(f"--x={{{name}}}!") == f"--x=the {name}!"


@pytest.mark.parametrize(
    ("part", "argument"),
    [
        ("task={task}", 'task=a=b, c  "d"\n$HOME; {recipe} {{x}} %s \\n'),
        ("{task}", 'a=b, c  "d"\n$HOME; {recipe} {{x}} %s \\n'),
        ("{recipe}/{engine}", "good/ford"),
        ("{recipe}{recipe}", "goodgood"),
        ("{{task}}", "{task}"),
        ("{{{recipe}}}", "{good}"),
        ("{{{{", "{{"),
        ('{{"task": 1}}', '{"task": 1}'),
        ("plain $HOME `id` *", "plain $HOME `id` *"),
        ("", ""),
    ],
)
def test_values_are_neither_split_nor_looked_at_again(part: str, argument: str) -> None:
    task = 'a=b, c  "d"\n$HOME; {recipe} {{x}} %s \\n'
    assert filled(part, task=task, recipe="good", engine="ford") == argument


@pytest.mark.parametrize(
    ("value", "argument"),
    [
        ("a b", "a b"),
        ("", ""),
        (3, "3"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        (["a", "ü"], '["a", "ü"]'),
        ({"k": {"n": 1}}, '{"k": {"n": 1}}'),
        ("{task}", "{task}"),
    ],
    ids=repr,
)
def test_params_in_the_command(value: object, argument: str) -> None:
    assert filled("--p={params.key}", {"key": value}) == f"--p={argument}"


def test_a_param_s_name_may_hold_anything_but_braces() -> None:
    assert filled("{params.a.b c-d}", {"a.b c-d": "x"}) == "x"


def test_a_param_that_the_recipe_does_not_have() -> None:
    with pytest.raises(UsageError, match=r"`spawn\.command` wants the param `modle`, which the recipe does not have"):
        filled("{params.modle}", {"model": "x"})


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("{tsak}", "did you mean {task}?"),
        ("{Task}", "did you mean {task}?"),
        ("{payloadfile}", "did you mean {payload_file}?"),
        ("x{ task }", "did you mean {task}?"),
        ("{path}", ""),
        ("{}", ""),
        ("{0}", ""),
        ("{params.}", ""),
        ("{params}", ""),
        ("{task!r}", "did you mean {task}?"),
        ("{", ""),
        ("}", ""),
        ("{task", ""),
        ("task}", ""),
        ("{{task}", ""),
        ("{{{task}}", ""),
        ('{"task": 1}', ""),
    ],
)
def test_no_placeholder(part: str, told: str) -> None:
    with pytest.raises(SettingsError, match=r"`spawn\.command` in the file holds the unknown placeholder") as caught:
        check_template(template("agent", part))
    assert told in caught.value.remedy
    assert "`{{` gives a literal brace" in caught.value.remedy


@pytest.mark.parametrize("program", ["{recipe}", "agents/{recipe}", "{params.program}", "{nonsense}"])
def test_the_program_itself_is_no_placeholder(program: str) -> None:
    with pytest.raises(SettingsError, match="so that a recipe could choose what is run"):
        check_template(template(program, "{task}"))


def test_a_literal_brace_in_the_program_s_name() -> None:
    assert [each.text for each in fill(template("run{{1}}"), VALUES, {})] == ["run{1}"]


@pytest.mark.parametrize(
    ("part", "used"),
    [("{task}", True), ("--t={task}", True), ("{{task}}", False), ("{{{task}}}", True), ("task", False)],
)
def test_which_placeholders_are_used(part: str, used: bool) -> None:
    assert uses(template("agent", part), "task") is used


@pytest.mark.parametrize(
    ("argv", "warned"),
    [
        (["agent", "-p", "{task}"], True),
        (["agent", "{task} now"], True),
        (["agent", "--", "{task}"], False),
        (["agent", "--task={task}"], False),
        (["agent", "task {task}"], False),
        (["agent", "{{task}}"], False),
        (["agent", "-p", "{recipe}"], False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_task_that_could_be_taken_for_an_option(argv: list[str], warned: bool) -> None:
    made = template(*argv)
    found = cautions(made, fill(made, VALUES | {"task": "--dangerous"}, {}))
    assert [('put "--" before it in spawn.command' in text) for text in found] == [True] * warned
    assert cautions(made, fill(made, VALUES, {})) == []


# At the prompt.


def test_an_argument_exactly_as_the_task(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["goose", "run", "--params", "task={task}"], spawn__stdin="none")
    plan = ws.run("delegate", "--dry-run", 'fix tests: a=b, c  "d"').expect().json["plan"]
    assert plan["argv"] == ["goose", "run", "--params", 'task=fix tests: a=b, c  "d"']


def test_a_task_that_begins_with_a_dash_is_one_argument_and_warned_of(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.program("claude", "")
    ws.settings(spawn__command=["claude", "-p", "{task}"], spawn__stdin="none")
    task = "--dangerously-skip-permissions and fix tests"
    planned = ws.run("delegate", "--dry-run", "--", task).expect()
    assert planned.json["plan"]["argv"] == ["claude", "-p", task]
    assert planned.stderr == (
        "warning: the argument for `{task}` begins with `-`, so that the program may take it for an option; "
        'put "--" before it in spawn.command\n'
    )
    ws.settings(spawn__command=["claude", "-p", "--", "{task}"])
    assert ws.run("delegate", "--dry-run", "--", task).expect().stderr == ""


def test_every_placeholder_on_the_way_to_a_real_program(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", params={"n": 2}, profiles={"web": {"params": {"deep": [1, "ü"]}}})
    ws.write("P/project.yaml", "id: my-project\n")
    names = [name for name in PLACEHOLDERS if not name.endswith("_file") and not name.startswith("source_")]
    ws.program("show", 'for argument; do printf "[%s]" "$argument"; done')
    ws.settings(
        spawn__command=["show", *(f"{{{name}}}" for name in names), "{params.n}", "{params.deep}"], spawn__stdin="none"
    )
    done = ws.run(
        "delegate", "--recipe", "good", "--name", "n 1", "--title", "", "--session", "s", "--profile", "web", "a  b"
    ).expect()
    shown = done.json["process"]["reply"].removeprefix(f"[{done.json['process']['id']}]")
    assert shown == '[n 1][good][ford][a  b][a  b][][s][my-project][default][web][2][[1, "ü"]]'


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["agent", "{tsak}"], "did you mean {task}?"),
        (["agent", "{"], "`{{` gives a literal brace"),
        (["{recipe}"], "name the program"),
    ],
    ids=["unknown", "lone-brace", "program"],
)
def test_a_wrong_command_keeps_the_decision(ws: Workspace, command: list[str], told: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=command)
    for mode in ([], ["--dry-run"], ["--no-wait"]):
        failed = ws.run("delegate", *mode, "fix tests").expect(2)
        assert (failed.json["decision"], failed.json["recipe"]) == ("MATCH", "good")
        assert str(ws.path("T/settings.yaml")) in failed.json["error"]
        assert told in failed.stderr
    assert not (ws.state / "processes.sqlite3").exists()


def test_a_missing_param_keeps_the_decision_and_the_name(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["echo", "{params.model}"], spawn__stdin="none")
    failed = ws.run("delegate", "--name", "a", "fix tests").expect(2)
    assert failed.json["recipe"] == "good"
    assert failed.stderr == (
        "error: `spawn.command` wants the param `model`, which the recipe does not have\n"
        "  help: give it with --param model=VALUE, or in the recipe\n"
    )
    done = ws.run("delegate", "--name", "a", "--param", "model=big", "fix tests").expect()
    assert done.json["process"]["reply"] == "big\n"


def test_an_engine_s_command_is_named_in_its_errors(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings({"spawn.engines": {"ford": {"command": ["echo", "{tsak}"]}}})
    failed = ws.run("delegate", "fix tests").expect(2)
    assert "`spawn.engines.ford.command` in" in failed.stderr


def test_a_shell_is_never_asked(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["printf", "%s", "$(touch owned) {task} > owned; `touch owned`"], spawn__stdin="none")
    done = ws.run("delegate", "fix tests; touch owned").expect()
    assert done.json["process"]["reply"] == "$(touch owned) fix tests; touch owned > owned; `touch owned`"
    assert not ws.path("P/owned").exists()


def test_a_dry_run_names_files_that_it_does_not_write(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["agent", "{payload_file}", "{prompt_file}"], spawn__stdin="none")
    argv = ws.run("delegate", "--dry-run", "fix tests").expect().json["plan"]["argv"]
    assert argv == ["agent", "<process folder>/payload.json", "<process folder>/prompt.txt"]
    assert not (ws.state / "processes.sqlite3").exists()
