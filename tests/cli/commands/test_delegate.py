"""`vancectl delegate` at the prompt: words in, the result on stdout, everything else on stderr."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.messages_server import MessagesServer
from tests.workspace import Workspace


def good(ws: Workspace, *command: str, stdin: str = "task") -> None:
    ws.recipe("P/recipes/good.yaml", "Fix failing unit tests.", triggers=["fix tests"])
    ws.settings(spawn__command=list(command), spawn__stdin=stdin)


def for_people(ws: Workspace, *args: str, status: int = 0) -> list[str]:
    """The lines on a wide terminal, without their bold face and with one blank for several."""
    shown = ws.run("delegate", *args, tty=True, columns=200).expect(status).stdout
    assert shown.endswith("\n")
    return [" ".join(line.split()) for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()]


# Where the task comes from.


UNREAD = "warning: standard input holds something that is not read; `-` as the task or as --steer reads it\n"


@pytest.mark.parametrize(
    ("args", "stdin", "task"),
    [
        (["fix tests now"], None, "fix tests now"),
        (["fix", "tests", "now"], None, "fix tests now"),
        (["please", "fix tests", ""], None, "please fix tests "),
        (["-"], "fix tests\n", "fix tests"),
        (["-"], "fix tests\r\n", "fix tests"),
        (["-"], "\n fix tests\n\n", "\n fix tests\n"),
        (["-"], "\ufefffix tests", "fix tests"),
        (["--file", "task.txt"], None, "fix tests\nfrom a file"),
        (["--file", "-"], "fix tests\n", "fix tests"),
        (["--", "- fix tests in module a"], None, "- fix tests in module a"),
        (["--", "--help", "me", "fix tests"], None, "--help me fix tests"),
        (["--", "-"], "fix tests", "fix tests"),
        (["fix tests", "-"], "not read", "fix tests -"),
        (["fix tests", "--", "--now"], None, "fix tests --now"),
    ],
    ids=[
        "one-word", "words", "empty-word", "stdin", "stdin-crlf", "stdin-one-line-end", "stdin-bom",
        "file", "file-is-stdin", "dash", "like-an-option", "dash-alone", "dash-behind-words", "option-behind-words",
    ],
)  # fmt: skip
def test_the_task(ws: Workspace, args: list[str], stdin: str | bytes | None, task: str) -> None:
    good(ws, "cat")
    ws.write("P/task.txt", "\ufefffix tests\nfrom a file\n")
    done = ws.run("delegate", *args, stdin=stdin).expect()
    assert (done.json["recipe"], done.json["process"]["reply"]) == ("good", task)
    assert done.stderr == (UNREAD if stdin == "not read" else "")
    assert "".join(f"warning: {text}\n" for text in done.json["warnings"]) == done.stderr


@pytest.mark.parametrize("args", [["delegate", "--dry-run", "fix tests"], ["chat", "--dry-run", "hello"]])
def test_a_dry_run_names_a_pipe_that_is_not_read(ws: Workspace, args: list[str]) -> None:
    good(ws, "cat")
    dry = ws.run(*args, stdin="a diff\n").expect()
    assert dry.json["warnings"][-1].startswith("standard input holds something that is not read; `-` as the ")
    assert dry.stderr.count("standard input holds") == 1


@pytest.mark.parametrize(
    ("args", "stdin", "decision"),
    [
        ([""], None, ("NONE", "empty-task", 0)),
        (["   "], None, ("NONE", "empty-task", 0)),
        (["-"], "\n", ("NONE", "empty-task", 0)),
        (["fix", "tests", "now"], None, ("MATCH", "single-trigger", 0)),
        (["-"], "fix tests\n", ("MATCH", "single-trigger", 0)),
        (["--", "- fix tests in module a"], None, ("MATCH", "single-trigger", 2)),
        (["--", "--help me fix tests"], None, ("MATCH", "single-trigger", 10)),
    ],
    ids=["empty", "blank", "blank-stdin", "words", "stdin", "dash", "like-an-option"],
)
def test_select_reads_the_task_alike(
    ws: Workspace, messages: MessagesServer, args: list[str], stdin: str | None, decision: tuple[str, str, int]
) -> None:
    ws.model(messages)
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    selected = ws.run("select", *args, stdin=stdin).expect().json
    assert (selected["decision"], selected["reason"]) == decision[:2]
    assert [hit["start"] for hit in selected["matched"]] == ([] if selected["recipe"] is None else [decision[2]])
    assert messages.requests == []


def test_words_and_a_file(ws: Workspace) -> None:
    ws.write("P/task.txt", "fix tests")
    failed = ws.run("delegate", "--file", "task.txt", "fix tests").expect(2)
    assert failed.stdout == ""
    assert failed.stderr.startswith("error: the task is given twice, as words and with --file\n  help: leave one")


@pytest.mark.parametrize(
    ("path", "why"),
    [("gone.txt", "no such file or directory"), (".", "is a directory"), ("task.txt/x", "not a directory")],
)
def test_a_file_that_cannot_be_read(ws: Workspace, path: str, why: str) -> None:
    ws.write("P/task.txt", "fix tests")
    failed = ws.run("delegate", "--file", path).expect(2)
    assert (failed.stdout, failed.stderr) == (
        "",
        f"error: {path}: cannot be read: {why}\n  help: name a file, or `-`\n",
    )


def test_standard_input_that_is_closed(ws: Workspace) -> None:
    ws.command = ("sh", "-c", 'exec "$@" <&-', "sh", *ws.command)
    failed = ws.run("delegate", "-").expect(2)
    assert failed.stderr.startswith("error: standard input is closed\n  help: name a file, or pipe the text in\n")


def test_without_a_task(ws: Workspace) -> None:
    failed = ws.run("delegate").expect(2)
    assert (failed.stdout, failed.stderr) == (
        "",
        "error: the request has no `task`\n  help: say in plain words what is to be done, or name a recipe\n",
    )


def test_a_recipe_needs_no_task(ws: Workspace) -> None:
    good(ws, "cat", stdin="payload")
    assert ws.run("delegate", "--recipe", "good").expect().json["process"]["reply"]["task"] is None


@pytest.mark.parametrize("task", ["- fix tests in module a", "--fix tests", "-fix tests"])
@pytest.mark.parametrize("command", ["select", "delegate"])
def test_a_leading_dash_without_two_more(ws: Workspace, command: str, task: str) -> None:
    good(ws, "cat")
    failed = ws.run(command, task).expect(2)
    assert failed.stdout == ""
    assert failed.stderr.endswith("Hint: a task that begins with `-` goes behind `--`.\n")


@pytest.mark.parametrize(
    ("args", "settings"),
    [
        (["--name", "a", "fix tests"], {"spawn.preset": "none"}),
        (["--dry-run", "fix tests"], {"spawn.command": ["{oops}"]}),
        (["--recipe", "goood"], {}),
    ],
    ids=["nothing-configured", "wrong-command", "unknown-recipe"],
)
def test_an_error_that_has_nothing_to_do_with_dashes_gives_no_such_hint(
    ws: Workspace, args: list[str], settings: dict[str, object]
) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(settings)
    assert "Hint" not in ws.run("delegate", *args).expect(2).stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--timeout", "0"], "error: the time limit must be above 0 seconds"),
        (["--timeout", "-1"], "error: the time limit must be above 0 seconds"),
        (["--timeout", "nan"], "error: the time limit must be above 0 seconds"),
        (["--timeout", "inf"], "error: the time limit must be above 0 seconds"),
        (["--timeout", "soon"], "--timeout"),
        (["--nmae", "a"], "--name"),
    ],
)
def test_a_wrong_option(ws: Workspace, options: list[str], told: str) -> None:
    good(ws, "touch", "started")
    failed = ws.run("delegate", *options, "fix tests").expect(2)
    assert (failed.stdout, told in failed.stderr) == ("", True)
    assert not ws.path("P/started").exists()


# What is printed where.


def test_stdout_is_one_document_and_stderr_the_command_s_own(ws: Workspace) -> None:
    good(ws, "sh", "-c", "echo working... >&2; echo done; echo ouch >&2")
    ws.write("P/recipes/bad.yaml", "engine: ford\n")
    done = ws.run("delegate", "--profile", "web", "fix tests").expect()
    assert done.json["process"]["reply"] == "done\n"
    lines = done.stderr.splitlines()
    assert lines[:2] == ["working...", "ouch"]
    assert all(line.startswith("warning: ") for line in lines[2:])
    assert len(lines) == 4


@pytest.mark.parametrize("option", ["--quiet", "-q"])
def test_quiet_leaves_out_warnings_and_keeps_errors(ws: Workspace, option: str) -> None:
    good(ws, "sh", "-c", "echo ouch >&2; exit 1")
    failed = ws.run("delegate", option, "--profile", "web", "fix tests").expect(3)
    assert failed.json["warnings"] == ["the recipe `good` has no profile `web`; none is used"]
    identity = failed.json["process"]["id"]
    assert failed.stderr == (
        "ouch\nerror: the spawn command ended with status 1\n"
        f"  help: `vancectl processes logs {identity}` shows what it wrote\n"
    )


def test_a_quiet_dry_run_says_nothing(ws: Workspace) -> None:
    assert ws.run("delegate", "-q", "--dry-run", "use marvin for this").expect().stderr == ""


def test_the_output_s_line_end(ws: Workspace) -> None:
    good(ws, "true")
    stdout = ws.run("delegate", "fix tests").expect().stdout
    assert (stdout[0], stdout[-2:]) == ("{", "}\n")


def test_a_reader_that_goes_away(ws: Workspace) -> None:
    good(ws, "seq", "1", "300000")
    ws.command = ("sh", "-c", '"$@" | head -c 10', "sh", *ws.command)
    done = ws.run("delegate", "fix tests").expect()
    assert (done.stdout, done.stderr) == ('{\n  "versi', "")


def test_json_escapes_what_could_act_on_a_terminal(ws: Workspace) -> None:
    good(ws, "printf", "\x1b[31mred \u202eevil\x9b")
    done = ws.run("delegate", "--json", "fix tests", tty=True).expect()
    assert not set("\x1b\u202e\x9b") & set(done.stdout)
    assert done.json["process"]["reply"] == "\x1b[31mred \u202eevil\x9b"


# At a terminal.


def test_a_reply_for_people(ws: Workspace) -> None:
    good(ws, "printf", "first line\nsecond line")
    lines = for_people(ws, "--name", "a", "fix tests")
    assert lines[:2] == ["MATCH good", "engine ford"]
    assert lines[-4:] == ["process a", "", "first line", "second line"]


@pytest.mark.parametrize("reply", ["7", '{"a": 1}', "[]"])
def test_a_reply_that_is_no_text_for_people(ws: Workspace, reply: str) -> None:
    ws.write("P/answer", reply)
    good(ws, "cat", "answer")
    assert for_people(ws, "fix tests")[-2:] == ["", reply]


def test_none_with_a_fallback_for_people(ws: Workspace) -> None:
    good(ws, "echo", "done")
    lines = for_people(ws, "paint the fence")
    assert (lines[0], lines[-1]) == ("NONE —", "done")
    assert "fallback default (default-recipe)" in lines


def test_a_plan_for_people(ws: Workspace) -> None:
    good(ws, "agent", "--", "a b")
    assert for_people(ws, "--dry-run", "fix tests")[-1] == 'plan ["agent", "--", "a b"]'


def test_a_plan_without_a_command_for_people(ws: Workspace) -> None:
    ws.settings(spawn__preset="none")
    assert for_people(ws, "--dry-run", "use marvin for this")[-1] == "plan null"


def test_a_taken_name_for_people(ws: Workspace) -> None:
    good(ws, "true")
    ws.run("delegate", "--name", "a", "fix tests").expect()
    lines = for_people(ws, "--name", "a", "fix tests")
    assert {"process a already_exists", "existingStatus DONE"} <= set(lines)
    assert (
        "hint a process `a` exists in the session `default`; take another name to start another,"
        " or free this one with `vancectl processes remove a`" in lines
    )


def test_the_log_of_a_process_left_to_itself_for_people(ws: Workspace) -> None:
    good(ws, "true")
    assert [line for line in for_people(ws, "--no-wait", "fix tests") if line.startswith("log /")]


def test_a_reply_cannot_act_on_the_terminal(ws: Workspace) -> None:
    good(ws, "printf", "\x1b[2J\x1b]0;evil\x07 \u202e\x9b31m\ttab\nline")
    shown = ws.run("delegate", "fix tests", tty=True).expect().stdout
    assert shown.endswith("\\x1b[2J\\x1b]0;evil\\x07 \\u202e\\x9b31m\ttab\nline\n")


def test_an_error_at_a_terminal_comes_behind_the_decision(ws: Workspace) -> None:
    good(ws, "sh", "-c", "echo partial; exit 7")
    shown = ws.run("delegate", "fix tests", tty=True).expect(3)
    assert "MATCH" in shown.stdout
    assert shown.stdout.endswith("\npartial\n")
    assert shown.stderr.startswith("error: the spawn command ended with status 7\n")


# Strictness and help.


@pytest.mark.parametrize(("options", "status"), [([], 0), (["--strict"], 4)])
def test_strict(ws: Workspace, options: list[str], status: int) -> None:
    good(ws, "true")
    done = ws.run("delegate", *options, "paint the fence").expect(status)
    assert (done.json["decision"], done.json["reason"]) == ("NONE", "no-key")


def test_help_names_every_option(ws: Workspace) -> None:
    text = ws.run("delegate", "--help").expect().stdout
    options = [
        "--file", "--request", "--name", "--recipe", "--engine", "--title", "--steer", "--param", "--profile",
        "--session", "--no-fallback", "--no-wait", "--timeout", "--dry-run", "--model", "--json", "--strict", "--set",
    ]  # fmt: skip
    assert [option for option in options if option not in text] == []


def test_the_module_runs_as_the_command_does(ws: Workspace) -> None:
    good(ws, "cat")
    ws.command = (ws.command[0].replace("vancectl", "python"), "-m", "vancectl")
    assert ws.run("delegate", "fix tests").expect().json["process"]["reply"] == "fix tests"


def test_a_command_does_not_wait_for_a_standard_input_that_stays_open(ws: Workspace) -> None:
    good(ws, "cat", stdin="none")
    running = ws.start("delegate", "fix tests", stdin=subprocess.PIPE)
    running.wait(timeout=10)
    assert "reply" not in ws.finish(running).expect().json["process"]


def test_standard_input_is_material_beside_the_task(ws: Workspace) -> None:
    good(ws, "cat")
    ws.settings(spawn__stdin="prompt")
    done = ws.run("delegate", "--recipe", "good", "--steer", "-", "say what this changes", stdin="+ a line\n").expect()
    assert done.json["process"]["reply"].endswith("say what this changes\n\n+ a line\n\n")
    assert done.stderr == ""
    refused = ws.run("delegate", "--steer", "-", "-", stdin="x").expect(2)
    assert "standard input is to be read twice" in refused.stderr


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ("3.10", "3.10"), ("1e3", "1e3"), ("-0", "-0"), ("007", "007"), ("1.0", 1.0), ("3.1", 3.1),
        ("7", 7), ("true", True),
        ('{"a": 1}', {"a": 1}), ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'), ("[" * 2000, "[" * 2000), ("NaN", "NaN"),
        ('"3.10"', "3.10"), (" 7 ", 7),
    ],
)  # fmt: skip
def test_a_param_is_what_its_author_wrote(ws: Workspace, given: str, param: object) -> None:
    good(ws, "cat")
    planned = ws.run("delegate", "--dry-run", "--recipe", "good", "--param", f"python={given}").expect().json["plan"]
    found = planned["payload"]["appliedRecipe"]["params"]["python"]
    assert (found, type(found)) == (param, type(param))
