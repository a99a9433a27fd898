"""`vancectl import`: the rules of a prompt hook become recipes, and what phrases cannot say is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.workspace import Workspace
from vancectl.inventory.skill_rules import phrases_of


def rules(**skills: Any) -> str:
    return json.dumps({"version": "1.0", "skills": skills})


def triggered(*keywords: str, **more: Any) -> dict[str, Any]:
    return {"type": "domain", "enforcement": "suggest", "promptTriggers": {"keywords": list(keywords)}, **more}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("fix tests", ["fix tests"]),
        ("how to|best practice", ["how to", "best practice"]),
        ("(create|add) (route|endpoint)", ["create route", "create endpoint", "add route", "add endpoint"]),
        (r"^run\s+(?:unit|all) tests$", ["run unit tests", "run all tests"]),
        ("(create|add).*?(route|endpoint)", []),
        ("tests?", []),
        ("[cC]reate", []),
        ("((a|b)|c) d", []),
        ("(a|b|c|d|e) (a|b|c|d|e)", []),
    ],
)
def test_a_pattern_of_words_and_alternatives_is_phrases(pattern: str, said: list[str]) -> None:
    assert phrases_of(pattern) == said


def test_rules_become_recipes_that_route(ws: Workspace) -> None:
    ws.write(
        "H/skill-rules.json", rules(backend=triggered("change the backend", "api endpoint"), ui=triggered("new page"))
    )
    done = ws.run("import", ws.path("H/skill-rules.json")).expect().json
    assert [(row["skill"], row["phrases"], row["left"]) for row in done["skills"]] == [
        ("backend", 2, []),
        ("ui", 1, []),
    ]
    assert ws.run("select", "please change the backend").expect().json["recipe"] == "backend"


def test_what_phrases_cannot_say_is_reported_and_stays_in_the_file(ws: Workspace) -> None:
    rule = triggered("change the backend", fileTriggers={"pathPatterns": ["src/**"]}, enforcement="block")
    rule["promptTriggers"]["intentPatterns"] = ["(add).*?(route)"]
    ws.write("H/r.json", rules(backend=rule))
    done = ws.run("import", ws.path("H/r.json")).expect()
    left = ["the pattern (add).*?(route)", "enforcement: block", 'fileTriggers: {"pathPatterns": ["src/**"]}']
    assert sorted(done.json["skills"][0]["left"]) == sorted(left)
    text = ws.path("P/recipes/backend.yaml").read_text()
    for each in left:
        assert f"# Not taken over: {each}\n" in text
        assert each in done.stderr


def test_nothing_is_overwritten_and_the_others_are_written(ws: Workspace) -> None:
    kept = ws.recipe("P/recipes/backend.yaml", triggers=["mine"])
    before = kept.read_text()
    ws.write("H/r.json", rules(backend=triggered("x y"), ui=triggered("new page")))
    first, second = ws.run("import", ws.path("H/r.json")).expect().json["skills"]
    assert ("already" in first["kept"], first["path"], kept.read_text()) == (True, None, before)
    assert second["path"] == str(ws.path("P/recipes/ui.yaml"))


def test_a_skill_that_is_read_gets_its_triggers(ws: Workspace) -> None:
    ws.write("H/.claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills in PDF forms.\n---\nDo.\n")
    ws.write("H/bin/claude", "#!/bin/sh\n").chmod(0o755)
    ws.env["PATH"] = f"{ws.path('H/bin')}:{ws.environment()['PATH']}"
    ws.write("H/r.json", rules(pdf=triggered("fill in the form")))
    for path in (str(ws.path("P/recipes/claude-skill/pdf.yaml")), None):  # again: it is there
        assert ws.run("import", ws.path("H/r.json")).expect().json["skills"][0]["path"] == path
    decided = ws.run("select", "please fill in the form").expect().json
    assert (decided["recipe"], decided["stage"]) == ("claude-skill/pdf", "trigger")
    assert ws.run("recipes", "show", "claude-skill/pdf").expect().json["description"] == "Fills in PDF forms."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "names no skill with `promptTriggers`"),
        ('{"skills": {}}', "names no skill with `promptTriggers`"),
        (b"\xff", "not UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_such_file_is_refused(ws: Workspace, content: str | bytes | None, said: str) -> None:
    if content is not None:
        ws.write("H/r.json", content)
    assert said in ws.run("import", ws.path("H/r.json")).expect(2).stderr
