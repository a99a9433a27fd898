"""Cases on disk: every key is read, and a bad case is an error with file and line that ends the run."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Workspace

BAD = [
    ("- expect: python", 2, "the field `task` is missing"),
    ("- task: run it", 2, "the case claims nothing"),
    ("- {task: run it, expect: NONE, expct: python}", 2, "`expct` is no key of a case; did you mean `expect`?"),
    ("- {task: run it, expect: [python]}", 2, "`expect` must be a recipe's name, or NONE"),
    ("- {task: run it, expect: null}", 2, "`expect` must be a recipe's name, or NONE"),
    ("- {task: run it, expect: pyton}", 2, "did you mean `python`?"),
    ("- {task: run it, expect: recipe-selector}", 2, "`recipe-selector`, which no task can be given here"),
    ("- {task: run it, expect: python, not: [nobody]}", 2, "`not` names `nobody`"),
    ("- {task: run it, expect: python, not: [python]}", 2, "`python` is both right and in `not`"),
    ("- {task: run it, not: [python], accept: [ford]}", 2, "`accept` adds to `expect`, which is missing"),
    ("- {task: run it, expect: python, stage: guess}", 2, "`stage` must be one of trigger, model, none"),
    ("- {task: run it, expect: python, repeat: 0}", 2, "`repeat` must be a whole number from 1 to 100"),
    ("- {task: run it, expect: python, repeat: yes}", 2, "`repeat` must be a whole number from 1 to 100"),
    ("- {task: run it, expect: python, repeat: 3, atLeast: 4}", 2, "`atLeast` is 4, but the task is asked 3 times"),
    ("- {task: run it, expect: python, atLeast: 2}", 2, "`atLeast` is 2, but the task is asked once"),
    ("- {task: run it, expect: python, stage: trigger, repeat: 3}", 2, "`repeat` is for the model stage"),
    ("- {task: run it, expect: NONE, stage: trigger}", 2, "the trigger stage never decides for NONE"),
    ("- {task: run it, expect: python, tags: yes}\n- 7", 3, "`cases[]` must be a mapping"),
    ("- {task: run it, expect: python}\n- {task: x, task: y, expect: NONE}", 3, "the key `task` is there twice"),
    ("- {task: run it, expect: python}\n- {task: [", 4, "is not valid YAML"),
    ("- {task: run it, starts: nothing}", 2, "`starts` names `nothing`"),
]


@pytest.mark.parametrize(("cases", "line", "said"), BAD, ids=[case[2][:40] for case in BAD])
def test_a_bad_case_is_an_error_with_file_and_line(ws: Workspace, cases: str, line: int, said: str) -> None:
    ws.write("P/routes.yaml", f"cases:\n{cases}\n")
    result = ws.run("check").expect(2)
    assert f"error: .vance/routes.yaml:{line}:" in result.stderr, result
    assert said in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"task": "run it", "expect": "python"', "the line is no JSON object"),
        ('["run it"]', "the line is no JSON object"),
        ('{"task": 7, "expect": "python"}', "`task` must be text (found 7)"),
        ('{"task": "a", "task": "b", "expect": "python"}', "a key is there twice"),
    ],
)
def test_a_bad_line_is_an_error_with_its_number(ws: Workspace, line: str, said: str) -> None:
    good = '{"task": "run python now", "expect": "python", "lang": "en"}'
    ws.write("P/own/cases.jsonl", f"{good}\n\n{line}\n{good}\n")
    result = ws.run("check", "own/cases.jsonl").expect(2)
    assert "error: own/cases.jsonl:3: " in result.stderr
    assert said in result.stderr


def test_all_bad_cases_are_named_at_once(ws: Workspace) -> None:
    ws.write("P/routes.yaml", "cases:\n- {task: a}\n- {task: b, expect: NONE}\n- {task: c, expct: x}\n")
    result = ws.run("check").expect(2)
    assert [line.split(": ")[1] for line in result.stderr.splitlines() if line.startswith("error:")] == [
        ".vance/routes.yaml:2:3",
        ".vance/routes.yaml:4:13",
        ".vance/routes.yaml:4:3",
    ]


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "cases:\n", "cases: []\n", "other: 1\n", "- task: x\n"])
def test_a_file_without_cases_is_no_success(ws: Workspace, content: str) -> None:
    ws.write("P/routes.yaml", content)
    assert "error: .vance/routes.yaml" in ws.run("check").expect(2).stderr


def test_without_any_file_the_error_says_where_cases_go(ws: Workspace) -> None:
    assert "write them into .vance/routes.yaml" in ws.run("check").expect(2).stderr
    ws.write("P/recipes/x.yaml", "description: X.\nengine: ford\n")
    assert "routes.yaml, or name a file" in ws.run("check").expect(2).stderr
    assert "missing.yaml: cannot be read: no such file" in ws.run("check", "missing.yaml").expect(2).stderr


def test_words_that_yaml_would_turn_into_values_stay_words(ws: Workspace) -> None:
    ws.recipe("P/recipes/on.yaml", triggers=["1:30"])
    ws.write("P/routes.yaml", "cases:\n- {task: wake me at 1:30, expect: on, tags: [yes, 2026-01-01]}\n")
    case = ws.run("check").expect(0).json["cases"][0]
    assert (case["decided"], case["expect"], case["tags"]) == ("on", "on", ["yes", "2026-01-01"])


def test_default_files_are_read_in_order_and_recordings_are_no_cases(ws: Workspace) -> None:
    for name in ("routes/b.yaml", "routes.yaml", "routes/a.yaml"):
        ws.write(f"P/{name}", "cases:\n- {task: run python, expect: python}\n")
    ws.write("P/routes/c.jsonl", json.dumps({"task": "run python", "expect": "python"}))
    ws.write("P/routes/c.recorded.jsonl", "")
    files = [case["file"] for case in ws.run("check").expect(0).json["cases"]]
    assert files == [".vance/routes.yaml", ".vance/routes/a.yaml", ".vance/routes/b.yaml", ".vance/routes/c.jsonl"]


@pytest.mark.parametrize("written", ["résumé", "RÉSUMÉ", "re\u0301sume\u0301", " Résumé "])
@pytest.mark.parametrize("field", ["expect", "accept", "not", "starts"])
def test_a_case_names_a_recipe_in_any_of_its_forms(ws: Workspace, field: str, written: str) -> None:
    ws.recipe("P/recipes/résumé.yaml", triggers=["my cv"])
    others = {"accept": "expect: python, ", "not": "", "starts": ""}.get(field, "")
    ws.write("P/routes.yaml", f"cases:\n  - {{task: fix my cv, {others}{field}: '{written}'}}\n")
    result = ws.run("check")
    assert result.status == (1 if field == "not" else 0), result
    assert "names" not in result.stderr


@pytest.mark.parametrize("written", ["code_review", "code-rveiw", "none"])
def test_a_case_with_a_name_that_is_near_to_one_says_which(ws: Workspace, written: str) -> None:
    ws.write("P/routes.yaml", f"cases:\n  - {{task: x, expect: {written}}}\n")
    meant = "NONE" if written == "none" else "code-review"
    assert f"did you mean `{meant}`?" in ws.run("check").expect(2).stderr
