"""A batch that is taken up again: what is answered is known by its id and its task, not by where it stands."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import Any

import pytest

from tests.messages_server import MessagesServer, delay, hang, match, none, status, text
from tests.routes.answerer import answers, task_of
from tests.workspace import Result, Workspace


@pytest.fixture
def shop(ws: Workspace, messages: MessagesServer) -> Workspace:
    ws.recipe("P/recipes/sell.yaml", "We sell things.")
    ws.recipe("P/recipes/trigger.yaml", triggers=["trigger it"])
    ws.model(messages)
    messages.reply(answers(lambda task: "sell" if "sell" in task else None))
    return ws


def batch(ws: Workspace, tasks: list[Any] | None, *options: str, status: int = 0) -> Result:
    if tasks is not None:
        lines = [task if isinstance(task, str) else json.dumps(task) for task in tasks]
        ws.write("P/tasks.txt", "".join(f"{line}\n" for line in lines))
    return ws.run("batch", "tasks.txt", "--output", "out.jsonl", *options).expect(status)


def written(ws: Workspace) -> list[Any]:
    return [json.loads(line) for line in ws.path("P/out.jsonl").read_text().splitlines()]


def shown(ws: Workspace) -> list[Any]:
    """Of each answer its line or id, and the recipe."""
    return [(answer.get("id", answer.get("line")), answer.get("recipe")) for answer in written(ws)]


def asked(server: MessagesServer) -> list[str]:
    return sorted(task_of(request.body) for request in server.requests)


A, B, NEW = "sell a", "rent b", "sell new"


@pytest.mark.parametrize(
    ("before", "after", "expected", "more"),
    [
        pytest.param([A, B], [NEW, A, B], [(1, "sell"), (2, "sell"), (3, None)], [NEW], id="inserted-on-top"),
        pytest.param([A, B], [A, NEW, B], [(1, "sell"), (2, "sell"), (3, None)], [NEW], id="inserted-between"),
        pytest.param([A, B], [A, B, NEW], [(1, "sell"), (2, None), (3, "sell")], [NEW], id="appended"),
        pytest.param([A, B], [B, A], [(1, None), (2, "sell")], [], id="reordered"),
        pytest.param([A, B, A], [B, A, A], [(1, None), (2, "sell"), (3, "sell")], [], id="reordered-with-twins"),
        pytest.param([A, B], [A, A, B, A], [(1, "sell"), (2, "sell"), (3, None), (4, "sell")], [A], id="more-twins"),
        pytest.param(["", A], [A, "", NEW, ""], [(1, "sell"), (2, None), (3, "sell"), (4, None)], [NEW], id="blank"),
        pytest.param([{"id": 1, "task": A}, B], [B, {"id": 1, "task": A}], [(1, None), (1, "sell")], [], id="ids"),
        pytest.param(
            [{"id": "x", "task": A}], [{"id": "y", "task": A}, {"id": "x", "task": A}],
            [("y", "sell"), ("x", "sell")], [A], id="another-id-is-another-item",
        ),
        pytest.param(
            [{"id": 7, "task": A}], [{"id": 7, "task": NEW}, {"id": 7, "task": A}],
            [(7, "sell"), (7, "sell")], [NEW], id="an-id-given-twice",
        ),
        pytest.param(["{bad", A], [B, A], [(1, None), (2, "sell")], [B], id="a-bad-line-is-corrected"),
    ],
)  # fmt: skip
def test_everything_is_answered_once(
    shop: Workspace, messages: MessagesServer, before: list[Any], after: list[Any], expected: list[Any], more: list[str]
) -> None:
    batch(shop, before, status=2 if "{bad" in before else 0)
    first = asked(messages)
    batch(shop, after, "--resume")
    assert shown(shop) == expected
    assert asked(messages) == sorted([*first, *more])
    settled = shop.path("P/out.jsonl").read_bytes()
    batch(shop, None, "--resume")
    assert shop.path("P/out.jsonl").read_bytes() == settled
    assert not shop.path("P/out.jsonl.lock").exists()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ([A, B], [A], "out.jsonl:2: the answer is to a task that tasks.txt does not hold: what was line 2"),
        ([A, B], [A, "rent bb", NEW], "out.jsonl:2: the answer is to a task that tasks.txt does not hold"),
        ([A, B], ["something else"], "out.jsonl:1: the answer is to a task that tasks.txt does not hold"),
        (
            [A, {"id": 5, "task": B}], [NEW, A, {"id": 5, "task": "rent bb"}],
            "out.jsonl:2: the task with the id 5 has changed since it was answered, in line 3 of tasks.txt",
        ),
        ([{"id": "q", "task": B}], [A], 'out.jsonl:1: the answer is to a task that tasks.txt does not hold: the id "q'),
    ],
    ids=["removed", "changed", "another-batch", "changed-behind-an-id", "an-id-removed"],
)  # fmt: skip
def test_an_answer_without_its_task_is_refused_with_its_line(
    shop: Workspace, messages: MessagesServer, before: list[Any], after: list[Any], told: str
) -> None:
    batch(shop, before)
    held, first = shop.path("P/out.jsonl").read_bytes(), asked(messages)
    assert told in batch(shop, after, "--resume", status=2).stderr
    assert shop.path("P/out.jsonl").read_bytes() == held
    assert asked(messages) == first
    # With the line taken out, as the help says, it goes on.
    number = int(told.split(":")[1])
    lines = held.splitlines(keepends=True)
    shop.write("P/out.jsonl", b"".join(lines[: number - 1]))
    batch(shop, after, "--resume")
    assert len(written(shop)) == len(after)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (status(500), "server-error"), (status(529), "overloaded"), (status(429), "rate-limited"),
        (status(401), "authentication"),
    ],
)  # fmt: skip
def test_what_failed_because_the_service_was_down_is_asked_again(
    shop: Workspace, messages: MessagesServer, failure: Any, reason: str
) -> None:
    with MessagesServer() as server:
        shop.model(server)
        server.reply(failure)
        tasks = ["trigger it", A, B]
        options = ("--strict", "--set", "selector.timeout=2")
        batch(shop, tasks, *options, status=4)
        assert [answer["reason"] for answer in written(shop)] == ["single-trigger", reason, reason]
    shop.model(messages)
    batch(shop, tasks, *options, "--resume")
    assert shown(shop) == [(1, "trigger"), (2, "sell"), (3, None)]
    assert asked(messages) == sorted([A, B])


def test_without_a_key_first_and_with_one_later(shop: Workspace, messages: MessagesServer) -> None:
    batch(shop, [A, B], "--set", "selector.backend=off", "--strict", status=4)
    batch(shop, None, "--resume", "--strict")
    assert shown(shop) == [(1, "sell"), (2, None)]


def test_a_reply_that_is_no_answer_has_another_turn_where_that_is_asked_for(
    shop: Workspace, messages: MessagesServer
) -> None:
    with MessagesServer() as server:
        shop.model(server)
        server.reply(text("no JSON at all"))
        batch(shop, [A], "--strict", status=4)
        calls = len(server.requests)
        batch(shop, [A], "--strict", "--resume", status=4)
        assert len(server.requests) == calls
    shop.model(messages)
    batch(shop, [A], "--strict", "--resume", "--retry-failed")
    assert shown(shop) == [(1, "sell")]
    assert "--retry-failed belongs to --resume" in batch(shop, [A], "--retry-failed", status=2).stderr


def test_answers_of_an_earlier_version(shop: Workspace, messages: MessagesServer) -> None:
    """They know a task by its id, or not at all: these are decided again, since their place proves nothing."""
    batch(shop, [A, {"id": 4, "task": B}, NEW])
    earlier = written(shop)
    for answer in earlier:
        answer.pop("line", None)
        answer.pop("taskHash")
    shop.write("P/out.jsonl", "".join(f"{json.dumps(answer)}\n" for answer in earlier))
    calls = len(messages.requests)
    told = batch(shop, [NEW, A, {"id": 4, "task": B}], "--resume").stderr
    assert "warning: 2 answers of an earlier version do not say which task they answer" in told
    assert shown(shop) == [(1, "sell"), (2, "sell"), (4, None)]
    assert len(messages.requests) == calls + 2


def test_a_torn_last_line_is_decided_again(shop: Workspace, messages: MessagesServer) -> None:
    batch(shop, [A, B])
    whole = shop.path("P/out.jsonl").read_bytes()
    for cut in (1, 30, len(whole) - 10):
        shop.write("P/out.jsonl", whole[:-cut])
        batch(shop, None, "--resume")
        assert [answer["taskHash"] for answer in written(shop)] == [
            answer["taskHash"] for answer in map(json.loads, whole.splitlines())
        ]


def test_the_second_run_with_one_output_says_who_has_it(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(delay(1.0, match("sell")))
    shop.write("P/tasks.txt", "".join(f"sell {number}\n" for number in range(8)))
    argv = ("batch", "tasks.txt", "--output", "out.jsonl", "--resume", "--jobs", "2")
    first = shop.start(*argv)
    messages.wait_for(1)
    for _ in range(2):
        told = shop.run(*argv).expect(2).stderr
        assert f"out.jsonl: the process {first.pid} writes its answers there" in told
    shop.finish(first).expect(0)
    assert [answer["line"] for answer in written(shop)] == list(range(1, 9))


def test_four_runs_at_once_answer_every_task_once(shop: Workspace) -> None:
    tasks = ["trigger it"] * 300
    shop.write("P/tasks.txt", "".join(f"{task}\n" for task in tasks))
    argv = ("batch", "tasks.txt", "--output", "out.jsonl", "--resume", "--jobs", "2")
    runs = [shop.start(*argv) for _ in range(4)]
    statuses = [shop.finish(run).status for run in runs]
    assert 0 in statuses
    assert set(statuses) <= {0, 2}
    assert [answer["line"] for answer in written(shop)] == list(range(1, 301))


def test_a_run_that_is_killed_in_the_midst_of_changed_lines(shop: Workspace, messages: MessagesServer) -> None:
    """Killed while new lines are answered behind old ones: nothing is lost, and the order is right in the end."""
    batch(shop, [A, B])
    with MessagesServer() as server:
        shop.model(server)
        server.reply(match("sell"), hang(60))
        shop.write("P/tasks.txt", f"sell 1\nsell 2\n{B}\nsell 3\n{A}\n")
        argv = ("batch", "tasks.txt", "--output", "out.jsonl", "--resume", "--jobs", "1")
        process = shop.start(*argv)
        limit = time.monotonic() + 20
        while len(written(shop)) < 3 and time.monotonic() < limit:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    shop.model(messages)
    messages.reply(answers(lambda task: "sell" if "sell" in task else None))
    calls = len(messages.requests)
    batch(shop, None, "--resume")
    assert shown(shop) == [(1, "sell"), (2, "sell"), (3, None), (4, "sell"), (5, "sell")]
    assert len(messages.requests) == calls + 2


def test_a_template_s_answers_are_known_by_their_filled_task(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(none())
    options = ("--template", "rent {{ item.x }}")
    batch(shop, [{"x": "a"}, {"x": "b"}], *options)
    calls = len(messages.requests)
    batch(shop, [{"x": "c"}, {"x": "b"}, {"x": "a"}], *options, "--resume")
    assert [(answer["line"], answer["task"]) for answer in written(shop)] == [
        (1, "rent c"), (2, "rent b"), (3, "rent a"),
    ]  # fmt: skip
    assert len(messages.requests) == calls + 2  # the template, and c


def test_a_batch_on_standard_input_is_taken_up_again(shop: Workspace, messages: MessagesServer) -> None:
    argv = ("batch", "-", "--output", "out.jsonl", "--resume")
    shop.run(*argv, stdin=f"{A}\n{B}\n").expect(0)
    shop.run(*argv, stdin=f"{NEW}\n{B}\n{A}\n").expect(0)
    assert shown(shop) == [(1, "sell"), (2, None), (3, "sell")]
    assert asked(messages) == sorted([A, B, NEW])


# How lines are read.


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        pytest.param(b"trigger it\nJ\xf6rg\r\ntrigger it\n", {2: "0xF6"}, id="latin-1"),
        pytest.param(b'{"task": "trigger it", "task": "x"}\n', {1: "the key `task` is there twice"}, id="twice"),
        pytest.param(b'{"task": "x", "id": {"a": 1, "a": 2}}', {1: "the key `a` is there twice"}, id="within"),
        pytest.param("\ufefftrigger it\ntrigger it ä\n".encode("utf-16-le"), {}, id="utf-16"),
        pytest.param("\ufefftrigger it\n".encode(), {}, id="utf-8-with-its-mark"),
        pytest.param('{"task": "trigger it \u2028 \x85"}\n'.encode(), {}, id="only-a-line-feed-ends-a-line"),
        pytest.param(b"trigger it\rtrigger it\n", {}, id="a-lone-carriage-return"),
    ],
)
def test_a_line_is_read_as_it_is_meant_or_refused(shop: Workspace, data: bytes, errors: dict[int, str]) -> None:
    shop.write("P/tasks.txt", data)
    found = shop.run("batch", "tasks.txt").expect(2 if errors else 0).jsonl
    for number, answer in enumerate(found, 1):
        assert answer["line"] == number
        assert errors.get(number, "") in answer.get("error", "")
        assert (number in errors) == ("error" in answer) == ("recipe" not in answer)


@pytest.mark.parametrize("source", ["-", "task.txt"])
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"one\ntwo \xff\xfe", ":2: is not UTF-8 text: the byte 0xFF"),
        (b"half \xc3", ":1: is not UTF-8 text: the byte 0xC3"),
        (b"J\xf6rg", "(in WINDOWS-1252 it is `\u00f6`)\n  help: save it as UTF-8, as in: iconv -f WINDOWS-1252"),
        (b"\xff\xfea\0b", "begins with the mark of UTF-16 and is none"),
        ("\ufeffx".encode("utf-32-le"), "is UTF-32 text"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["select", "delegate"])
def test_a_task_that_is_no_text_is_refused(shop: Workspace, command: str, source: str, data: bytes, told: str) -> None:
    shop.write("P/task.txt", data)
    refused = shop.run(command, "--file", source, stdin=data).expect(2)
    assert told in refused.stderr
    assert f"error: {source}:" in refused.stderr
    assert refused.stdout == ""
