"""`vancectl select --batch`: many tasks in one run, each decided as it would be alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.messages_server import MessagesServer, match, none
from tests.workspace import Workspace
from vancectl.batch.run import TriggerLines
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.inventory import take_inventory
from vancectl.inventory.layer import find_layers
from vancectl.selector.selector import Selector
from vancectl.selector.semantic.stage import Semantic


def no_model() -> Semantic:
    raise AssertionError("the model stage is not reached")


def test_rendered_lines_equal_the_decisions_made_alone(routing_bench: Path) -> None:
    folder = routing_bench / "gbrain-skills"
    inventory = take_inventory(Cascade(find_layers(folder, directories=[folder / "inventory"]), use_cache=False))
    selector = Selector(inventory, no_model, lambda _: [], many_tasks=True)
    lines = TriggerLines(selector)
    answered = 0
    cases = [json.loads(line)["task"] for line in (folder / "cases.jsonl").read_text().splitlines()]
    for task in [*cases, *(f"Ünd  dann:\t{case} – ÄÖÜ ß" for case in cases)]:
        line = lines.answer(task)
        if line is not None:
            answered += 1
            assert json.loads(line) == selector.select(task).as_json()
    assert answered == 2 * 219


def test_lines_come_in_the_order_of_the_tasks(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/fix.yaml", "Fixes.", triggers=["fix tests"])
    ws.model(messages)
    messages.reply(none("nothing"), match("fix", "asks for it"))
    tasks = ["fix tests", "Größe?", "", '{"task": "please fix tests", "id": 7}', "mend it", "fix  TESTS now"]
    result = ws.run("batch", "-", "--jobs", "1", stdin="\n".join(tasks)).expect()
    assert [(line["decision"], line["reason"]) for line in result.jsonl] == [
        ("MATCH", "single-trigger"),
        ("NONE", "model-none"),
        ("NONE", "empty-task"),
        ("MATCH", "single-trigger"),
        ("MATCH", "model-match"),
        ("MATCH", "single-trigger"),
    ]
    assert result.jsonl[3]["id"] == 7
    assert [(hit["start"], hit["end"]) for hit in result.jsonl[5]["matched"]] == [(0, 10)]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_line_end_at_the_end_is_no_task(ws: Workspace, end: str) -> None:
    ws.recipe("P/recipes/fix.yaml", "Fixes.", triggers=["fix tests"])
    ws.write("P/tasks.txt", "\ufefffix tests" + end)
    assert [line["recipe"] for line in ws.run("batch", "tasks.txt").expect().jsonl] == ["fix"]


def test_a_bad_line_loses_nothing_else(ws: Workspace) -> None:
    ws.recipe("P/recipes/fix.yaml", "Fixes.", triggers=["fix tests"])
    tasks = 'fix tests\n{"task": 1}\n{"nope\nfix tests\n{"id": 1}\n'
    result = ws.run("batch", "-", stdin=tasks).expect(2)
    assert [line.get("recipe", line.get("error")) for line in result.jsonl] == [
        "fix",
        "line 2: the object has no text `task`",
        "line 3: not JSON (Unterminated string starting at: line 1 column 2 (char 1))",
        "fix",
        "line 5: the object has no text `task`",
    ]


def test_the_first_answer_does_not_wait_for_the_last_task(ws: Workspace) -> None:
    ws.recipe("P/recipes/fix.yaml", "Fixes.", triggers=["fix tests"])
    process = ws.start("batch", "-", stdin=-1)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"fix tests\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["recipe"] == "fix"
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(30) == 0


def test_strict_and_exit_code_speak_for_the_whole_batch(ws: Workspace) -> None:
    ws.recipe("P/recipes/fix.yaml", "Fixes.", triggers=["fix tests"])
    ws.env["VANCECTL_SELECTOR__BACKEND"] = "off"
    tasks = "fix tests\nsomething else\n"
    ws.run("batch", "-", stdin=tasks).expect(0)
    ws.run("batch", "-", "--exit-code", stdin=tasks).expect(1)
    ws.run("batch", "-", "--strict", stdin=tasks).expect(4)
    ws.run("batch", "-", "--strict", "--exit-code", stdin="fix tests\n").expect(0)
