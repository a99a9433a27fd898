"""Ceilings of cost: what a project, a recipe, a server or a program says above them is lowered or refused, and told."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.batches_server import BatchesServer, succeeded
from tests.messages_server import Behaviour, Exchange, MessagesServer
from tests.workspace import REPOSITORY, Workspace

SMALL = 100_000


def message(text: str) -> bytes:
    """A reply as the API words it."""
    return json.dumps(
        {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
         "content": [{"type": "text", "text": text}], "usage": scripted.USAGE}
    ).encode()  # fmt: skip


def endless() -> Behaviour:
    """A body that goes on for as long as someone reads it; 200 MB at most."""

    def act(exchange: Exchange) -> None:
        exchange.send(scripted.http_response(b"", headers={"content-length": None, "connection": "close"}))
        for _ in range(3_200):
            exchange.send(b" " * 65_536)
        exchange.hang_up()

    return Behaviour(act)


# What a recipe asks for.


@pytest.mark.parametrize("engine", ["jeltz", "slartibartfast"])
@pytest.mark.parametrize("asked", [1_000_000_000, 11])
def test_attempts_have_a_ceiling(ws: Workspace, messages: MessagesServer, engine: str, asked: int) -> None:
    ws.recipe("P/recipes/greedy.yaml", engine=engine, params={"maxAttempts": asked}, triggers=["fix tests"])
    ws.model(messages)
    messages.reply(scripted.text("this is never right"))
    done = ws.run("delegate", "fix tests", "--set", "limits.attempts=4", env={"VANCECTL_LIMITS__ATTEMPTS": "4"})
    assert len(messages.requests) == 4
    told = f"params.maxAttempts of `greedy` is {asked}; limits.attempts allows 4, which is used"
    assert told in done.expect(3).json["warnings"]


def test_a_ceiling_below_the_usual_number_of_attempts(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/plain.yaml", engine="jeltz", triggers=["fix tests"])
    ws.settings(limits__attempts=1)
    ws.model(messages)
    messages.reply(scripted.text("this is never right"))
    ws.run("delegate", "fix tests").expect(3)
    assert len(messages.requests) == 1


@pytest.mark.parametrize(
    ("param", "given", "setting", "most"),
    [
        ("maxTokens", 64_000, "limits.answerTokens", 32_000),
        ("maxTokens", "64000", "limits.answerTokens", 32_000),
        ("maxTokens", 1e12, "limits.answerTokens", 32_000),
        ("maxAttempts", 11, "limits.attempts", 10),
    ],
)
def test_params_are_lowered_for_every_program(
    ws: Workspace, param: str, given: object, setting: str, most: int
) -> None:
    ws.recipe("P/recipes/greedy.yaml", params={param: given}, triggers=["fix tests"])
    ws.program("agent", 'echo "$1"\n')
    ws.settings(spawn__command=["agent", f"{{params.{param}}}"])
    done = ws.run("delegate", "fix tests").expect().json
    assert done["process"]["reply"] == most
    assert any(f"params.{param} of `greedy` is" in each and setting in each for each in done["warnings"])
    ws.settings({setting: 10**12})
    assert ws.run("delegate", "--dry-run", "fix tests").expect().json["warnings"] == []


def test_a_caller_raises_no_ceiling(ws: Workspace) -> None:
    ws.recipe("P/recipes/plain.yaml", triggers=["fix tests"])
    plan = ws.run("delegate", "--dry-run", "--param", "maxTokens=900000", "fix tests").expect().json
    assert plan["plan"]["payload"]["appliedRecipe"]["params"]["maxTokens"] == 32_000


def test_a_payload_written_by_hand_raises_none(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    messages.reply(scripted.text("Yes."))
    applied = {"recipe": "good", "engine": "ford", "params": {"maxTokens": 900_000}}
    done = ws.run("worker", stdin=json.dumps({"task": "fix tests", "appliedRecipe": applied})).expect()
    assert messages.requests[0].body["max_tokens"] == 32_000
    assert "params.maxTokens of `good` is 900000; limits.answerTokens allows 32000" in done.stderr


def test_the_tokens_of_the_routing_question(ws: Workspace, messages: MessagesServer) -> None:
    bundled = (REPOSITORY / "defaults" / "recipes" / "recipe-selector.yaml").read_text()
    ws.write("T/recipes/recipe-selector.yaml", bundled.replace("maxTokens: 2048", "maxTokens: 99999"))
    ws.model(messages)
    warnings = ws.run("select", "look").expect().json["warnings"]
    assert messages.requests[0].body["max_tokens"] == 32_000
    assert any("is 99999; limits.answerTokens allows 32000" in each for each in warnings)


# The size of a prompt.


def test_a_description_gives_a_stated_length_to_the_prompt(ws: Workspace, messages: MessagesServer) -> None:
    for number in range(8):
        ws.recipe(f"P/recipes/long{number}.yaml", description="Word for word. " * 20_000)
    ws.recipe("P/recipes/short.yaml", description="x" * 4_000)
    ws.model(messages)
    decision = ws.run("select", "look at it").expect().json
    assert len(messages.requests[0].raw) < 8 * 4_200 + 60_000
    said = [each for each in decision["warnings"] if "limits.descriptionCharacters" in each]
    assert len(said) == 5
    assert "`long0`" in said[0]
    assert "has 300,000 characters; the model is shown the first 4,000" in said[0]
    assert "the same holds for 3 more recipes" in decision["warnings"]
    assert not any("`short`" in each for each in decision["warnings"])
    assert json.dumps("x" * 4_000).strip('"') in messages.requests[0].raw.decode()


def test_what_is_cut_is_cut_for_a_program_and_an_estimate_too(ws: Workspace) -> None:
    ws.recipe("P/recipes/long.yaml", description="Word for word. " * 20_000)
    ws.program("oracle", """echo '{"decision": "NONE", "recipe": null, "rationale": "n"}'\n""")
    ws.settings(selector__backend="command", selector__command=["oracle"])
    assert any("`long`" in each for each in ws.run("select", "look").expect().json["warnings"])
    parts = ws.run("select", "--estimate", "look").expect().json["parts"]
    assert max(part["characters"] for part in parts if part["part"] == "recipe long") < 4_200


@pytest.mark.parametrize("backend", ["anthropic", "command"])
def test_a_prompt_that_is_too_long_is_not_sent(ws: Workspace, messages: MessagesServer, backend: str) -> None:
    ws.model(messages)
    ws.program("oracle", "touch ran\n")
    ws.settings(selector__backend=backend, selector__command=["oracle"], limits__promptCharacters=30_000)
    decision = ws.run("select", "-", stdin="word " * 10_000).expect().json
    assert (decision["decision"], decision["reason"]) == ("NONE", "too-large")
    assert "limits.promptCharacters allows 30,000" in decision["rationale"]
    assert messages.requests == []


def test_the_worker_s_prompt_has_the_same_ceiling(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/long.yaml", promptPrefix="word " * 100_000, triggers=["fix tests"])
    ws.settings(limits__promptCharacters=400_000)
    ws.model(messages)
    failed = ws.run("delegate", "fix tests").expect(3)
    assert messages.requests == []
    assert "limits.promptCharacters allows 400,000" in failed.stderr


def test_a_conversation_grows_to_the_ceiling_and_no_further(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/plain.yaml", engine="jeltz", triggers=["fix tests"])
    ws.settings(limits__promptCharacters=20_000)
    ws.model(messages)
    messages.reply(scripted.text("word " * 5_000))
    assert "limits.promptCharacters" in ws.run("delegate", "fix tests").expect(3).stderr
    assert len(messages.requests) == 1


def test_a_question_that_is_too_long_is_not_submitted_in_a_batch(ws: Workspace) -> None:
    decision = {"decision": "NONE", "recipe": None, "rationale": "n", "evidence": "", "runnerUp": None}
    with BatchesServer(lambda _: succeeded(decision), polls=0) as server:
        ws.model(server)
        ws.settings(limits__promptCharacters=30_000)
        lines = ws.run("batch", "-", "--via", "batches", stdin=f"short\n{'word ' * 10_000}\n").expect().jsonl
    assert [line["reason"] for line in lines] == ["model-none", "too-large"]
    assert len(server.batches["msgbatch_0"]) == 1


# The size of an answer.

BOMBS: dict[str, Callable[[], Behaviour]] = {
    "endless": endless,
    "plain": lambda: scripted.raw(message("x" * 2 * SMALL)),
    "gzip": lambda: scripted.raw(gzip.compress(message("x" * 50_000_000)), headers={"content-encoding": "gzip"}),
    "deflate": lambda: scripted.raw(zlib.compress(message("x" * 50_000_000)), headers={"content-encoding": "deflate"}),
    "gzip-twice": lambda: scripted.raw(
        gzip.compress(gzip.compress(message("x" * 50_000_000))), headers={"content-encoding": "gzip, gzip"}
    ),
    "error": lambda: scripted.raw(message("x" * 2 * SMALL), code=400),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_an_answer_of_any_size_is_broken_off(ws: Workspace, messages: MessagesServer, bomb: str) -> None:
    ws.model(messages)
    ws.settings(limits__responseBytes=SMALL)
    messages.reply(BOMBS[bomb]())
    decision = ws.run("select", "look").expect().json
    assert decision["reason"] == "not-a-message"
    assert "more than the 100,000 bytes of limits.responseBytes" in decision["rationale"]


def test_a_packed_answer_within_the_limit_is_read(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    reply = message('{"decision": "NONE", "recipe": null, "rationale": "Nothing fits."}')
    messages.reply(scripted.raw(gzip.compress(reply), headers={"content-encoding": "gzip"}))
    assert ws.run("select", "look").expect().json["reason"] == "model-none"


def test_a_stream_of_any_length_is_broken_off(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.model(messages)
    ws.settings(limits__responseBytes=SMALL)
    messages.reply(scripted.stream(*["word " * 1_000] * 200))
    failed = ws.run("delegate", "fix tests").expect(3)
    assert "more than the 100,000 bytes of limits.responseBytes" in failed.stderr


def test_a_program_s_answer_has_the_same_limit(ws: Workspace) -> None:
    ws.program("oracle", "yes\n")
    ws.settings(selector__backend="command", selector__command=["oracle"], limits__responseBytes=SMALL)
    decision = ws.run("select", "look").expect().json
    assert "wrote more than the 100,000 bytes that limits.responseBytes allows" in decision["rationale"]


def test_a_batch_s_results_have_it_too(ws: Workspace) -> None:
    with BatchesServer(lambda _: succeeded("x" * 2 * SMALL), polls=0) as server:
        ws.model(server)
        ws.settings(limits__responseBytes=SMALL)
        line = ws.run("batch", "-", "--via", "batches", stdin="look\n").expect().json
    assert "limits.responseBytes" in line["rationale"]


# How long a server makes us wait.


@pytest.mark.parametrize("asked", ["36000", "inf", "1e300", "99999999999999999999"])
@pytest.mark.parametrize("via", ["live", "batches", "worker"])
def test_a_server_cannot_have_us_wait_for_long(ws: Workspace, via: str, asked: str) -> None:
    headers: dict[str, str | None] = {"retry-after": asked}
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(limits__waitSeconds=0.2)
    decision: dict[str, Any] = {"decision": "NONE", "recipe": None, "rationale": "n", "evidence": "", "runnerUp": None}
    with BatchesServer(lambda _: succeeded(decision), polls=0) as server:
        ws.model(server)
        server.refuse_with = headers
        server.refuse.append((429, "slow down"))
        server.reply(scripted.status(429, headers=headers), scripted.text("Yes."))
        begun = time.monotonic()
        if via == "batches":
            done = ws.run("batch", "-", "--via", "batches", stdin="look\n").expect()
            assert done.json["reason"] == "model-none"
        else:
            ws.run(*(("select", "look") if via == "live" else ("delegate", "fix tests"))).expect()
        assert time.monotonic() - begun < 20
        assert len(server.requests) >= 2


def test_what_the_server_asked_for_is_said(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    messages.reply(scripted.status(429, headers={"retry-after": "36000"}))
    rationale = ws.run("select", "look").expect().json["rationale"]
    assert "the server asks for 36,000 seconds, and limits.waitSeconds allows 60" in rationale
