"""The report as a whole: formats, exit statuses, what is told of, what is silenced."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.lint.test_rules import GOOD, lint, places, recipe, triggers
from tests.workspace import Workspace


def test_the_bundled_library_is_clean_under_strict(ws: Workspace) -> None:
    report = ws.run("recipes", "lint", "--strict").expect(0).json
    assert report["findings"] == []
    assert report["silenced"] == []
    assert report["files"] == 34
    assert report["wordList"] is True


def test_exit_statuses(ws: Workspace) -> None:
    ws.write("P/recipes/warned.yaml", recipe("Counts quokkas."))
    ws.run("recipes", "lint").expect(0)
    ws.run("recipes", "lint", "--strict").expect(1)
    ws.write("P/recipes/broken.yaml", "description: x\n")
    ws.run("recipes", "lint").expect(1)
    ws.run("recipes", "lint", "nowhere.yaml").expect(2)


def test_a_note_alone_never_fails(ws: Workspace) -> None:
    ws.write("P/recipes/essay.yaml", recipe())
    report = ws.run("recipes", "lint", "--strict").expect(0).json
    assert [found["severity"] for found in report["findings"]] == ["note"]


def test_a_finding_says_where_what_and_what_to_do(ws: Workspace) -> None:
    path = ws.write("P/recipes/mine.yaml", recipe(engine="marvni"))
    (found,) = lint(ws)["findings"]
    assert found == {
        "code": "unknown-engine",
        "severity": "warning",
        "path": str(path),
        "line": 3,
        "column": 1,
        "message": "the engine `marvni` is not in the catalog; did you mean `marvin`?",
        "remedy": "see `vancectl catalog show`",
        "data": {"engine": "marvni"},
    }


def test_list_show_and_lint_agree_on_a_broken_file(ws: Workspace) -> None:
    ws.write("P/recipes/mine.yaml", "description: [x]\nengine: ford\n")
    (found,) = [each for each in lint(ws)["findings"] if each["severity"] == "error"]
    (row,) = [each for each in ws.run("recipes", "list", "--json").json if each["name"] == "mine"]
    place = f"{found['path']}:{found['line']}:{found['column']}"
    assert row["error"] == f"{place}: {found['message']} ({found['remedy']})"
    assert place in ws.run("recipes", "show", "mine").expect(2).stderr
    assert place in ws.run("select", "count the quokkas", "--set", "selector.backend=off").stderr


def test_github_annotations(ws: Workspace) -> None:
    ws.write("P/recipes/100%,a:b.yaml", recipe(engine="marvni"))
    ws.write("P/recipes/broken.yaml", "description: x\n")
    ws.write("P/recipes/essay.yaml", recipe(GOOD.replace("quokkas", "essays")))
    lines = ws.run("recipes", "lint", "--format", "github").expect(1).stdout.splitlines()
    assert (
        "::warning file=.vance/recipes/100%25%2Ca%3Ab.yaml,line=3,col=1,title=unknown-engine::the engine `marvni` is "
        "not in the catalog; did you mean `marvin`? (see `vancectl catalog show`)" in lines
    )
    assert any(line.startswith("::error file=.vance/recipes/broken.yaml,line=1,") for line in lines)
    assert any(line.startswith("::notice file=.vance/recipes/essay.yaml,title=shadows::") for line in lines)
    assert all(re.fullmatch(r"::(error|warning|notice) [^:]+::.+", line) for line in lines)


def test_sarif_has_what_its_standard_requires(ws: Workspace) -> None:
    ws.write("P/recipes/mine.yaml", recipe(engine="marvni"))
    ws.write("P/recipes/broken.yaml", "description: x\n")
    ws.write(
        "P/recipes/panel.yaml", triggers("carpet # lint: allow one-word - we make them", match="word", subject="yaks")
    )
    ws.write("P/recipes/Not Canonical.yaml", recipe(GOOD.replace("quokkas", "zebras")))
    log = ws.run("recipes", "lint", "--format", "sarif").expect(1).json
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "vancectl"
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules))
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    assert run["originalUriBaseIds"]["HERE"]["uri"] == ws.project.as_uri() + "/"
    levels = {}
    for result in run["results"]:
        assert result["message"]["text"]
        assert rules[result["ruleIndex"]] == result["ruleId"]
        levels[result["ruleId"]] = result["level"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", physical["artifactLocation"]["uri"])
        for number in physical.get("region", {}).values():
            assert number >= 1
    assert levels == {
        "unknown-engine": "warning", "missing-field": "error", "one-word": "warning", "not-canonical": "warning",
    }  # fmt: skip
    (silenced,) = [result for result in run["results"] if "suppressions" in result]
    assert silenced["ruleId"] == "one-word"
    assert silenced["suppressions"] == [{"kind": "inSource", "justification": "we make them"}]


@pytest.mark.parametrize(
    "lines",
    [
        "triggers:\n  keywords:\n    - carpet  # lint: allow one-word, inside-words - we make them\n",
        "triggers:\n  keywords:\n    # lint: allow one-word, inside-words - we make them\n    # so\n    - carpet\n",
        "triggers:\n  keywords:\n    # lint: allow one-word — we make them\n    # lint: allow inside-words - so\n"
        "    - carpet\n",
    ],
)
def test_a_comment_silences_its_line(ws: Workspace, lines: str) -> None:
    ws.write("P/recipes/mine.yaml", recipe(rest=lines))
    report = ws.run("recipes", "lint", "--strict").expect(0).json
    assert report["findings"] == []
    assert {each["code"] for each in report["silenced"]} <= {"one-word", "inside-words"}
    assert "we make them" in [each["reason"] for each in report["silenced"]]


def test_a_comment_above_the_first_key_silences_the_file(ws: Workspace) -> None:
    rest = "triggers:\n  keywords: [carpet, curtain]\n  match: word\n"
    ws.write("P/recipes/essay.yaml", "# lint: allow one-word, shadows - ours\n" + recipe(rest=rest))
    report = lint(ws)
    assert report["findings"] == []
    assert [each["code"] for each in report["silenced"]] == ["shadows", "one-word", "one-word"]


def test_a_comment_silences_no_other_line_and_no_breaking_error(ws: Workspace) -> None:
    rest = "triggers:\n  match: word\n  keywords:\n    - carpet  # lint: allow one-word - ours\n    - curtain\n"
    ws.write("P/recipes/mine.yaml", recipe(rest=rest))
    ws.write("P/recipes/broken.yaml", "# lint: allow missing-field - I dare\ndescription: x\n")
    report = lint(ws)
    assert places(report, "one-word") == {"mine.yaml:8"}
    assert places(report, "missing-field") == {"broken.yaml:2"}
    assert places(report, "allow-unused") == {"broken.yaml:1"}


def test_paths_pick_what_is_told_of(ws: Workspace) -> None:
    ws.write("P/recipes/a.yaml", recipe("Counts quokkas."))
    ws.write("P/recipes/b.yaml", recipe("Weighs zebras."))
    assert places(lint(ws, ".vance/recipes/a.yaml"), "thin-description") == {"a.yaml:1"}
    assert places(lint(ws, ".vance"), "thin-description") == {"a.yaml:1", "b.yaml:1"}
    assert lint(ws, ".vance/recipes/a.yaml")["files"] == 1


def test_a_folder_outside_of_the_layers_is_checked_as_the_nearest(ws: Workspace) -> None:
    ws.write("P/recipes/a.yaml", triggers("count zebras"))
    ws.write("P/kit/b.yaml", triggers("please count zebras", subject="zebras"))
    report = lint(ws, "kit")
    assert places(report, "never-alone") == {"b.yaml:6"}
    assert report["files"] == 1


def test_the_report_at_a_terminal(ws: Workspace) -> None:
    ws.write("P/recipes/mine.yaml", recipe(engine="marvni"))
    shown = ws.run("recipes", "lint", tty=True, env={"TERM": "dumb"}).expect(0).stdout
    assert ".vance/recipes/mine.yaml\n  3:1    warning unknown-engine\n" in shown
    assert shown.endswith("35 recipe files: 1 warning\n")


def test_explain_names_every_rule_and_knows_near_ones(ws: Workspace) -> None:
    facts = ws.run("recipes", "lint", "--explain", "never-alone").expect(0).json
    assert facts["severity"] == "warning"
    assert "matcher itself" in facts["explanation"]
    assert "did you mean `never-alone`?" in ws.run("recipes", "lint", "--explain", "never-alnoe").expect(2).stderr
    assert len(ws.run("recipes", "lint", "--explain", "all").expect(0).json) > 60


def test_without_a_word_list_lint_says_so_and_goes_on(ws: Workspace) -> None:
    ws.write("P/recipes/mine.yaml", triggers("panel", "translation", match="word"))
    blocked = ws.write("H/nowords/sitecustomize.py", "import sys\nsys.modules['spellchecker'] = None\n")
    result = ws.run("recipes", "lint", "-v", env={"PYTHONPATH": str(blocked.parent)}).expect(0)
    report = json.loads(result.stdout)
    assert report["wordList"] is False
    assert places(report, "one-word") == {"mine.yaml:7"}  # below six letters, the long one passes
    assert "vancectl[lint]" in result.stderr


def test_bad_cases_are_told_with_their_line(ws: Workspace) -> None:
    ws.write("P/cases.jsonl", '{"task": "run python x", "expect": "essay"}\n{nope\n')
    report = lint(ws, "--cases", "cases.jsonl")
    assert report["errors"] == 1
    assert {(found["severity"], found["line"]) for found in report["findings"] if "cases.jsonl" in found["path"]} == {
        ("error", 2)
    }
    assert [found["data"]["case"] for found in report["findings"] if found["code"] == "hits-case"] == ["cases.jsonl:1"]


def test_an_override_says_which_phrases_are_gone(ws: Workspace) -> None:
    ws.write("T/recipes/house.yaml", triggers("build a house", "Buy a HOUSE"))
    ws.write("P/recipes/house.yaml", triggers("buy a  house", "build a house", "sell a house"))
    ws.write("T/recipes/shed.yaml", triggers("build a shed", "buy a shed", subject="sheds"))
    ws.write("P/recipes/shed.yaml", triggers("buy a shed", subject="sheds"))
    ws.write("T/recipes/barn.yaml", triggers("build a barn", subject="barns"))
    ws.write("P/recipes/barn.yaml", recipe(rest="internal: true\n"))
    hides = {Path(each["path"]).stem: each for each in lint(ws)["findings"] if each["code"] == "hides-tenant"}
    assert {name: each["data"]["dropped"] for name, each in hides.items()} == {
        "house": [], "shed": ["build a shed"], "barn": [],
    }  # fmt: skip
    assert "1 of its 2 trigger phrases is gone: “build a shed”" in hides["shed"]["message"]
