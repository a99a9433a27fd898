"""The reports for machines, each read by what reads its format, with texts that would break it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import xmlschema
import yaml

from tests.messages_server import MessagesServer, answer, match, status
from tests.routes.answerer import task_of
from tests.workspace import Workspace

SCHEMA = Path(__file__).with_name("junit.xsd")
NASTY = 'sell <b>&"it\'" ]]> | `x` @all\n::error::\x1b[31m 100% # ok\ufffe'


@pytest.fixture
def shop(ws: Workspace, messages: MessagesServer) -> Workspace:
    """One case of each kind: right, wrong, with text that acts in every format, stale, error, unrecorded."""
    for name in ("sell", "buy"):
        ws.recipe(f"P/own/{name}.yaml", f"We {name} things.")
    ws.recipe("P/own/trigger.yaml", triggers=["trigger it", "sell <b>"])
    ws.model(messages)
    messages.reply(match("sell"))
    ws.write("P/routes.yaml", "cases:\n- {task: stale one, expect: sell}\n")
    ws.run("check", "--recipes", "own", "--record", "--model", "other-model").expect(0)
    cases: list[dict[str, Any]] = [
        {"task": "trigger it", "expect": "trigger", "id": "the-good-one"},
        {"task": NASTY, "expect": "sell"},
        {"task": "stale one", "expect": "sell"},
        {"task": "unknown", "expect": "NONE"},
        {"task": "", "expect": "NONE"},
    ]
    ws.write("P/routes/a.jsonl", "".join(json.dumps(case) + "\n" for case in cases[:2]))
    ws.write("P/routes.yaml", yaml.safe_dump({"cases": cases[2:]}, sort_keys=False))
    return ws


def report(ws: Workspace, kind: str, *options: str, status: int = 1) -> str:
    files = (".vance/routes/a.jsonl", ".vance/routes.yaml")
    return ws.run("check", *files, "--recipes", "own", "--format", kind, *options).expect(status).stdout


def test_junit_is_valid_and_counts_right(shop: Workspace) -> None:
    text = report(shop, "junit", "--min-none-recall", "1", "--min-accuracy", "0.99")
    xmlschema.XMLSchema(str(SCHEMA)).validate(text)
    root = ElementTree.fromstring(text)
    kinds = [(case.get("name"), [child.tag for child in case]) for case in root.iter("testcase")]
    assert kinds[0] == ("1: the-good-one", [])
    assert [kind for _, kind in kinds] == [[], ["failure"], ["failure"], ["skipped"], [], ["failure"]]
    assert "100% # ok" in str(kinds[1][0])
    assert kinds[-1][0] == "accuracy"
    for suite in [root, *root.iter("testsuite")]:
        for tag, key in (("testcase", "tests"), ("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            if suite.get(key) is not None:
                assert int(suite.get(key, "")) == len(list(suite.iter(tag))), (suite.attrib, key)
    message = next(root.iter("failure")).get("message", "")
    assert message == "trigger by the trigger “sell <b>”, where sell was due"


def test_junit_has_errors_where_the_model_could_not_be_asked(shop: Workspace) -> None:
    with MessagesServer() as server:
        server.reply(status(401))
        shop.model(server)
        text = report(shop, "junit", "--record", "--strict", status=4)
    xmlschema.XMLSchema(str(SCHEMA)).validate(text)
    assert ElementTree.fromstring(text).get("errors") == "2"


def test_github_annotations_point_to_the_line(shop: Workspace) -> None:
    lines = report(shop, "github").splitlines()
    commands = [re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line) for line in lines]
    assert all(commands), lines
    found = [(command[1], command[2]) for command in commands if command is not None]
    assert found[:3] == [
        ("error", "file=.vance/routes/a.jsonl,line=2,title=routing%3A wrong-recipe"),
        ("error", "file=.vance/routes.yaml,line=2,title=routing%3A stale"),
        ("warning", "file=.vance/routes.yaml,line=4,title=routing%3A unrecorded"),
    ]
    assert [level for level, _ in found].count("notice") == 1
    assert "%0A::error" not in lines[0].split("::")[0]
    above = shop.run("check", ".vance/routes.yaml", "--recipes", "own", "--format", "github",
                     env={"GITHUB_WORKSPACE": str(shop.root)}).expect(1).stdout  # fmt: skip
    assert "file=project/.vance/routes.yaml,line=2," in above


def test_tap(shop: Workspace) -> None:
    lines = report(shop, "tap", "--min-none-precision", "1", "--min-none-recall", "1").splitlines()
    assert lines[:2] == ["TAP version 14", "1..5"]
    results = [line for line in lines if re.match(r"(not )?ok ", line)]
    assert [line.startswith("ok") for line in results] == [True, False, False, True, True]
    assert [int(re.findall(r"ok (\d+) - ", line)[0]) for line in results] == [1, 2, 3, 4, 5]
    assert "# SKIP unrecorded" in results[3]
    assert not re.search(r"(?<!\\)#", results[1].removesuffix(" # TODO wrong-recipe: the bars are reached"))
    blocks = re.findall(r"  ---\n(.*?)\n  \.\.\.", "\n".join(lines), re.DOTALL)
    assert [yaml.safe_load(block)["verdict"] for block in blocks] == ["wrong-recipe", "stale"]
    assert yaml.safe_load(blocks[0])["task"] == NASTY


def test_markdown_fits_a_comment_and_lets_nothing_act(shop: Workspace) -> None:
    text = report(shop, "markdown", "--coverage")
    assert text.startswith("## Routing: failed\n")
    rows = [line for line in text.splitlines() if line.startswith("| a.jsonl:2 ")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 5
    assert not re.search(r"(?<!\\)[<>`]", rows[0])
    assert "@all" not in rows[0]
    assert "<details><summary>Coverage" in text
    cases = "".join(
        json.dumps({"task": f"trigger it {number} " + "x" * 200, "expect": "buy"}) + "\n" for number in range(2000)
    )
    shop.write("P/many.jsonl", cases)
    long = shop.run("check", "many.jsonl", "--recipes", "own", "--format", "markdown").expect(1).stdout
    assert len(long) < 65_536
    assert "more" in long.splitlines()[-1]


def test_markdown_says_passed(shop: Workspace) -> None:
    shop.write("P/good.yaml", "cases:\n- {task: trigger it, expect: trigger}\n")
    text = shop.run("check", "good.yaml", "--recipes", "own", "--format", "markdown").expect(0).stdout
    assert text.startswith("## Routing: passed\n")


def test_an_error_is_neither_right_nor_wrong(shop: Workspace, messages: MessagesServer) -> None:
    messages.reply(answer(lambda body: match("sell") if task_of(body) == "stale one" else status(401)))
    summary = json.loads(report(shop, "json", "--record"))["summary"]
    assert (summary["errors"], summary["judged"], summary["wrong"]) == (1, 4, 1)
    report(shop, "json", "--record", "--strict", status=4)


def test_coverage(ws: Workspace) -> None:
    ws.recipe("P/own/sell.yaml", "Sells things. For money only.", triggers=["sell it", "vend it"])
    ws.recipe("P/own/buy.yaml", triggers=["buy it"])
    ws.recipe("P/own/idle.yaml", "Does nothing.")
    cases = [
        {"task": "please sell it soon", "expect": "sell"},
        {"task": "  Vend IT. ", "expect": "sell"},  # a copy: it exercises nothing
        {"task": "buy it", "expect": "buy"},  # a copy, too
        {"task": "for money only", "expect": "sell", "stage": "model"},  # a sentence of a description
    ]
    ws.write("P/routes.yaml", yaml.safe_dump({"cases": cases}))
    found = ws.run("check", "--recipes", "own", "--coverage").expect(0).json["coverage"]
    assert found["recipesWithoutCase"] == ["buy", "idle"]
    assert found["triggersWithoutCase"] == [
        {"recipe": "buy", "phrase": "buy it"},
        {"recipe": "sell", "phrase": "vend it"},
    ]
    assert [(copy["task"], copy["copyOf"]) for copy in found["copies"]] == [
        ("  Vend IT. ", "a trigger of sell"),
        ("buy it", "a trigger of buy"),
        ("for money only", "a sentence of the description of sell"),
    ]
    # Three recipes and three triggers, of which one and one are covered.
    assert found["ratio"] == round(2 / 6, 6)
    ws.run("check", "--recipes", "own", "--min-coverage", "0.33").expect(0)
    result = ws.run("check", "--recipes", "own", "--min-coverage", "0.34").expect(1)
    assert "coverage: 0.3333 is below 0.34" in result.stderr
    assert "“vend it”" in ws.run("check", "--recipes", "own", "--coverage", tty=True, columns=120).expect(0).stdout
