"""Record once, replay for ever: what a recording is bound to, what it holds, and what is left of a run that was cut."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.messages_server import MessagesServer, answer, delay, hang, match, none, refused, status, text
from tests.routes.answerer import answers, from_table, task_of
from tests.workspace import Workspace

FORBIDDEN = """
import pathlib, socket
def refuse(*_, **__):
    pathlib.Path({marker!r}).touch()
    raise OSError("the network is forbidden")
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, refuse)
socket.getaddrinfo = socket.create_connection = refuse
"""


@pytest.fixture
def shop(ws: Workspace, messages: MessagesServer) -> Workspace:
    """Three recipes, three cases that need the model, one that does not."""
    for name in ("sell", "buy", "mend"):
        ws.recipe(f"P/own/{name}.yaml", f"We {name} things.")
    ws.recipe("P/own/trigger.yaml", triggers=["trigger it"])
    lay(ws, {"a": "sell", "b": "NONE", "c": "mend"})
    messages.reply(from_table({"a": "sell", "b": None, "c": "buy"}))
    ws.model(messages)
    ws.env |= {"VANCECTL_MODEL": "model-1"}
    return ws


def lay(ws: Workspace, expected: dict[str, str], **more: Any) -> None:
    cases = [{"task": "trigger it", "expect": "trigger"}]
    cases += [{"task": task, "expect": name, **more} for task, name in expected.items()]
    ws.write("P/routes.yaml", yaml.safe_dump({"cases": cases}))


def recordings(ws: Workspace) -> Path:
    return ws.path("P/routes.recorded.jsonl")


def recorded_tasks(ws: Workspace) -> list[str]:
    lines = map(json.loads, recordings(ws).read_text(encoding="utf-8").splitlines())
    return [line["task"] for line in lines if "task" in line]


def check(ws: Workspace, status: int, *options: str) -> dict[str, str]:
    cases = ws.run("check", "--recipes", "own", *options).expect(status).json["cases"]
    return {case["task"]: case["verdict"] for case in cases}


def without_network(ws: Workspace) -> Callable[[], bool]:
    """Lets no later run connect anywhere; says whether one tried to."""
    marker = ws.root / "tried"
    ws.write("P/forbidden/sitecustomize.py", FORBIDDEN.format(marker=str(marker)))
    ws.env["PYTHONPATH"] = str(ws.path("P/forbidden"))
    return marker.exists


RECORDED = {"trigger it": "right", "a": "right", "b": "right", "c": "wrong-recipe"}


def test_a_recording_replays_with_the_network_forbidden(shop: Workspace, messages: MessagesServer) -> None:
    assert check(shop, 1, "--record") == RECORDED
    assert sorted(task_of(request.body) for request in messages.requests) == ["a", "b", "c"]
    tried = without_network(shop)
    assert check(shop, 1) == RECORDED
    shop.env |= {"ANTHROPIC_API_KEY": None, "ANTHROPIC_BASE_URL": None}
    assert check(shop, 1) == RECORDED
    decision = shop.run("select", "--recipes", "own", "--replay", ".vance/routes.recorded.jsonl", "c").expect(0).json
    assert (decision["recipe"], decision["stage"], decision["model"]["backend"]) == ("buy", "model", "replay")
    assert decision["model"]["model"] == "model-1"
    plan = shop.run("delegate", "--recipes", "own", "--dry-run", "--replay", recordings(shop), "a").expect(0).json
    assert (plan["recipe"], plan["stage"], plan["model"]["backend"]) == ("sell", "model", "replay")
    unknown = shop.run("select", "--recipes", "own", "--replay", recordings(shop), "--strict", "d").expect(4).json
    assert (unknown["decision"], unknown["reason"]) == ("NONE", "no-recording")
    assert "there are no recordings" in shop.run("select", "--replay", "missing.jsonl", "d").expect(2).stderr
    assert not tried()
    # The wall itself stands: a live question runs into it.
    shop.model(refused())
    shop.run("select", "--recipes", "own", "d").expect(0)
    assert tried()


def test_record_asks_only_for_what_is_missing(shop: Workspace, messages: MessagesServer) -> None:
    check(shop, 1, "--record")
    before = recordings(shop).read_bytes()
    check(shop, 1, "--record")
    assert len(messages.requests) == 3
    assert recordings(shop).read_bytes() == before
    lay(shop, {"a": "sell", "b": "NONE", "c": "mend", "d": "buy"})
    assert check(shop, 1)["d"] == "unrecorded"
    messages.reply(match("buy"))
    assert check(shop, 1, "--record")["d"] == "right"
    assert len(messages.requests) == 4


def test_a_file_of_recordings_is_sorted_and_holds_no_secret(shop: Workspace) -> None:
    lay(shop, {"z": "NONE", "ä": "NONE", "a": "NONE", "c": "mend"})
    shop.env["ANTHROPIC_API_KEY"] = "sk-secret-1234"
    with MessagesServer() as server:
        server.reply(answer(lambda body: match("mend", "I saw sk-secret-1234.") if task_of(body) == "c" else none()))
        shop.env["ANTHROPIC_BASE_URL"] = server.url
        check(shop, 0, "--record")
        content = recordings(shop).read_text(encoding="utf-8")
        assert recorded_tasks(shop) == ["a", "c", "z", "ä"]
        for secret in ("sk-secret-1234", server.url, str(shop.root)):
            assert secret not in content
        assert "I saw ***." in content
        # One line changes for one answer that changes.
        lines = content.splitlines()
        shop.write("P/routes.recorded.jsonl", "".join(line + "\n" for line in lines if '"task": "a"' not in line))
        server.reply(match("sell"))
        check(shop, 1, "--record")
    new = recordings(shop).read_text(encoding="utf-8").splitlines()
    assert [line for line in new if line not in lines] == [line for line in new if '"task": "a"' in line]


def selector_recipe(ws: Workspace) -> None:
    ws.recipe("P/own/recipe-selector.yaml", engine="jeltz", internal=True, promptPrefix="Choose.")


def catalog(ws: Workspace) -> None:
    path = ws.write("B/catalog/engines.yaml", "")
    source = Path(__file__).parents[2] / "defaults" / "catalog" / "engines.yaml"
    path.write_text(
        source.read_text(encoding="utf-8").replace("Chat of the hub", "A chat of the hub", 1), encoding="utf-8"
    )


STALE: list[tuple[str, Callable[[Workspace], object], str]] = [
    ("model", lambda ws: ws.env.update(VANCECTL_MODEL="model-2"), "the model (model-1 → model-2)"),
    ("changed", lambda ws: ws.recipe("P/own/buy.yaml", "We buy other things."), "recipes changed: buy"),
    ("engine", lambda ws: ws.recipe("P/own/buy.yaml", "We buy things.", "marvin"), "recipes changed: buy"),
    ("added", lambda ws: ws.recipe("P/own/new.yaml", "New."), "recipes added: new"),
    ("removed", lambda ws: ws.path("P/own/trigger.yaml").rename(ws.root / "away"), "recipes removed: trigger"),
    ("prompt", selector_recipe, "the prompt"),
    ("catalog", catalog, "the engine catalog"),
    (
        "hint",
        lambda ws: [ws.recipe(f"P/own/{name}.yaml", f"We {name} things.", triggers=["a"]) for name in ("sell", "mend")],
        "the trigger phrases that hint at them",
    ),
]


@pytest.mark.parametrize(("change", "said"), [case[1:] for case in STALE], ids=[case[0] for case in STALE])
def test_whatever_an_answer_depends_on_makes_it_stale(
    shop: Workspace, messages: MessagesServer, change: Callable[[Workspace], object], said: str
) -> None:
    lay(shop, {"a": "sell"})
    assert check(shop, 0, "--record")["a"] == "right"
    change(shop)
    if said.endswith("trigger"):
        shop.write("P/routes.yaml", "cases:\n- {task: a, expect: sell}\n")
    result = shop.run("check", "--recipes", "own").expect(1)
    case = result.json["cases"][-1]
    assert (case["task"], case["verdict"]) == ("a", "stale")
    assert said in case["why"]
    assert case["stale"] is not None
    decision = shop.run("select", "--recipes", "own", "--replay", recordings(shop), "a").expect(0).json
    assert decision["reason"] == "stale-recording"
    # The old answer may count, is still told to be old, and a new one takes its place.
    allowed = shop.run("check", "--recipes", "own", "--allow-stale").expect(0).json["cases"][-1]
    assert (allowed["verdict"], allowed["stale"]) == ("right", case["stale"])
    count = len(messages.requests)
    check(shop, 0, "--record")
    assert len(messages.requests) == count + 1
    assert check(shop, 0)["a"] == "right"
    assert recorded_tasks(shop) == ["a"]


def test_what_no_question_shows_makes_nothing_stale(shop: Workspace) -> None:
    """Params, prompts of recipes and triggers that do not hit are no part of a question."""
    assert check(shop, 1, "--record") == RECORDED
    shop.recipe("P/own/buy.yaml", "We buy things.", triggers=["never said"], params={"x": 1}, promptPrefix="Buy.")
    shop.recipe("P/own/_hidden.yaml", "Not in the inventory.")
    assert check(shop, 1) == RECORDED


def test_beyond_the_list_limit_only_the_shortlist_counts(ws: Workspace, messages: MessagesServer) -> None:
    for name in ("alpha", "beta", "gamma"):
        ws.recipe(f"P/own/{name}.yaml", f"Works on {name}.")
    lay(ws, {"work on alpha": "alpha", "work on gamma": "gamma"})
    ws.recipe("P/own/trigger.yaml", triggers=["trigger it"])
    messages.reply(answers(lambda task: task.split()[-1]))
    ws.model(messages)
    limit = ("--set", "routing.recipeListLimit=1")
    check(ws, 0, "--record", *limit)
    ws.recipe("P/own/gamma.yaml", "Works on gamma and more.")
    assert check(ws, 1, *limit) == {"trigger it": "right", "work on alpha": "right", "work on gamma": "stale"}
    check(ws, 0, "--record", *limit)
    assert len(messages.requests) == 3
    heads = [line for line in recordings(ws).read_text().splitlines() if '"promptVersion"' in line]
    assert len(heads) == 1, "what still holds is bound to the inventory of now"


def test_prune_drops_what_no_case_uses(shop: Workspace) -> None:
    check(shop, 1, "--record")
    lay(shop, {"a": "sell"})
    check(shop, 0)
    assert recorded_tasks(shop) == ["a", "b", "c"]
    # A case in another file beside it uses its recording, too.
    shop.write("P/routes2.jsonl", '{"task": "c", "expect": "mend"}\n')
    result = shop.run("check", "--recipes", "own", "--prune").expect(0)
    assert "1 recordings dropped" in result.stderr
    assert recorded_tasks(shop) == ["a", "c"]
    shop.write("P/routes2.jsonl", '{"task": "c"\n')
    assert "nothing is pruned" in shop.run("check", "--recipes", "own", "--prune").expect(2).stderr
    assert recorded_tasks(shop) == ["a", "c"]


def test_without_an_answer_a_case_is_an_error_and_nothing_is_recorded(
    shop: Workspace, messages: MessagesServer
) -> None:
    messages.reply(none(), text("no answer at all"))
    found = check(shop, 0, "--record", "--jobs", "1")
    assert found == {"trigger it": "right", "a": "right", "b": "right", "c": "error"}
    assert len(messages.requests) == 4, "an answer that cannot be read is asked for again"
    assert recorded_tasks(shop) == ["a", "b"]
    shop.env["ANTHROPIC_API_KEY"] = None
    result = shop.run("check", "--recipes", "own", "--record", "--strict").expect(4)
    assert "set ANTHROPIC_API_KEY" in result.json["cases"][-1]["why"]


def test_a_corrected_reply_replays_as_it_was(shop: Workspace, messages: MessagesServer) -> None:
    lay(shop, {"a": "sell"})
    messages.reply(text("hm"))
    with MessagesServer() as server:
        server.reply(text("let me think"), match("sell"))
        shop.model(server)
        assert check(shop, 0, "--record")["a"] == "right"
        assert len(server.requests) == 2
    report = shop.run("check", "--recipes", "own").expect(0).json
    assert report["cases"][-1]["verdict"] == "right"
    assert report["summary"]["tokens"]["inputTokens"] == 200


def test_k_of_n_answers_judge_a_flaky_case(shop: Workspace, messages: MessagesServer) -> None:
    with MessagesServer() as server:
        server.reply(match("sell"), match("buy"), match("sell"), none(), match("sell"))
        shop.model(server)
        lay(shop, {"a": "sell"}, repeat=3, atLeast=2)
        shop.write("P/routes.yaml", shop.path("P/routes.yaml").read_text().replace("atLeast: 2", "atLeast: 2", 1))
        report = shop.run("check", "--recipes", "own", "--record").expect(0).json["cases"][-1]
        assert (report["verdict"], report["asked"], report["right"]) == ("right", 3, 2)
        assert shop.run("check", "--recipes", "own").expect(0).json["summary"]["tokens"]["inputTokens"] == 3 * 100
        assert len(server.requests) == 3
        # More answers are wanted: only those that are missing are asked for.
        lay(shop, {"a": "sell"}, repeat=5, atLeast=4)
        assert check(shop, 0)["a"] == "unrecorded"
        report = shop.run("check", "--recipes", "own", "--record").expect(1).json["cases"][-1]
        assert (report["verdict"], report["asked"], report["right"]) == ("wrong-recipe", 5, 3)
        assert len(server.requests) == 5
        assert "3 of 5 answers are right, 4 are needed" in report["why"]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_cut_keeps_what_it_has(shop: Workspace, messages: MessagesServer, end: signal.Signals) -> None:
    lay(shop, {f"task {number}": "NONE" for number in range(12)})
    with MessagesServer() as server:
        server.reply(*[none()] * 6, hang(60))
        shop.model(server)
        process = shop.start("check", "--recipes", "own", "--record", "--jobs", "2")
        server.wait_for(8)
        os.killpg(process.pid, end)
        result = shop.finish(process, timeout=20)
        assert result.status == (130 if end is signal.SIGINT else -signal.SIGKILL), result
        assert len(recorded_tasks(shop)) == 6
    with MessagesServer() as server:
        shop.model(server)
        assert set(check(shop, 0, "--record").values()) == {"right"}
        assert len(server.requests) == 6
    assert recorded_tasks(shop) == sorted(recorded_tasks(shop))
    assert len(recorded_tasks(shop)) == 12


def test_a_torn_line_is_passed_over_and_a_foreign_one_is_an_error(shop: Workspace, messages: MessagesServer) -> None:
    check(shop, 1, "--record")
    whole = recordings(shop).read_text(encoding="utf-8")
    recordings(shop).write_text(whole[:-20], encoding="utf-8")
    assert check(shop, 0)["c"] == "unrecorded"
    assert check(shop, 1, "--record") == RECORDED
    assert recordings(shop).read_text(encoding="utf-8") == whole
    lines = whole.splitlines(keepends=True)
    recordings(shop).write_text("".join([*lines[:-2], lines[-2][:-20] + "\n", lines[-1]]), encoding="utf-8")
    result = shop.run("check", "--recipes", "own", "--record").expect(2)
    assert f"routes.recorded.jsonl:{len(lines) - 1}: the line is no recording" in result.stderr
    recordings(shop).write_text("{}\n" + whole, encoding="utf-8")
    assert "routes.recorded.jsonl:1: the line is no recording" in shop.run("check", "--recipes", "own").expect(2).stderr


def test_equal_tasks_are_asked_once(shop: Workspace, messages: MessagesServer) -> None:
    cases = [{"task": "a", "expect": "sell"}, {"task": "a", "not": ["buy"]}, {"task": "a", "expect": "mend"}]
    shop.write("P/routes.yaml", yaml.safe_dump({"cases": cases}))
    report = shop.run("check", "--recipes", "own", "--record").expect(1).json
    assert [case["verdict"] for case in report["cases"]] == ["right", "right", "wrong-recipe"]
    assert len(messages.requests) == 1


def test_a_refusal_slows_everyone_down_and_loses_nobody(shop: Workspace) -> None:
    lay(shop, {f"task {number}": "NONE" for number in range(24)})
    with MessagesServer() as server:
        server.reply(*[status(429, headers={"retry-after": "0.4"})] * 8, delay(0.05, none()))
        shop.model(server)
        assert set(check(shop, 0, "--record", "--jobs", "8").values()) == {"right"}
        times = [request.time for request in server.requests]
        # The eight that were under way are refused; then nobody asks until the time is over, and fewer at a time.
        pauses = [later - sooner for sooner, later in pairwise(times)]
        assert max(pauses) >= 0.3
        longest = pauses.index(max(pauses))
        assert longest <= 8
        assert len(times) == 24 + 8


def test_recordings_are_not_written_through_a_link(shop: Workspace) -> None:
    recordings(shop).symlink_to(shop.root / "elsewhere")
    result = shop.run("check", "--recipes", "own", "--record").expect(2)
    assert "it is a link that leaves the project" in result.stderr
    assert not (shop.root / "elsewhere").exists()
