"""Verdicts and exit statuses, offline: the trigger stage decides, and what it leaves open stays open."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.workspace import Workspace


def lay(ws: Workspace, *cases: dict[str, Any]) -> None:
    ws.write("P/routes.yaml", yaml.safe_dump({"cases": list(cases)}, sort_keys=False, allow_unicode=True))


@pytest.fixture
def shop(ws: Workspace) -> Workspace:
    """Two recipes with triggers, one of them with a profile, and one without triggers, alone in the inventory."""
    ws.recipe("P/own/sell.yaml", triggers=["sell it"], profiles={"fast": {"params": {"x": 1}}})
    ws.recipe("P/own/buy.yaml", triggers=["buy it", "get it"])
    ws.recipe("P/own/default.yaml")
    return ws


def verdicts(ws: Workspace, status: int, *options: str) -> list[str]:
    return [case["verdict"] for case in ws.run("check", "--recipes", "own", *options).expect(status).json["cases"]]


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        ({"task": "sell it", "expect": "sell"}, "right"),
        ({"task": "sell it", "expect": "buy"}, "wrong-recipe"),
        ({"task": "sell it", "expect": "buy", "accept": ["sell"]}, "right"),
        ({"task": "sell it", "expect": "NONE"}, "false-match"),
        ({"task": "sell it", "expect": "NONE", "accept": ["sell"]}, "right"),
        ({"task": "", "expect": "buy"}, "missed"),
        ({"task": " \n", "expect": "NONE", "stage": "none"}, "right"),
        ({"task": "sell it", "not": ["buy"]}, "right"),
        ({"task": "sell it", "not": ["sell"]}, "wrong-recipe"),
        ({"task": "", "not": ["NONE"]}, "missed"),
        ({"task": "sell it", "expect": "sell", "stage": "model"}, "wrong-stage"),
        ({"task": "sell it", "expect": "sell", "stage": "trigger", "starts": "sell"}, "right"),
        ({"task": "sell it", "starts": "buy"}, "wrong-start"),
        ({"task": "sell it", "expect": "sell", "profile": "fast"}, "right"),
        ({"task": "sell it", "expect": "sell", "profile": "slow"}, "wrong-start"),
        # left to the model
        ({"task": "sell it or buy it", "stage": "model"}, "right"),
        ({"task": "sell it or buy it", "stage": "model", "not": ["buy"]}, "right"),
        ({"task": "sell it or buy it", "stage": "trigger", "expect": "sell"}, "wrong-stage"),
    ],
)
def test_a_verdict(shop: Workspace, case: dict[str, Any], verdict: str) -> None:
    lay(shop, case)
    assert verdicts(shop, 0 if verdict == "right" else 1) == [verdict]


@pytest.mark.parametrize(
    "case",
    [
        {"task": "ask", "expect": "NONE"},
        {"task": "ask", "expect": "sell", "stage": "model"},
        {"task": "ask", "not": ["sell"]},
        {"task": "ask", "starts": "default", "stage": "model"},
    ],
)
def test_what_needs_the_model_is_unrecorded_and_neither_right_nor_wrong(shop: Workspace, case: dict[str, Any]) -> None:
    lay(shop, {"task": "sell it", "expect": "sell"}, case)
    assert verdicts(shop, 0) == ["right", "unrecorded"]
    result = shop.run("check", "--recipes", "own", "--strict").expect(4)
    assert result.json["summary"]["judged"] == 1
    assert "unrecorded: 1 of 2 cases" in result.stderr


def test_a_check_that_could_judge_nothing_fails(shop: Workspace) -> None:
    lay(shop, {"task": "ask", "expect": "NONE"})
    result = shop.run("check", "--recipes", "own").expect(1)
    assert "a check that checks nothing is no success" in result.stderr


def test_starts_follows_the_fallback_rules(ws: Workspace) -> None:
    lay(ws, {"task": "", "starts": "NONE"}, {"task": "run python now", "starts": "python"})
    assert [case["verdict"] for case in ws.run("check").expect(0).json["cases"]] == ["right", "right"]


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ((), 1),
        (("--min-accuracy", "0.5"), 0),
        (("--min-accuracy", "0.51"), 1),
        (("--min-in-scope-accuracy", "0.66"), 0),
        (("--min-in-scope-accuracy", "0.67"), 1),
        (("--min-none-recall", "0"), 0),
        (("--min-none-recall", "0.1"), 1),
        (("--min-none-precision", "0"), 1),  # nothing was decided as NONE: the bar measures nothing
        (("--min-accuracy", "0.5", "--min-none-recall", "0.1"), 1),
        (("--min-accuracy", "1.5"), 2),
        (("--min-accuracy", "nan"), 2),
    ],
)
def test_bars_replace_the_rule_that_all_must_be_right(shop: Workspace, options: tuple[str, ...], status: int) -> None:
    lay(
        shop,
        {"task": "sell it", "expect": "sell"},
        {"task": "buy it", "expect": "buy"},
        {"task": "get it", "expect": "sell"},
        {"task": "buy it now", "expect": "NONE"},
    )
    shop.run("check", "--recipes", "own", *options).expect(status)


def test_failures_come_first_in_the_table_with_their_evidence(shop: Workspace) -> None:
    lay(
        shop,
        {"task": "sell it", "expect": "sell"},
        {"task": "ask", "expect": "NONE"},
        {"task": "buy it", "expect": "sell"},
    )
    shown = shop.run("check", "--recipes", "own", tty=True, columns=140).expect(1).stdout
    assert shown.index("routes.yaml:6") < shown.index("routes.yaml:4")
    assert "buy by the trigger “buy it”, where sell was due" in shown
    assert "routes.yaml:2" not in shown
    assert "accuracy" in shown
    assert "50.0%" in shown
