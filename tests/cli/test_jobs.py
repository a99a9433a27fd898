"""Many tasks in one run: several at a time, equal ones once, in order, written as they come, and taken up again."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.messages_server import MessagesServer, answer, delay, hang, match, none, status
from tests.routes.answerer import answers, task_of
from tests.workspace import Workspace


@pytest.fixture
def shop(ws: Workspace, messages: MessagesServer) -> Workspace:
    for name in ("sell", "buy"):
        ws.recipe(f"P/own/{name}.yaml", f"We {name} things.")
    ws.recipe("P/own/trigger.yaml", triggers=["trigger it"])
    ws.model(messages)
    return ws


def decided(lines: list[dict[str, str]]) -> list[str]:
    return [line.get("recipe") or line["reason"] for line in lines]


def asked(server: MessagesServer) -> list[str]:
    return sorted(task_of(request.body) for request in server.requests)


def test_jobs_ask_at_the_same_time_and_keep_the_order(shop: Workspace, messages: MessagesServer) -> None:
    tasks = [f"{'sell' if number % 3 else 'buy'} {number}" for number in range(128)]
    # The first answers come last.
    messages.reply(delay(1.0, answers(lambda task: task.split()[0])), delay(0.3, answers(lambda task: task.split()[0])))
    lines = "\n".join(tasks)
    result = shop.run("batch", "--recipes", "own", "-", "--jobs", "64", stdin=lines).expect(0)
    assert decided(result.jsonl) == [task.split()[0] for task in tasks]
    assert messages.peak >= 60
    assert asked(messages) == sorted(tasks)


def test_one_job_asks_one_task_at_a_time(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(delay(0.05, none()))
    shop.run("batch", "--recipes", "own", "-", "--jobs", "1", stdin="a\nb\nc\n").expect(0)
    assert messages.peak == 1
    assert [task_of(request.body) for request in messages.requests] == ["a", "b", "c"]


def test_equal_tasks_are_asked_once_and_keep_their_ids(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(delay(0.1, match("sell")))
    lines = "".join(json.dumps({"id": number, "task": f"task {number % 2}"}) + "\n" for number in range(10))
    result = shop.run("batch", "--recipes", "own", "-", stdin=lines + "task 1\ntrigger it\n\n").expect(0)
    assert [line.get("id") for line in result.jsonl] == [*range(10), None, None, None]
    assert decided(result.jsonl) == ["sell"] * 11 + ["trigger", "empty-task"]
    assert asked(messages) == ["task 0", "task 1"]


def test_each_shortlist_stays_with_its_task(ws: Workspace, messages: MessagesServer) -> None:
    """Questions are put together at the same time: none may get the inventory of another."""
    for number in range(60):
        ws.recipe(f"P/own/kind{number}.yaml", f"Deals with kind{number} only.")
    ws.model(messages)
    messages.reply(answers(lambda task: task.split()[-1]))
    tasks = [f"deal with kind{number % 60}" for number in range(60)]
    options = ("--recipes", "own", "--set", "routing.recipeListLimit=2", "--jobs", "32")
    result = ws.run("batch", *options, "-", stdin="\n".join(tasks)).expect(0)
    assert decided(result.jsonl) == [task.split()[-1] for task in tasks]


def test_answers_go_out_while_the_input_stays_open(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(delay(0.1, match("sell")))
    process = shop.start("batch", "--recipes", "own", "-", stdin=-1)
    assert process.stdin is not None
    assert process.stdout is not None
    for task in (b"one\n", b"trigger it\n", b"two\n"):
        process.stdin.write(task)
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert answer["recipe"] == ("trigger" if task.startswith(b"trigger") else "sell")
    process.stdin.close()
    process.stdin = None
    shop.finish(process)


def test_ctrl_c_leaves_what_is_done_and_resume_goes_on(shop: Workspace, messages: MessagesServer) -> None:
    tasks = [f"task {number}" for number in range(20)]
    shop.write("P/tasks.txt", "".join(task + "\n" for task in tasks))
    with MessagesServer() as server:
        # The second answer is slow: what was decided after it must not be lost. From the eighth on, none comes.
        slow, never = delay(1.5, match("sell")), hang(60)
        behaviours = {"task 1": slow, **{task: match("sell") for task in tasks[2:7]}, "task 0": match("sell")}
        server.reply(answer(lambda body: behaviours.get(task_of(body), never)))
        shop.model(server)
        options = ("--recipes", "own", "tasks.txt", "--jobs", "4", "--output", "answers.jsonl")
        process = shop.start("batch", *options)
        server.wait_for(8)
        os.killpg(process.pid, signal.SIGINT)
        result = shop.finish(process, timeout=20)
        assert result.status == 130, result
        assert result.stdout == ""
        first = asked(server)
    written = shop.path("P/answers.jsonl").read_bytes()
    assert written.count(b"\n") == 7
    assert written.endswith(b"\n")
    shop.model(messages)
    messages.reply(match("buy"))
    assert "holds answers already" in shop.run("batch", *options).expect(2).stderr
    assert shop.path("P/answers.jsonl").read_bytes() == written
    shop.run("batch", *options, "--resume").expect(0)
    lines = [json.loads(line) for line in shop.path("P/answers.jsonl").read_text().splitlines()]
    done = written.count(b"\n")
    assert shop.path("P/answers.jsonl").read_bytes().startswith(written)
    assert len(lines) == len(tasks)
    assert decided(lines)[done:] == ["buy"] * (len(tasks) - done)
    assert asked(messages) == sorted(tasks[done:])
    assert set(first) >= set(tasks[:done])
    # Nothing is left to do; what was found before still decides the status.
    shop.run("batch", *options, "--resume").expect(0)
    assert len(messages.requests) == len(tasks) - done


def test_half_a_line_is_decided_again(shop: Workspace, messages: MessagesServer) -> None:
    shop.write("P/tasks.txt", "trigger it\n{bad\nask\ntrigger it\n")
    options = ("--recipes", "own", "tasks.txt", "--output", "answers.jsonl")
    messages.reply(none())
    shop.run("batch", *options, "--exit-code").expect(2)
    whole = shop.path("P/answers.jsonl").read_bytes()
    shop.write("P/answers.jsonl", whole[:-30])
    assert shop.run("batch", *options, "--resume", "--exit-code").expect(2).stderr.count("warning") == 0
    assert shop.path("P/answers.jsonl").read_bytes() == whole
    assert len(messages.requests) == 1
    shop.write("P/tasks.txt", "trigger it\n")
    told = shop.run("batch", *options, "--resume").expect(2).stderr
    assert "answers.jsonl:3: the answer is to a task that tasks.txt does not hold: what was line 3" in told
    assert shop.path("P/answers.jsonl").read_bytes() == whole
    shop.write("P/answers.jsonl", "no answer\n")
    assert "answers.jsonl:1: the line is no answer" in shop.run("batch", *options, "--resume").expect(2).stderr
    assert shop.path("P/answers.jsonl").read_bytes() == b"no answer\n"


@pytest.mark.parametrize(
    "options", [("--resume",), ("--output", "x"), ("--template", "{{ item.x }}"), ("--via", "batches")]
)
def test_options_of_a_batch_are_for_a_batch(shop: Workspace, options: tuple[str, ...]) -> None:
    assert "belong to a batch" in shop.run("select", *options, "a task").expect(2).stderr


def test_a_refused_batch_waits_together(shop: Workspace, messages: MessagesServer) -> None:
    """A server that takes two questions a time and refuses the rest: all get their answer, nobody runs out of calls."""
    messages.reply(*[none(), none(), *[status(429, headers={"retry-after": "0.2"})] * 6] * 2, none())
    started = time.monotonic()
    tasks = "\n".join(f"task {number}" for number in range(30))
    result = shop.run("batch", "--recipes", "own", "-", "--jobs", "8", "--strict", stdin=tasks).expect(0)
    assert decided(result.jsonl) == ["model-none"] * 30
    assert time.monotonic() - started < 20


def test_a_server_that_only_refuses_does_not_hold_us_for_ever(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(status(429, headers={"retry-after": "0.2"}))
    options = ("--recipes", "own", "-", "--jobs", "4", "--set", "selector.timeout=1")
    result = shop.run("batch", *options, stdin="a\nb\nc\nd\n", timeout=30).expect(0)
    assert decided(result.jsonl) == ["rate-limited"] * 4


def test_a_template_is_decided_once(shop: Workspace, messages: MessagesServer) -> None:
    items = [{"title": "Faust", "id": 1}, {"title": 7, "id": 2}, {"name": "x"}, {"title": "trigger it"}]
    lines = "".join(json.dumps(item) + "\n" for item in items)
    messages.reply(match("sell"))
    options = ("--recipes", "own", "-", "--template", "Summarise {{ item.title }} as {short text}")
    result = shop.run("batch", *options, stdin=lines).expect(2).jsonl
    assert asked(messages) == ["Summarise {{ item.title }} as {short text}"]
    assert [line.get("recipe") for line in result] == ["sell", "sell", None, "sell"]
    assert [line.get("task") for line in result[:2]] == [
        "Summarise Faust as {short text}",
        "Summarise 7 as {short text}",
    ]
    assert [line.get("id") for line in result] == [1, 2, None, None]
    assert "no text or number `title`" in result[2]["error"]


def test_a_template_without_a_match_leaves_each_item_to_itself(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(answers(lambda task: "buy" if "Faust" in task else None))
    lines = '{"title": "Faust"}\n{"title": "Hamlet"}\n{"title": "trigger it"}\n{"title": "Faust"}\n'
    options = ("--recipes", "own", "-", "--template", "Summarise {{ item.title }}")
    result = shop.run("batch", *options, stdin=lines).expect(0).jsonl
    assert decided(result) == ["buy", "model-none", "trigger", "buy"]
    assert asked(messages) == ["Summarise Faust", "Summarise Hamlet", "Summarise {{ item.title }}"]


@pytest.mark.parametrize(
    ("template", "error", "help_"),
    [
        ("Summarise", "has no field", "--template 'Summarise {{ item.title }}'"),
        ("Summarise {title}", "`{title}` is no field of a template", "write `{{ item.title }}`, as in a plan"),
        ("Summarise {{ title }}", "the template has `{{ title }}`", "write `{{ item.NAME }}`"),
        ("{% if item.x %}{{ item.x }}{% endif %}", "the template has `{% if item.x %}`", "`vancectl plan` knows"),
        ("{{ item.title | upper }}", "the template has `{{ item.title | upper }}`", "`vancectl plan` knows"),
    ],
)
def test_a_template_in_another_grammar_is_refused(shop: Workspace, template: str, error: str, help_: str) -> None:
    said = shop.run("batch", "-", "--template", template, stdin="{}").expect(2).stderr
    assert error in said
    assert help_ in said


def test_fields_with_odd_names_and_json_in_a_template(shop: Workspace) -> None:
    template = """trigger it with {{item["E-Mail"]}}, {{ item['a b'] }} as {"name": "{{ item.n }}"}"""
    result = shop.run(
        "batch", "-", "--recipes", "own", "--template", template, stdin='{"E-Mail": "x", "a b": 1, "n": 2}'
    )
    assert result.expect(0).jsonl[0]["task"] == 'trigger it with x, 1 as {"name": "2"}'


def test_the_earlier_spelling_of_a_batch_says_the_new_one(shop: Workspace) -> None:
    earlier = shop.run("select", "--recipes", "own", "--batch", "-", stdin="trigger it\n").expect(0)
    assert earlier.stderr == "note: `vancectl batch FILE` is the spelling of `select --batch FILE` from now on\n"
    assert earlier.stdout == shop.run("batch", "--recipes", "own", "-", stdin="trigger it\n").expect(0).stdout
    assert "--batch" not in shop.run("select", "--help").stdout


def test_progress_stays_off_what_is_no_terminal(shop: Workspace, tmp_path: Path) -> None:
    result = shop.run("batch", "--recipes", "own", "-", stdin="a\nb\n").expect(0)
    assert result.stderr == ""
