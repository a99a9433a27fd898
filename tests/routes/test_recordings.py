"""The file of recordings is read strictly, since it is merged, edited and moved, and written where it stands alone."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.messages_server import MessagesServer, answer, hang, match
from tests.routes.answerer import from_table
from tests.workspace import Workspace
from vancectl.model.question import digest


@pytest.fixture
def shop(ws: Workspace, messages: MessagesServer) -> Workspace:
    """Two cases that need the model, both recorded."""
    for name in ("sell", "buy"):
        ws.recipe(f"P/recipes/{name}.yaml", f"We {name} things.")
    ws.write("P/routes.yaml", "cases:\n- {task: a, expect: sell}\n- {task: b, expect: buy}\n")
    messages.reply(from_table({"a": "sell", "b": "buy", "c": "buy"}))
    ws.model(messages)
    ws.env["VANCECTL_MODEL"] = "model-1"
    ws.run("check", "--record").expect(0)
    return ws


def recordings(ws: Workspace) -> Path:
    return ws.path("P/routes.recorded.jsonl")


def lines_of(ws: Workspace) -> list[str]:
    return recordings(ws).read_text(encoding="utf-8").splitlines(keepends=True)


def other_answer(line: str) -> str:
    value: dict[str, Any] = json.loads(line)
    value["samples"][0][0]["text"] = '{"decision": "NONE", "rationale": "no"}'
    return json.dumps(value) + "\n"


def conflict(lines: list[str]) -> tuple[list[str], int]:
    return [*lines[:-1], "<<<<<<< HEAD\n", lines[-1], "=======\n", other_answer(lines[-1]), ">>>>>>> x\n"], len(lines)


def conflict_of_three(lines: list[str]) -> tuple[list[str], int]:
    return [*lines, "||||||| base\n", "=======\n", ">>>>>>> x\n"], len(lines) + 1


def two_answers(lines: list[str]) -> tuple[list[str], int]:
    return [*lines, other_answer(lines[-1])], len(lines) + 1


def torn_in_the_middle(lines: list[str]) -> tuple[list[str], int]:
    return [*lines[:3], lines[3][:20] + "\n", *lines[4:]], 4


def torn_before_the_end(lines: list[str]) -> tuple[list[str], int]:
    return [*lines[:-1], lines[-1][:-9] + "\n"], len(lines)


def foreign_end(lines: list[str]) -> tuple[list[str], int]:
    return [*lines, "garbage"], len(lines) + 1


def no_recordings_at_all(lines: list[str]) -> tuple[list[str], int]:
    return ["garbage"], 1


def cut_in_half(lines: list[str]) -> tuple[list[str], int]:
    return [line[: len(line) // 2] + "\n" for line in lines], 1


def only_answers(lines: list[str]) -> tuple[list[str], int]:
    return [lines[-1].rstrip("\n")[:-5]], 1


def key_twice(lines: list[str]) -> tuple[list[str], int]:
    return [*lines[:-1], lines[-1].replace('"task"', '"task": "x", "task"', 1)], len(lines)


def two_digests(lines: list[str]) -> tuple[list[str], int]:
    value = {**json.loads(lines[1]), "digest": "0"}
    return [*lines[:2], json.dumps(value) + "\n", *lines[2:]], 3


def newer(lines: list[str]) -> tuple[list[str], int]:
    return [lines[0].replace('"version": 1', '"version": 2'), *lines[1:]], 1


DAMAGE = (
    conflict, conflict_of_three, two_answers, torn_in_the_middle, torn_before_the_end, foreign_end,
    no_recordings_at_all, cut_in_half, only_answers, key_twice, two_digests, newer,
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=[damage.__name__ for damage in DAMAGE])
def test_damage_is_an_error_with_its_line_and_nothing_is_written_over(shop: Workspace, damage: Any) -> None:
    lines, number = damage(lines_of(shop))
    recordings(shop).write_text("".join(lines), encoding="utf-8")
    before = recordings(shop).read_bytes()
    for options in ((), ("--record",), ("--prune",), ("--strict",)):
        done = shop.run("check", *options).expect(2)
        assert f"routes.recorded.jsonl:{number}: " in done.stderr
        assert recordings(shop).read_bytes() == before


def test_two_answers_name_both_lines(shop: Workspace) -> None:
    lines, number = two_answers(lines_of(shop))
    recordings(shop).write_text("".join(lines), encoding="utf-8")
    assert f"than line {number - 1} holds" in shop.run("check").expect(2).stderr.replace("\n", " ")


@pytest.mark.parametrize("cut", [1, 30, 80, -1])
def test_a_torn_last_line_is_left_out_and_recorded_again(shop: Workspace, cut: int) -> None:
    lines = lines_of(shop)
    recordings(shop).write_text("".join(lines[:-1]) + lines[-1].rstrip("\n")[:cut], encoding="utf-8")
    verdicts = [case["verdict"] for case in shop.run("check").expect(0).json["cases"]]
    assert verdicts == ["right", "unrecorded"]
    shop.run("check", "--record").expect(0)
    assert lines_of(shop) == lines


def test_a_run_that_is_killed_after_a_torn_line_leaves_no_torn_line_inside(
    shop: Workspace, messages: MessagesServer
) -> None:
    lines = lines_of(shop)
    recordings(shop).write_text("".join(lines)[:-9], encoding="utf-8")
    shop.write(
        "P/routes.yaml", "cases:\n- {task: a, expect: sell}\n- {task: c, expect: buy}\n- {task: b, expect: buy}\n"
    )
    with MessagesServer() as server:
        server.reply(match("buy"), hang(60))
        shop.model(server)
        process = shop.start("check", "--record", "--jobs", "1")
        server.wait_for(2)
        process.kill()
        shop.finish(process, timeout=20)
    verdicts = {case["task"]: case["verdict"] for case in shop.run("check").expect(0).json["cases"]}
    assert verdicts == {"a": "right", "c": "right", "b": "unrecorded"}


def test_both_sides_of_a_merge_that_asked_different_questions_are_kept(shop: Workspace) -> None:
    """Each branch has its own recipes, and so its own questions: what holds now counts, whichever line is lower."""
    ours = lines_of(shop)
    shop.recipe("P/recipes/more.yaml", "We more things.")
    shop.run("check", "--record").expect(0)
    theirs = lines_of(shop)
    for both in ([*ours, *theirs], [*theirs, *ours]):
        recordings(shop).write_text("".join(both), encoding="utf-8")
        shop.run("check", "--strict").expect(0)
    shop.env["ANTHROPIC_API_KEY"] = None
    shop.run("check", "--record", "--strict").expect(0)
    assert lines_of(shop) == theirs


def test_a_second_run_that_records_says_who_does(shop: Workspace, messages: MessagesServer) -> None:
    shop.write("P/routes.yaml", "cases:\n- {task: c, expect: buy}\n")
    with MessagesServer() as server:
        server.reply(hang(60))
        shop.model(server)
        process = shop.start("check", "--record")
        server.wait_for(1)
        done = shop.run("check", "--record").expect(2)
        assert f"process {process.pid} is writing these recordings" in done.stderr
        shop.run("check").expect(1)
        process.kill()
        shop.finish(process, timeout=20)
    shop.model(messages)
    shop.run("check", "--record").expect(0)


# -- what is no plain file of the project


def link_to(target: str) -> Any:
    return lambda path: path.symlink_to(target)


def secret(path: Path) -> None:
    outside = next(each.parent for each in path.parents if each.name == "project") / "secret.yaml"
    outside.write_text("cases:\n- {task: a, expect: sell}\n")
    path.symlink_to(outside)


ODD = {"zero": link_to("/dev/zero"), "pipe": os.mkfifo, "outside": secret, "folder": os.mkdir, "itself": link_to("x")}


@pytest.mark.parametrize("name", ["routes.yaml", "routes/more.yaml", "routes/more.jsonl", "routes.recorded.jsonl"])
@pytest.mark.parametrize("kind", ODD)
def test_cases_and_recordings_are_plain_files_of_the_project(shop: Workspace, name: str, kind: str) -> None:
    if kind == "folder" and name.startswith("routes/"):
        pytest.skip("a folder in there holds cases")
    path = shop.path(f"P/{name}")
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    ODD[kind](path)
    for command in (("check",), ("check", "--record")):
        done = shop.run(*command, timeout=20).expect(2)
        assert str(path.name) in done.stderr
        assert "cannot be read" in done.stderr or "is a folder" in done.stderr
    if kind == "outside" and "recorded" not in name:
        assert "leaves the project" in done.stderr
    shop.run("recipes", "lint", timeout=20)


def test_a_link_that_stays_in_the_project_is_read(shop: Workspace) -> None:
    recordings(shop).rename(shop.path("P/kept.jsonl"))
    recordings(shop).symlink_to("../kept.jsonl")
    shop.run("check", "--strict").expect(0)
    shop.write("P/routes.yaml", "cases:\n- {task: c, expect: buy}\n")
    assert "nothing is written through one" in shop.run("check", "--record").expect(2).stderr.replace("\n", " ")


def test_recordings_are_not_written_through_a_linked_folder(shop: Workspace) -> None:
    outside = shop.root / "outside"
    outside.mkdir()
    shop.path("P/routes").symlink_to(outside)
    shop.write("P/good.yaml", "cases:\n- {task: c, expect: buy}\n")
    done = shop.run("check", "good.yaml", "--record", "--replay", ".vance/routes/new.jsonl").expect(2)
    assert "leaves the project" in done.stderr
    assert not list(outside.iterdir())


def test_a_new_file_has_the_usual_mode_and_an_old_one_its_own(shop: Workspace) -> None:
    usual = stat.S_IMODE(shop.path("P/routes.yaml").stat().st_mode)
    assert stat.S_IMODE(recordings(shop).stat().st_mode) == usual
    recordings(shop).chmod(0o664)
    shop.write("P/routes.yaml", "cases:\n- {task: c, expect: buy}\n")
    shop.run("check", "--record").expect(0)
    assert stat.S_IMODE(recordings(shop).stat().st_mode) == 0o664


# -- one final line end is no part of a task


@pytest.mark.parametrize("recorded", ["|\n    c\n", "c\n", '"c\\r\\n"\n'])
@pytest.mark.parametrize("asked", ["|\n    c\n", "c\n"])
def test_a_final_line_end_is_no_part_of_the_question(shop: Workspace, recorded: str, asked: str) -> None:
    shop.write("P/routes.yaml", f"cases:\n- task: {recorded}  expect: buy\n")
    shop.run("check", "--record").expect(0)
    shop.env["ANTHROPIC_API_KEY"] = None
    shop.write("P/routes.yaml", f"cases:\n- task: {asked}  expect: buy\n")
    shop.run("check", "--strict").expect(0)
    for words in ("c", "c\n"):
        decision = shop.run("select", "--replay", recordings(shop), words).expect(0).json
        assert decision["recipe"] == "buy"


def test_an_answer_that_was_recorded_with_the_line_end_still_holds(shop: Workspace, messages: MessagesServer) -> None:
    """As earlier versions recorded a case that is a block of YAML."""
    messages.reply(answer(lambda _: match("buy")))
    live = shop.run("select", "--json", "d\n").expect(0).json
    assert live["recipe"] == "buy"
    body = messages.requests[-1].body
    system = "".join(block["text"] for block in body["system"]) if isinstance(body["system"], list) else body["system"]
    context, request = (block["text"] for block in body["messages"][0]["content"])
    question = digest("\0".join(["1", "model-1", system, context, request]))
    value = {**json.loads(lines_of(shop)[-1]), "task": "d\n", "question": question}
    with recordings(shop).open("a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")
    assert shop.run("select", "--replay", recordings(shop), "d").expect(0).json["recipe"] == "buy"
