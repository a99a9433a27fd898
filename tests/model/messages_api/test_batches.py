"""`--via batches` end to end: submitted once, polled, taken up again after a restart, collected in order."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.batches_server import BatchesServer, errored, succeeded
from tests.messages_server import MessagesServer
from tests.routes.answerer import task_of
from tests.workspace import Workspace


def answerer(params: dict[str, Any]) -> dict[str, Any]:
    task = task_of(params)
    if task == "refused":
        return succeeded("", stop_reason="refusal", content=[])
    if task == "nonsense":
        return succeeded("well, well")
    if task == "failed":
        return errored("invalid_request_error", "prompt is too long: test-key")
    if task == "expired":
        return {"type": "expired"}
    name = task.split()[0]
    chosen = name if name in {"sell", "buy"} else None
    return succeeded({"decision": "MATCH" if chosen else "NONE", "recipe": chosen, "rationale": "So it is."})


@pytest.fixture
def server() -> Iterator[BatchesServer]:
    with BatchesServer(answerer) as started:
        yield started


@pytest.fixture
def shop(ws: Workspace, server: BatchesServer) -> Workspace:
    for name in ("sell", "buy"):
        ws.recipe(f"P/own/{name}.yaml", f"We {name} things.")
    ws.recipe("P/own/trigger.yaml", triggers=["trigger it"])
    ws.model(server)
    return ws


BATCH = ("batch", "--recipes", "own", "--via", "batches")


def created(server: BatchesServer) -> list[list[str]]:
    return [[task_of(each["params"]) for each in requests] for requests in server.batches.values()]


def open_notes(ws: Workspace) -> list[str]:
    return sorted(path.name for path in ws.path("S/batches").glob("*"))


def test_a_batch_is_collected_in_order(shop: Workspace, server: BatchesServer) -> None:
    tasks = ["buy milk", "trigger it", "sell milk", "", "hello", "buy milk", "refused", "nonsense", "failed", "expired"]
    lines = "".join(json.dumps({"id": number, "task": task}) + "\n" for number, task in enumerate(tasks))
    result = shop.run(*BATCH, "-", stdin=lines).expect(0)
    assert [line["id"] for line in result.jsonl] == list(range(len(tasks)))
    assert [line["recipe"] or line["reason"] for line in result.jsonl] == [
        "buy", "trigger", "sell", "empty-task", "model-none", "buy", "refusal", "no-json", "bad-request", "timeout",
    ]  # fmt: skip
    assert created(server) == [["buy milk", "sell milk", "hello", "refused", "nonsense", "failed", "expired"]]
    assert result.jsonl[0]["model"]["backend"] == "batches"
    assert result.jsonl[0]["model"]["inputTokens"] == 100
    assert "test-key" not in result.stdout + result.stderr
    assert "batch msgbatch_0: 7 questions submitted" in result.stderr
    assert open_notes(shop) == []
    assert {request.path for request in server.requests} == {
        "/v1/messages/batches",
        "/v1/messages/batches/msgbatch_0",
        "/v1/messages/batches/msgbatch_0/results",
    }


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_restart_takes_the_batch_up_again(shop: Workspace, server: BatchesServer, end: signal.Signals) -> None:
    shop.write("P/tasks.txt", "buy milk\nsell milk\n")
    server.polls = 10_000
    process = shop.start(*BATCH, "tasks.txt")
    server.wait_for(3)
    os.killpg(process.pid, end)
    result = shop.finish(process, timeout=20)
    assert result.status == (130 if end is signal.SIGINT else -signal.SIGKILL), result
    assert result.stdout == ""
    assert len(open_notes(shop)) == 1
    server.polls = 1
    # One task more: what is under way is not paid for twice.
    shop.write("P/tasks.txt", "sell milk\nbuy milk\nhello\n")
    again = shop.run(*BATCH, "tasks.txt").expect(0)
    assert [line["recipe"] for line in again.jsonl] == ["sell", "buy", None]
    assert created(server) == [["buy milk", "sell milk"], ["hello"]]
    assert "batch msgbatch_0: taken up again" in again.stderr
    assert open_notes(shop) == []


def test_a_batch_that_is_gone_is_asked_again(shop: Workspace, server: BatchesServer) -> None:
    shop.write("P/tasks.txt", "buy milk\n")
    server.polls = 10_000
    process = shop.start(*BATCH, "tasks.txt")
    server.wait_for(2)
    os.killpg(process.pid, signal.SIGINT)
    shop.finish(process, timeout=20)
    server.batches["msgbatch_1"] = server.batches.pop("msgbatch_0")
    server.batches["other"] = server.batches.pop("msgbatch_1")
    server.polls = 0
    assert shop.run(*BATCH, "tasks.txt").expect(0).jsonl[0]["recipe"] == "buy"
    assert created(server) == [["buy milk"], ["buy milk"]]


@pytest.mark.parametrize(
    ("refusals", "reason"),
    [
        ([(401, "no such key")], "authentication"),
        ([(400, "no batches here")], "bad-request"),
        ([(500, "broken")], "server-error"),
        ([(429, "slowly")] * 3, "rate-limited"),
    ],
)
def test_what_cannot_be_submitted_is_unanswered(
    shop: Workspace, server: BatchesServer, refusals: list[tuple[int, str]], reason: str
) -> None:
    server.refuse = list(refusals)
    result = shop.run(*BATCH, "-", "--strict", stdin="buy milk\ntrigger it\n").expect(4)
    assert [line["reason"] for line in result.jsonl] == [reason, "single-trigger"]
    assert refusals[0][1] in result.jsonl[0]["rationale"]
    assert server.batches == {}


def test_a_refusal_that_passes_is_waited_out(shop: Workspace, server: BatchesServer) -> None:
    server.refuse = [(429, "slowly"), (529, "slowly")]
    assert shop.run(*BATCH, "-", stdin="buy milk\n").expect(0).jsonl[0]["recipe"] == "buy"
    assert len(server.batches) == 1


def test_no_key_goes_to_another_server(shop: Workspace, server: BatchesServer) -> None:
    with MessagesServer() as other:
        server.results_host = other.url
        result = shop.run(*BATCH, "-", stdin="buy milk\n").expect(0)
        assert result.jsonl[0]["reason"] == "base-url"
        assert other.requests == []


def test_another_backend_has_no_batches(shop: Workspace) -> None:
    options = ("--set", "selector.backend=command", "--set", 'selector.command=["cat"]')
    assert "needs the Messages API" in shop.run(*BATCH, "-", *options, stdin="buy milk\n").expect(2).stderr


def test_a_template_that_matches_needs_no_batch(shop: Workspace, server: BatchesServer) -> None:
    lines = '{"x": "milk"}\n{"x": "bread"}\n'
    result = shop.run(*BATCH, "-", "--template", "sell {{ item.x }}", stdin=lines).expect(0)
    # The template itself is asked about live: the loopback Messages API answers NONE, so each item is asked about.
    assert [line["recipe"] for line in result.jsonl] == ["sell", "sell"]
    assert created(server) == [["sell milk", "sell bread"]]
    shop.run(*BATCH, "-", "--template", "trigger it with {{ item.x }}", stdin=lines).expect(0)
    assert len(server.batches) == 1


def test_check_records_through_a_batch(shop: Workspace, server: BatchesServer) -> None:
    cases = [{"task": "buy milk", "expect": "buy", "repeat": 3}, {"task": "hello", "expect": "NONE"}]
    cases.append({"task": "nonsense", "expect": "NONE"})
    shop.write("P/routes.yaml", yaml.safe_dump({"cases": cases}))
    options = ("check", "--recipes", "own")
    first = shop.run(*options, "--record", "--via", "batches").expect(0).json["cases"]
    assert [(case["verdict"], case["right"]) for case in first] == [("right", 3), ("right", 1), ("error", 0)]
    assert created(server) == [["buy milk"] * 3 + ["hello", "nonsense"]]
    shop.env["ANTHROPIC_API_KEY"] = None
    again = shop.run(*options).expect(0).json["cases"]
    assert [case["verdict"] for case in again] == ["right", "right", "unrecorded"]
