"""Plans: many delegations in one file, carried out some at a time, resumed where they were broken off."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace


def good(ws: Workspace, script: str = 'echo "$1" >>runs', **more: object) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.recipe("P/recipes/other.yaml", triggers=["write notes"])
    ws.settings({"spawn.command": ["sh", "-c", script.replace("{", "{{").replace("}", "}}"), "sh", "{name}"],
                 "spawn.stdin": "none", **more})  # fmt: skip


def plan(ws: Workspace, document: object) -> None:
    ws.write("P/work.yaml", json.dumps(document))  # JSON is YAML


def run(ws: Workspace, *args: str, status: int = 0, **options: Any) -> Result:
    return ws.run("delegate", "--plan", "work.yaml", *args, **options).expect(status)


def runs(ws: Workspace) -> list[str]:
    path = ws.path("P/runs")
    return sorted(path.read_text().split()) if path.exists() else []


def test_children_with_and_without_a_recipe(ws: Workspace) -> None:
    good(ws)
    plan(ws, {"session": "s", "children": [
        {"name": "a", "recipe": "other", "task": "x"}, {"task": "fix tests"}, {"recipe": "good"},
    ]})  # fmt: skip
    answer = run(ws).json
    assert [answer[key] for key in ("children", "succeeded", "failed", "notStarted")] == [3, 3, 0, 0]
    children = answer["answers"]
    assert [child["name"] for child in children] == ["a", "work-0002", "work-0003"]
    assert [child["recipe"] for child in children] == ["other", "good", "good"]
    assert [child["stage"] for child in children] == ["explicit", "trigger", "explicit"]
    assert {child["process"]["session"] for child in children} == {"s"}
    assert {child["process"]["status"] for child in children} == {"DONE"}
    assert runs(ws) == ["a", "work-0002", "work-0003"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.jsonl", '{"id": 1, "who": "Ärger"}\n\n{"id": 2, "who": "b"}\n'),
        ("items.csv", "\ufeffid,who\n1,Ärger\n2,b\n"),
        ("items.yaml", "- {id: 1, who: Ärger}\n- id: 2\n  who: b\n"),
    ],
)
def test_items_from_a_file(ws: Workspace, name: str, content: str) -> None:
    good(ws)
    ws.write(f"P/{name}", content)
    template = {
        "name": "n{{ item.id }}",
        "recipe": "good",
        "task": "for {{ item.who }}",
        "params": {"n": ["{{ number }}"]},
    }
    plan(ws, {"children": [{"expand": {"items": name, "childTemplate": template}}]})
    planned = run(ws, "--dry-run").json["answers"]
    assert [child["name"] for child in planned] == ["n1", "n2"]
    assert [child["plan"]["payload"]["task"] for child in planned] == ["for Ärger", "for b"]
    assert [child["plan"]["payload"]["appliedRecipe"]["params"] for child in planned] == [{"n": ["1"]}, {"n": ["2"]}]
    assert not ws.state.exists()


@pytest.mark.parametrize(("reply", "calls"), [(scripted.match("other"), 1), (scripted.none(), 4)])
def test_one_call_for_all_children_of_a_template(
    ws: Workspace, messages: MessagesServer, reply: scripted.Behaviour, calls: int
) -> None:
    good(ws)
    ws.model(messages)
    messages.reply(reply)
    template = {"task": "Paint {{ item }}"}
    plan(ws, {"children": [{"expand": {"items": ["a", "b", "c"], "childTemplate": template}}]})
    children = run(ws).json["answers"]
    assert len(messages.requests) == calls
    assert {child["decision"] for child in children} == {"MATCH" if calls == 1 else "NONE"}
    assert {child["process"]["recipe"] for child in children} == {"other" if calls == 1 else "default"}
    assert "Paint {{ item }}" in json.dumps(messages.requests[0].body)


def test_the_order_of_the_plan_and_the_number_of_jobs(ws: Workspace) -> None:
    script = "echo x >>now; wc -l <now >>most; sleep 0.$((RANDOM % 5 + 1)); sed -i 1d now"
    good(ws, f"flock lock true; {script}")
    plan(ws, {"children": [{"recipe": "good", "name": f"c{number}"} for number in range(8)]})
    answer = run(ws, "--jobs", "3").json
    assert [child["name"] for child in answer["answers"]] == [f"c{number}" for number in range(8)]
    assert answer["succeeded"] == 8


def test_a_child_that_fails(ws: Workspace) -> None:
    good(ws, 'echo "$1" >>runs; [ "$1" != b ]')
    plan(ws, {"children": [{"recipe": "good", "name": name} for name in "abcd"]})
    failed = run(ws, "--jobs", "1", status=3)
    assert [failed.json[key] for key in ("succeeded", "failed", "notStarted")] == [3, 1, 0]
    assert "warning: b: the spawn command ended with status 1" in failed.stderr
    assert runs(ws) == ["a", "b", "c", "d"]


def test_fail_fast(ws: Workspace) -> None:
    good(ws, 'echo "$1" >>runs; [ "$1" != b ]')
    plan(ws, {"children": [{"recipe": "good", "name": name} for name in "abcd"]})
    failed = run(ws, "--jobs", "1", "--fail-fast", status=3).json
    assert [failed[key] for key in ("succeeded", "failed", "notStarted")] == [1, 1, 2]
    assert runs(ws) == ["a", "b"]
    assert failed["answers"][3] == {"name": "d"}


def test_a_child_whose_recipe_is_unknown_does_not_stop_the_others(ws: Workspace) -> None:
    good(ws)
    plan(ws, {"children": [{"recipe": "oops", "name": "a"}, {"recipe": "good", "name": "b"}]})
    failed = run(ws, status=3).json
    assert "there is no recipe `oops`" in failed["answers"][0]["error"]
    assert runs(ws) == ["b"]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({}, "the plan has no `children`"),
        ({"children": []}, "the plan has no `children`"),
        ({"childern": []}, "did you mean `children`?"),
        ({"children": [3]}, "work.yaml:1:15: a child must be a mapping"),
        ({"children": [{"name": "a"}]}, "must have a `task` that is not blank"),
        ({"children": [{"task": " "}]}, "must have a `task` that is not blank"),
        ({"children": [{"task": "x", "taks": "y"}]}, "did you mean `task`?"),
        ({"children": [{"task": 3}]}, "`task` must be a text"),
        ({"children": [{"name": "a", "task": "x"}] * 2}, "two children have the name `a`"),
        ({"children": [{"expand": {"items": "gone.csv", "childTemplate": {}}}]}, "gone.csv: the items cannot be read"),
        ({"children": [{"expand": {"items": [1]}}]}, "must have `items` and a `childTemplate`"),
        ({"children": [{"expand": {"items": [1], "childTemplate": {"task": "{{ itme }}"}}}]}, "'itme' is undefined"),
    ],
)
def test_a_plan_that_is_none(ws: Workspace, document: object, told: str) -> None:
    good(ws)
    plan(ws, document)
    failed = run(ws, status=2)
    assert (failed.stdout, told in failed.stderr) == ("", True), failed.stderr
    assert not ws.state.exists()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.jsonl", '{"a": 1}\n{oops\n', "x.jsonl:2: not JSON"),
        ("x.csv", "a,b\n1\n", "x.csv:2: a row has another number of fields"),
        ("x.yaml", "- a\n- {b\n", "x.yaml:"),
        ("x.yaml", "a: 1\n", "the items must be a list"),
    ],
)
def test_items_that_are_none(ws: Workspace, name: str, content: str, told: str) -> None:
    good(ws)
    ws.write(f"P/{name}", content)
    plan(ws, {"children": [{"expand": {"items": name, "childTemplate": {"task": "x"}}}]})
    failed = run(ws, status=2)
    assert told in failed.stderr
    assert "Traceback" not in failed.stderr


def test_an_interrupt_ends_what_runs_and_the_rest_is_resumed(ws: Workspace) -> None:
    good(ws, 'echo "$1" >>runs; [ -e go ] || exec sleep 60')
    plan(ws, {"children": [{"recipe": "good", "name": name} for name in "abcd"]})
    running = ws.start("delegate", "--plan", "work.yaml", "--jobs", "2")
    limit = time.monotonic() + 10
    while len(runs(ws)) < 2 and time.monotonic() < limit:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    ended = ws.finish(running, timeout=20).expect(130)
    assert "Traceback" not in ended.stderr
    known = ws.run("processes", "list").expect().json
    assert sorted((each["name"], each["status"]) for each in known) == [("a", "STOPPED"), ("b", "STOPPED")]
    ws.write("P/go", "")
    answer = run(ws, "--resume").json
    assert answer["succeeded"] == 4
    assert runs(ws) == ["a", "a", "b", "b", "c", "d"]


def test_what_has_run_is_not_started_again(ws: Workspace) -> None:
    good(ws, 'echo "$1" >>runs; [ "$1" != b ]')
    plan(ws, {"children": [{"recipe": "good", "name": name} for name in "ab"]})
    run(ws, status=3)
    again = run(ws, "--resume", status=3).json
    assert [child["process"]["status"] for child in again["answers"]] == ["DONE", "FAILED"]
    plain = run(ws, status=3).json
    assert {child["process"]["status"] for child in plain["answers"]} == {"already_exists"}
    assert runs(ws) == ["a", "b"]


def test_a_thousand_children_survive_a_kill(ws: Workspace) -> None:
    """Killed in its midst and resumed: each child has run once, none is lost, none doubled."""
    good(ws)
    plan(ws, {"children": [{"expand": {"items": list(range(1000)), "childTemplate": {"recipe": "good"}}}]})
    running = ws.start("delegate", "--plan", "work.yaml", "--jobs", "6")
    limit = time.monotonic() + 60
    while len(runs(ws)) < 150 and time.monotonic() < limit:
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    answer = run(ws, "--jobs", "6", "--resume", timeout=240).json
    assert (answer["children"], answer["succeeded"]) == (1000, 1000)
    assert runs(ws) == [f"work-{number:04}" for number in range(1, 1001)]


@pytest.mark.parametrize("args", [["--name", "a"], ["x"], ["--request", "-"], ["--no-wait"]])
def test_a_plan_is_the_whole_request(ws: Workspace, args: list[str]) -> None:
    good(ws)
    plan(ws, {"children": [{"recipe": "good"}]})
    assert "put everything into the plan" in run(ws, *args, status=2).stderr


def test_on_a_terminal(ws: Workspace) -> None:
    good(ws)
    plan(ws, {"children": [{"recipe": "good", "name": "a", "task": "x"}]})
    shown = ws.run("delegate", "--plan", "work.yaml", tty=True).expect().stdout
    assert "1 of 1 children succeeded, 0 failed" in shown
    assert "DONE" in shown
