"""`vancectl select` at the prompt: where the task comes from, what is printed, and what the exit status says."""

import json
import os
import shlex
import signal
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace


@pytest.fixture
def ready(ws: Workspace) -> Workspace:
    """A workspace with two recipes that a phrase finds, and no model to ask."""
    ws.recipe("P/recipes/good.yaml", "Fix failing tests.", triggers=["fix tests"])
    ws.recipe("P/recipes/py.yaml", "Run snakes.", engine="hactar", triggers=["run snake"])
    return ws


def recipe_of(result: Result) -> Any:
    return result.expect(0).json["recipe"]


# Where the task comes from.


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(["fix tests"], id="one-argument"),
        pytest.param(["fix", "tests", "now"], id="words"),
        pytest.param(["--", "fix tests"], id="behind-a-double-dash"),
        pytest.param(["--", "- fix tests in module a"], id="a-dash-first"),
        pytest.param(["--", "--help me fix tests"], id="an-option-first"),
        pytest.param(["please", "--json", "fix", "tests"], id="an-option-between"),
        pytest.param(["FIX  TESTS"], id="case-and-blanks"),
        pytest.param(["fix\ntests"], id="a-line-break"),
        pytest.param(["caf\udce9: fix tests"], id="not-utf-8"),
        pytest.param(["fix tests 🙂"], id="emoji"),
    ],
)
def test_words(ready: Workspace, args: list[str]) -> None:
    assert recipe_of(ready.run("select", *args)) == "good"


@pytest.mark.parametrize(
    ("stdin", "end"),
    [
        pytest.param(b"fix tests", 9, id="no-line-end"),
        pytest.param(b"fix tests\n", 9, id="line-end"),
        pytest.param(b"fix\r\ntests\r\n", 10, id="windows-line-ends"),
        pytest.param(b"\xef\xbb\xbffix tests", 9, id="byte-order-mark"),
        pytest.param("fix tests ä".encode("utf-16"), 9, id="utf-16"),
        pytest.param(b"fix tests" + b" and more" * 100_000, 9, id="long"),
    ],
)
def test_standard_input_and_files(ready: Workspace, stdin: bytes, end: int) -> None:
    ready.write("P/task.txt", stdin)
    for result in (
        ready.run("select", "-", stdin=stdin),
        ready.run("select", "--file", "task.txt"),
        ready.run("select", "--file", "-", stdin=stdin),
    ):
        assert recipe_of(result) == "good"
        assert result.json["matched"][0]["end"] == end


def test_a_dash_among_words_is_a_word(ready: Workspace) -> None:
    assert recipe_of(ready.run("select", "fix tests", "-", "now", stdin="run snake")) == "good"


def test_empty_standard_input_is_a_blank_task(ready: Workspace) -> None:
    assert ready.run("select", "-").expect(0).json["reason"] == "empty-task"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        pytest.param([], "there is no task", id="nothing"),
        pytest.param(["--file", "task.txt", "fix"], "the task is given twice, as words and with --file", id="twice"),
        pytest.param(["--batch", "task.txt", "fix"], "a task and --batch are both given", id="batch-and-words"),
        pytest.param(["--batch", "-", "--file", "task.txt"], "a task and --batch are both given", id="batch-and-file"),
        pytest.param(["--file", "gone.txt"], "gone.txt: cannot be read: no such file or directory", id="no-such-file"),
        pytest.param(["--file", ".vance"], ".vance: cannot be read: is a directory", id="a-folder"),
        pytest.param(["fix", "--set", "selector.timeout"], "`--set selector.timeout` has no value", id="no-value"),
        pytest.param(["fix", "--set", "selector.timeout=soon"], "`selector.timeout` in --set must be", id="no-number"),
    ],
)
def test_misuse_ends_with_two_and_a_remedy(ready: Workspace, args: list[str], error: str) -> None:
    ready.write("P/task.txt", "fix tests")
    result = ready.run("select", *args).expect(2)
    first, second = result.stderr.splitlines()
    assert first.startswith(f"error: {error}")
    assert second.startswith("  help: ")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("gone.txt", "gone.txt: cannot be read: no such file or directory"),
        (".vance", ".vance: cannot be read: is a directory"),
    ],
)
def test_a_batch_that_cannot_be_read(ready: Workspace, file: str, error: str) -> None:
    assert ready.run("batch", file).expect(2).stderr.startswith(f"error: {error}")


def test_a_task_that_looks_like_an_option_is_explained(ready: Workspace) -> None:
    result = ready.run("select", "-fix tests").expect(2)
    assert "Hint: a task that begins with `-` goes behind `--`." in result.stderr


@pytest.mark.parametrize("args", [["select", "-"], ["select", "--file", "-"], ["batch", "-"]], ids=" ".join)
def test_closed_standard_input(ready: Workspace, args: list[str]) -> None:
    ready.command = ("/bin/sh", "-c", f'exec {shlex.quote(ready.command[0])} "$@" <&-', "sh")
    result = ready.run(*args).expect(2)
    assert result.stderr.startswith("error: standard input is closed\n  help: ")


# What is printed, and the exit status.


def test_json_in_a_pipe_and_facts_at_a_terminal(ready: Workspace) -> None:
    assert ready.run("select", "run snake").expect(0).json == ready.run("select", "--json", "run snake", tty=True).json
    shown = ready.run("select", "run snake", tty=True, env={"NO_COLOR": "1", "TERM": "dumb"}).expect(0).stdout
    facts = dict(line.split(maxsplit=1) for line in shown.splitlines() if not line.startswith(" "))
    assert facts["MATCH"].strip() == "py"
    assert facts["engine"].strip() == "hactar"
    assert facts["triggers"].strip() == "py: “run snake”"


def test_nothing_acts_on_the_terminal(ready: Workspace) -> None:
    ready.recipe("P/recipes/odd.yaml", triggers=["odd\x1b]0;phrase\x07"])
    shown = (
        ready.run("select", "odd\x1b]0;phrase\x07", tty=True, env={"NO_COLOR": "1", "TERM": "dumb"}).expect(0).stdout
    )
    assert "MATCH" in shown
    assert not set(shown) & {"\x1b", "\x07"}


@pytest.mark.parametrize(
    ("args", "status"),
    [
        pytest.param(["fix tests"], 0, id="match"),
        pytest.param(["fix tests", "--exit-code", "--strict"], 0, id="match-asked-about"),
        pytest.param(["neither"], 0, id="none"),
        pytest.param(["neither", "--exit-code"], 1, id="none-asked-about"),
        pytest.param(["neither", "--strict"], 4, id="unanswered"),
        pytest.param(["neither", "--strict", "--exit-code"], 4, id="unanswered-comes-first"),
        pytest.param(["", "--strict"], 0, id="blank-is-answered"),
        pytest.param(["", "--strict", "--exit-code"], 1, id="blank-is-none"),
    ],
)
def test_exit_status(ready: Workspace, args: list[str], status: int) -> None:
    result = ready.run("select", *args).expect(status)
    assert result.json["decision"] in {"MATCH", "NONE"}
    assert result.stderr == ""


def test_quiet_keeps_the_decision(ready: Workspace) -> None:
    ready.write("P/recipes/broken.yaml", "description: [\n")
    assert "warning: broken recipe left out: " in ready.run("select", "fix tests").expect(0).stderr
    quiet = ready.run("select", "--quiet", "fix tests").expect(0)
    assert (quiet.stderr, len(quiet.json["warnings"])) == ("", 1)


def test_a_task_of_bytes_that_are_no_text_reaches_the_model_replaced(
    ready: Workspace, messages: MessagesServer
) -> None:
    ready.model(messages)
    messages.reply(scripted.match("good"))
    assert recipe_of(ready.run("select", "look over caf\udce9")) == "good"
    assert '"look over caf\ufffd"' in messages.requests[0].body["messages"][0]["content"][1]["text"]


# Many tasks.


def test_batch_of_lines_and_objects(ready: Workspace) -> None:
    lines = [
        '{"id": "a", "task": "fix tests"}',
        "run snake",
        '  {"task": "RUN SNAKE", "id": 7, "note": "kept out"}',
        '{"task": "fix tests", "id": null}',
        "neither",
        '"fix tests" in quotes',
        "[fix tests]",
    ]
    decisions = ready.run("batch", "-", stdin="\n".join(lines)).expect(0).jsonl
    assert [decision["recipe"] for decision in decisions] == ["good", "py", "py", "good", None, "good", "good"]
    assert [decision.get("id", "-") for decision in decisions] == ["a", "-", 7, None, "-", "-", "-"]
    assert decisions[1]["matched"] == [{"recipe": "py", "phrase": "run snake", "start": 0, "end": 9}]
    assert list(decisions[0])[:2] == ["id", "version"]
    assert list(decisions[1])[:2] == ["line", "version"]
    assert [decision.get("line") for decision in decisions] == [None, 2, None, None, 5, 6, 7]
    assert "note" not in decisions[2]


def test_batch_answers_as_a_single_task_is_answered(ready: Workspace) -> None:
    ready.recipe("P/recipes/odd.yaml", triggers=["1000000000000000", "straße", "é"])
    tasks = ["fix tests", "1000000000000000 in der STRASSE", "🙂 STRASSE e\u0301", "neither", "fix tests, run snake"]
    decisions = ready.run("batch", "-", stdin="\n".join(tasks)).expect(0).jsonl
    assert [decision.pop("line") for decision in decisions] == [1, 2, 3, 4, 5]
    assert decisions == [ready.run("select", task).expect(0).json for task in tasks]


def test_batch_from_a_file(ready: Workspace) -> None:
    ready.write("P/tasks.txt", b"\xef\xbb\xbffix tests\r\n\r\nrun snake\r\n   \r\nneither")
    decisions = ready.run("batch", "tasks.txt").expect(0).jsonl
    assert [decision["recipe"] for decision in decisions] == ["good", None, "py", None, None]
    assert [decision["reason"] for decision in decisions] == [
        "single-trigger", "empty-task", "single-trigger", "empty-task", "no-key",
    ]  # fmt: skip
    assert decisions[0]["matched"][0]["end"] == 9


@pytest.mark.parametrize("text", ["", "\n"], ids=["empty", "one-line-end"])
def test_batch_of_nothing(ready: Workspace, text: str) -> None:
    decisions = ready.run("batch", "-", stdin=text).expect(0).jsonl
    assert [decision["reason"] for decision in decisions] == ["empty-task"] * text.count("\n")


BAD_LINES = {
    "not-json": ('{"task": "fix tests"', "not JSON ("),
    "no-task": ('{"id": 1}', "the object has no text `task`"),
    "task-is-no-text": ('{"task": 5}', "the object has no text `task`"),
    "task-is-a-list": ('{"task": ["fix tests"]}', "the object has no text `task`"),
    "nested-too-deeply": ('{"task": "fix tests", "id": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
    "id-is-no-number": ('{"task": "fix tests", "id": NaN}', ""),
    "id-is-without-end": ('{"task": "fix tests", "id": 1e999}', ""),
    "too-many-digits": ('{"task": "fix tests", "id": ' + "9" * 10_000 + "}", ""),
}


@pytest.mark.parametrize(("line", "error"), [pytest.param(*row, id=name) for name, row in BAD_LINES.items()])
def test_a_bad_line_is_said_in_its_place(ready: Workspace, line: str, error: str) -> None:
    result = ready.run("batch", "-", stdin=f"run snake\n{line}\nfix tests\n").expect(2)
    first, bad, last = result.jsonl
    assert (first["recipe"], last["recipe"]) == ("py", "good")
    assert bad.keys() == {"line", "version", "error"}
    assert bad["error"].startswith(f"line 2: {error}")
    assert result.stderr == ""


def test_what_is_decided_does_not_wait_for_a_model(ready: Workspace, messages: MessagesServer) -> None:
    ready.model(messages)
    messages.reply(scripted.match("py"), scripted.hang())
    ready.write("P/tasks.txt", '{"task": "fix tests", "id": 1}\nfirst\nfix tests\nsecond\n')
    process = ready.start("batch", "tasks.txt", "--jobs", "1")
    assert process.stdout is not None
    answers = [json.loads(process.stdout.readline()) for _ in range(3)]
    assert [answer["recipe"] for answer in answers] == ["good", "py", "good"]
    os.killpg(process.pid, signal.SIGINT)
    assert ready.finish(process, timeout=10).expect(130).stdout == ""


def test_a_reader_that_goes_ends_the_run_quietly(ready: Workspace) -> None:
    ready.write("P/tasks.txt", "fix tests\n" * 50_000)
    near, far = os.pipe()
    process = ready.start("batch", "tasks.txt", stdout=far)
    os.close(far)
    os.read(near, 10)
    os.close(near)
    result = ready.finish(process, timeout=30).expect(141)
    assert result.stderr == ""


# Standard input that is not read.


@pytest.mark.parametrize("args", [["fix tests"], ["--file", "task.txt"]])
def test_a_pipe_that_is_not_read_is_named(ready: Workspace, args: list[str]) -> None:
    ready.write("P/task.txt", "fix tests")
    told = ready.run("select", *args, stdin="a diff\n").expect(0)
    text = "standard input holds something that is not read; `-` in place of the task reads it"
    assert (told.stderr, told.json["warnings"]) == (f"warning: {text}\n", [text])
    assert ready.run("select", *args, stdin="").expect(0).stderr == ""
    assert ready.run("select", *args, "--quiet", stdin="a diff\n").expect(0).stderr == ""


def test_a_pipe_without_a_task_says_what_reads_it(ready: Workspace) -> None:
    assert "`vancectl select -` reads it from standard input" in ready.run("select", stdin="x").expect(2).stderr
    assert "say it in words" in ready.run("select", stdin="").expect(2).stderr


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(ready: Workspace) -> None:
    process = ready.start("select", "fix tests", stdin=-1)
    assert process.wait(20) == 0
