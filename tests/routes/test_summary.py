"""The figures of `check` over public suites, answered by a scripted model, against a computation of their own."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.messages_server import MessagesServer
from tests.routes.answerer import answers, chance
from tests.workspace import Workspace

MOST = 400
SUITES = ("metatool", "clinc150", "assistant-de-en", "seal-tools-4k", "toolbench-rapidapi", "gbrain-skills")


def rounded(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def expected_figures(rows: list[tuple[str, str]]) -> dict[str, Any]:
    """From (due, decided) pairs by sets of row numbers, where the product counts in one pass."""
    due, decided = defaultdict(set), defaultdict(set)
    for number, (wanted, given) in enumerate(rows):
        due[wanted].add(number)
        decided[given].add(number)
    right = {number for number, (wanted, given) in enumerate(rows) if wanted == given}
    in_scope = set(range(len(rows))) - due["NONE"]
    confused = {
        (wanted, given): len(due[wanted] & decided[given])
        for wanted in due
        for given in decided
        if wanted != given and due[wanted] & decided[given]
    }
    return {
        "accuracy": rounded(len(right), len(rows)),
        "inScopeAccuracy": rounded(len(right & in_scope), len(in_scope)),
        "nonePrecision": rounded(len(due["NONE"] & decided["NONE"]), len(decided["NONE"])),
        "noneRecall": rounded(len(due["NONE"] & decided["NONE"]), len(due["NONE"])),
        "recipes": {
            name: (
                rounded(len(due[name] & decided[name]), len(decided[name])),
                rounded(len(due[name] & decided[name]), len(due[name])),
            )
            for name in due.keys() | decided.keys()
            if name != "NONE"
        },
        "confusions": confused,
    }


@pytest.mark.parametrize("suite", SUITES)
def test_figures_over_a_suite(ws: Workspace, messages: MessagesServer, routing_bench: Path, suite: str) -> None:
    """The model is right in three of four tasks, says NONE in one of eight, and else takes any recipe."""
    lines = (routing_bench / suite / "cases.jsonl").read_text(encoding="utf-8").splitlines()[:MOST]
    cases = [json.loads(line) for line in lines]
    # Equal tasks are asked once: the figures below count them once for each case.
    due = {case["task"]: case["expect"] for case in cases}
    ws.write("P/cases.jsonl", "".join(line + "\n" for line in lines))
    inventory = routing_bench / suite / "inventory"
    names = sorted(path.relative_to(inventory).with_suffix("").as_posix() for path in inventory.rglob("*.yaml"))
    given: dict[str, str] = {}

    def chosen(task: str) -> str | None:
        roll = chance(task)
        name = due[task] if roll < 0.75 else "NONE" if roll < 0.875 else names[int(roll * 1e6) % len(names)]
        given[task] = name
        return None if name == "NONE" else name

    messages.reply(answers(chosen))
    ws.model(messages)
    # The whole inventory, so that every name is one that may be answered.
    options = ("--recipes", inventory, "--set", f"routing.recipeListLimit={len(names) if len(names) < 1000 else 50}")
    result = ws.run("check", "cases.jsonl", *options, "--record", "--jobs", "16", "--min-accuracy", "0", timeout=300)
    report = result.expect(0).json
    by_trigger = {case["task"]: case["decided"] for case in report["cases"] if case["stage"] == "trigger"}
    asked = {case["task"] for case in report["cases"]} - by_trigger.keys()
    assert given.keys() == asked
    failed = {case["task"] for case in report["cases"] if case["verdict"] == "error"}
    if len(names) < 1000:
        assert not failed
    decided = {**given, **by_trigger}
    figures = expected_figures([(c["expect"], decided[c["task"]]) for c in cases if c["task"] not in failed])
    summary = report["summary"]
    for key in ("accuracy", "inScopeAccuracy", "nonePrecision", "noneRecall"):
        assert summary[key] == figures[key], key
    assert {row["recipe"]: (row["precision"], row["recall"]) for row in summary["recipes"]} == figures["recipes"]
    confusions = {(row["expected"], row["decided"]): row["count"] for row in summary["confusions"]}
    assert confusions == figures["confusions"]
    counts = [row["count"] for row in summary["confusions"]]
    assert counts == sorted(counts, reverse=True)
    assert summary["cases"] == len(cases)
    assert summary["stages"].get("trigger", 0) == sum(case["task"] in by_trigger for case in cases)
    # The server counts 100 tokens for each call; a name that was not on the shortlist is asked for once more.
    calls = sum(1 + (case["task"] in failed) for case in cases if case["task"] not in by_trigger)
    assert summary["tokens"]["inputTokens"] == 100 * calls
    # The same figures again, replayed with nothing to ask.
    ws.env |= {"ANTHROPIC_API_KEY": None, "ANTHROPIC_BASE_URL": None}
    again = ws.run("check", "cases.jsonl", *options, "--min-accuracy", "0", timeout=120).expect(0).json["summary"]
    if not failed:
        assert {**again, "seconds": 0} == {**summary, "seconds": 0}
