"""Plans: many delegations in one file, carried out some at a time, resumed where they were broken off."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import time
from pathlib import Path
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
    return ws.run("plan", "work.yaml", *args, **options).expect(status)


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
    names = [child["name"] for child in children]
    assert names[0] == "a"
    assert all(re.fullmatch(r"work-[0-9a-f]{8}", name) for name in names[1:])
    assert [child["recipe"] for child in children] == ["other", "good", "good"]
    assert [child["stage"] for child in children] == ["explicit", "trigger", "explicit"]
    assert {child["process"]["session"] for child in children} == {"s"}
    assert {child["process"]["status"] for child in children} == {"DONE"}
    assert runs(ws) == sorted(names)


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
        ({"children": [3]}, "work.yaml:1:15: the plan: a child must be a mapping"),
        ({"children": [{"name": "a"}]}, "must have a `task` that is not blank"),
        ({"children": [{"task": " "}]}, "must have a `task` that is not blank"),
        ({"children": [{"task": "x", "taks": "y"}]}, "did you mean `task`?"),
        ({"children": [{"task": [3]}]}, "`task` must be text (found a list)"),
        ({"children": [{"name": "a", "task": "x"}] * 2}, "two children have the name `a`"),
        ({"children": [{"expand": {"items": "gone.csv", "childTemplate": {}}}]}, "gone.csv: the items cannot be read"),
        ({"children": [{"expand": {"items": [1]}}]}, "the field `expand.childTemplate` is missing"),
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
    running = ws.start("plan", "work.yaml", "--jobs", "2")
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
    running = ws.start("plan", "work.yaml", "--jobs", "6")
    limit = time.monotonic() + 60
    while len(runs(ws)) < 150 and time.monotonic() < limit:
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    answer = run(ws, "--jobs", "6", "--resume", timeout=240).json
    assert (answer["children"], answer["succeeded"]) == (1000, 1000)
    found = runs(ws)
    assert len(found) == len(set(found)) == 1000


@pytest.mark.parametrize("args", [["--name", "a"], ["x"], ["--request", "-"], ["--no-wait"]])
def test_a_plan_is_the_whole_request(ws: Workspace, args: list[str]) -> None:
    good(ws)
    plan(ws, {"children": [{"recipe": "good"}]})
    earlier = ws.run("delegate", "--plan", "work.yaml", *args).expect(2).stderr
    assert "put everything into the plan" in earlier


def test_the_earlier_spelling_of_a_plan_says_the_new_one(ws: Workspace) -> None:
    good(ws)
    plan(ws, {"children": [{"recipe": "good", "task": "x"}]})
    earlier = ws.run("delegate", "--plan", "work.yaml").expect(0)
    assert earlier.stderr == "note: `vancectl plan FILE` is the spelling of `delegate --plan FILE` from now on\n"
    assert earlier.json["succeeded"] == 1
    assert "--plan" not in ws.run("delegate", "--help").stdout


def test_on_a_terminal(ws: Workspace) -> None:
    good(ws)
    plan(ws, {"children": [{"recipe": "good", "name": "a", "task": "x"}]})
    shown = ws.run("plan", "work.yaml", tty=True).expect().stdout
    assert "1 of 1 children succeeded, 0 failed" in shown
    assert "DONE" in shown


# Taking up again, by what was done.


def letters(ws: Workspace, rows: str, *, task: str = "for {{ item.name }}", **more: str) -> None:
    """A plan over a CSV, whose program notes the task that it was started with."""
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings({"spawn.command": ["sh", "-c", 'echo "$0" >>runs; [ ! -e "fail-$0" ]', "{task}"],
                 "spawn.stdin": "none"})  # fmt: skip
    ws.write("P/c.csv", rows)
    template = {"recipe": "good", "task": task, **more}
    plan(ws, {"children": [{"expand": {"items": "c.csv", "childTemplate": template}}]})


def ran(ws: Workspace) -> list[str]:
    return sorted(ws.path("P/runs").read_text().splitlines())


@pytest.mark.parametrize("column", ["id", "nr"], ids=["with-ids", "without"])
@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (["0,Zoe", "1,Ann", "2,Bob", "3,Cid"], ["Ann", "Bob", "Cid", "Zoe"]),
        (["3,Cid", "1,Ann", "2,Bob"], ["Ann", "Bob", "Cid"]),
        (["3,Cid", "4,Dan", "1,Ann"], ["Ann", "Bob", "Cid", "Dan"]),
    ],
    ids=["inserted", "reordered", "removed"],
)
def test_rows_that_moved(ws: Workspace, column: str, after: list[str], expected: list[str]) -> None:
    letters(ws, "\n".join([f"{column},name", "1,Ann", "2,Bob", "3,Cid", ""]))
    first = {child["name"] for child in run(ws).json["answers"]}
    letters(ws, "\n".join([f"{column},name", *after, ""]))
    answer = run(ws, "--resume").json
    assert ran(ws) == [f"for {name}" for name in expected]
    kept = len(set(after) & {"1,Ann", "2,Bob", "3,Cid"})
    assert (answer["succeeded"], answer["existing"]) == (len(after), kept)
    if column == "id":
        assert first == {"work-1", "work-2", "work-3"}
    again = run(ws).json
    assert (again["existing"], len(ran(ws))) == (len(after), len(expected))


def test_equal_rows_are_each_done_once(ws: Workspace) -> None:
    letters(ws, "name\nAnn\nAnn\n")
    run(ws)
    letters(ws, "name\nBob\nAnn\nAnn\nAnn\n")
    assert run(ws, "--resume").json["succeeded"] == 4
    assert ran(ws) == ["for Ann"] * 3 + ["for Bob"]


@pytest.mark.parametrize("options", [("--resume",), ()], ids=["resumed", "run-again"])
@pytest.mark.parametrize(
    ("names", "after", "line"),
    [
        ({"name": "l-{{ index }}"}, "id,name\n0,Zoe\n1,Ann\n", 2),
        ({}, "id,name\n1,Ann\n2,Bobby\n", 3),
    ],
    ids=["names-that-count-rows", "an-id-with-another-task"],
)
def test_a_name_that_was_asked_for_something_else_is_refused_with_its_line(
    ws: Workspace, names: dict[str, str], after: str, line: int, options: tuple[str, ...]
) -> None:
    letters(ws, "id,name\n1,Ann\n2,Bob\n", **names)
    run(ws)
    letters(ws, after, **names)
    told = run(ws, *options, status=2).stderr
    assert f"c.csv:{line}: the process `" in told
    assert "was asked for something else than this child" in told
    assert ran(ws) == ["for Ann", "for Bob"]


def test_what_failed_has_another_turn_where_that_is_asked_for(ws: Workspace) -> None:
    letters(ws, "id,name\n1,Ann\n2,Bob\n")
    ws.write("P/fail-for Bob", "")
    run(ws, status=3)
    run(ws, "--resume", status=3)
    ws.path("P/fail-for Bob").unlink()
    assert run(ws, "--resume", "--retry-failed").json["succeeded"] == 2
    assert ran(ws) == ["for Ann", "for Bob", "for Bob"]
    assert "--retry-failed belongs to --resume" in run(ws, "--retry-failed", status=2).stderr


def test_what_failed_may_be_asked_for_in_other_words(ws: Workspace) -> None:
    letters(ws, "id,name\n1,Ann\n2,Bbo\n")
    ws.write("P/fail-for Bbo", "")
    run(ws, status=3)
    letters(ws, "id,name\n1,Ann\n2,Bob\n")
    assert "c.csv:3: the process `work-2` was asked for something else" in run(ws, "--resume", status=2).stderr
    assert run(ws, "--resume", "--retry-failed").json["succeeded"] == 2
    assert ran(ws) == ["for Ann", "for Bbo", "for Bob"]


def test_records_of_an_earlier_version_with_names_by_place(ws: Workspace) -> None:
    letters(ws, "name\nAnn\n")
    ws.run("delegate", "--name", "work-0001", "--recipe", "good", "for Ann").expect()
    with sqlite3.connect(ws.state / "processes.sqlite3") as connection:
        connection.execute("UPDATE process SET asked = NULL")
    told = run(ws, "--resume", status=2).stderr
    assert "named its children by their place (`work-0001`)" in told
    assert ran(ws) == ["for Ann"]


# What is said of a run.


def test_a_dry_run_says_would(ws: Workspace) -> None:
    letters(ws, "id,name\n1,Ann\n2,Bob\n")
    planned = run(ws, "--dry-run").json
    counts = ("children", "succeeded", "failed", "planned", "existing")
    assert [planned[key] for key in counts] == [2, 0, 0, 2, 0]
    assert planned["answers"][0]["plan"]["items"] == "c.csv"
    assert "2 would be started, 0 are there already" in run(ws, "--dry-run", tty=True).stdout
    run(ws)
    letters(ws, "id,name\n1,Ann\n2,Bob\n3,Cid\n")
    for options in ((), ("--resume",)):
        planned = run(ws, "--dry-run", *options).json
        assert [planned[key] for key in counts] == [3, 0, 0, 1, 2]
    shown = run(ws, "--dry-run", tty=True).stdout
    assert "1 would be started, 2 are there already" in shown
    assert "reads c.csv" in shown
    run(ws)
    assert "3 of 3 children succeeded, 0 failed, 3 were there already" in run(ws, tty=True).stdout


def test_a_child_with_a_bare_none_has_not_succeeded(ws: Workspace) -> None:
    good(ws)
    plan(ws, {"fallbackOnNone": False, "children": [{"task": "paint the fence"}, {"recipe": "good"}]})
    answer = run(ws).json
    assert [answer[key] for key in ("succeeded", "failed", "none")] == [1, 0, 1]
    assert "1 started nothing (NONE)" in run(ws, tty=True).stdout
    run(ws, "--strict", status=4)


def test_the_goal_is_the_task_and_a_plan_comes_from_standard_input(ws: Workspace) -> None:
    letters(ws, "name\nAnn\n")
    document = json.dumps({"children": [{"goal": "fix tests", "name": "g"}, {"prompt": "x", "recipe": "good"}]})
    answer = ws.run("plan", "-", stdin=document).expect().json
    assert [child["recipe"] for child in answer["answers"]] == ["good", "good"]
    assert answer["answers"][1]["name"].startswith("plan-")
    assert ran(ws) == ["fix tests", "x"]


# What a plan may reach.


def test_a_program_at_the_end_is_not_for_a_plan_to_name(ws: Workspace) -> None:
    good(ws)
    ws.program("ours", 'cat >>"$PWD/ours.txt"')
    plan(ws, {"children": [{"recipe": "good", "name": "a", "onExit": ["sh", "-c", "touch theirs"]}]})
    told = run(ws, status=2).stderr
    assert "work.yaml:1:15: the child names a program to call at the end (onExit)" in told
    assert not ws.state.exists()
    shown = run(ws, "--dry-run", "--set", "spawn.planOnExit=true").json
    assert shown["answers"][0]["plan"]["onExit"] == ["sh", "-c", "touch theirs"]
    run(ws, "--on-exit", "ours")
    limit = time.monotonic() + 10
    while not ws.path("P/ours.txt").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert ws.path("P/ours.txt").exists()
    assert not ws.path("P/theirs").exists()


@pytest.mark.parametrize("kind", ["absolute", "above", "link", "link-to-a-folder", "device", "pipe"])
def test_items_lie_below_the_plan(ws: Workspace, kind: str) -> None:
    good(ws)
    outside = ws.write("H/private.csv", "id\n7\n")
    items = {"absolute": str(outside), "above": f"../{outside.parent.name}/private.csv", "link": "in.csv",
             "link-to-a-folder": "in/private.csv", "device": "in.csv", "pipe": "in.csv"}[kind]  # fmt: skip
    if kind == "pipe":
        os.mkfifo(ws.path("P/in.csv"))
    elif kind != "absolute" and items.startswith("in"):
        target: Path = {"device": Path("/dev/zero"), "link": outside, "link-to-a-folder": outside.parent}[kind]
        ws.path("P/in" if kind == "link-to-a-folder" else "P/in.csv").symlink_to(target)
    plan(ws, {"children": [{"expand": {"items": items, "childTemplate": {"recipe": "good"}}}]})
    told = run(ws, "--dry-run", status=2).stderr
    assert ("are no plain file" if kind == "pipe" else "lie outside of the plan's folder") in told
    if kind not in {"pipe", "device"}:
        assert run(ws, "--dry-run", "--items-from", str(outside.parent)).json["planned"] == 1
