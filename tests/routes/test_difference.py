"""`recipes diff` on folders and git revisions: recipes, shadowing, triggers that meet, and what tasks get."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
import yaml

from tests.messages_server import MessagesServer
from tests.routes.answerer import from_table
from tests.workspace import Workspace


@pytest.fixture
def states(ws: Workspace) -> Workspace:
    """`old` and `new`: recipes added, removed, changed and broken, one that shadows, triggers that meet."""
    for folder in ("old", "new"):
        ws.recipe(f"P/{folder}/stays.yaml", triggers=["stay here"])
        ws.recipe(f"P/{folder}/sell.yaml", "Sells.", triggers=["sell it"])
        ws.recipe(f"P/{folder}/buy.yaml", "Buys.", triggers=["buy it"])
        ws.recipe(f"P/{folder}/ask.yaml", "Asks.")
    ws.recipe("P/old/gone.yaml", triggers=["begone"])
    ws.recipe("P/new/python.yaml", "Shadows the bundled one.", triggers=["snake"])
    ws.recipe("P/new/fresh.yaml", triggers=["fresh", "go and sell it now"])
    ws.recipe("P/new/buy.yaml", "Buys more.", "marvin", triggers=["acquire it"], params={"x": True})
    ws.write("P/new/ask.yaml", "description: [\n")
    return ws


def diff(ws: Workspace, *arguments: str, status: int = 0) -> Any:
    return ws.run("recipes", "diff", *arguments).expect(status).json


def test_two_folders(states: Workspace) -> None:
    found = diff(states, "old", "new", "--alone")
    assert sorted(found["added"]) == ["fresh", "python"]
    assert found["removed"] == ["gone"]
    assert found["changed"] == [
        {"name": "ask", "fields": ["(broken now)"]},
        {"name": "buy", "fields": ["description", "engine", "triggers", "params"]},
    ]
    assert found["shadowing"] == []
    assert found["triggersThatNowMeet"] == [
        {"recipe": "fresh", "phrase": "go and sell it now", "other": "sell", "otherPhrase": "sell it"}
    ]
    assert found["triggersThatNoLongerMeet"] == []
    back = diff(states, "new", "old", "--alone")
    assert sorted(back["removed"]) == ["fresh", "python"]
    assert back["added"] == ["gone"]
    assert back["triggersThatNoLongerMeet"] == found["triggersThatNowMeet"]


def test_over_the_bundled_recipes_shadowing_shows(states: Workspace) -> None:
    found = diff(states, "old", "new")
    assert found["added"] == ["fresh"]
    assert found["shadowing"] == [{"name": "python", "before": [], "after": ["bundled"]}]
    assert "python" in [row["name"] for row in found["changed"]]
    assert diff(states, "new", "new") == {
        **{key: [] for key in found if key not in {"version", "unchangedTasks"}},
        "version": 1,
        "unchangedTasks": 0,
    }


def test_exit_code_and_table(states: Workspace) -> None:
    diff(states, "old", "new", "--exit-code", status=1)
    diff(states, "new", "new", "--exit-code", status=0)
    shown = states.run("recipes", "diff", "old", "new", "--alone", tty=True, columns=120).expect(0).stdout
    assert "its “go and sell it now” holds “sell it” of sell" in shown
    assert "no recipe differs" in states.run("recipes", "diff", "new", "new", tty=True).expect(0).stdout


def test_tasks_that_change(states: Workspace, messages: MessagesServer) -> None:
    tasks = {
        "sell it": "the same trigger",
        "buy it": "no longer a trigger",
        "acquire it": "a trigger now",
        "begone": "its recipe is gone",
        "go and sell it now": "two triggers now",
        "": "nothing to decide",
        "recorded": "a recorded answer to the old question",
        "unknown": "no answer at all",
    }
    cases = [{"task": task, "not": ["nobody"], "why": why} for task, why in tasks.items()]
    states.write("P/cases.yaml", yaml.safe_dump({"cases": cases}, sort_keys=False))
    states.write("P/one.yaml", "cases:\n- {task: recorded, expect: ask}\n")
    messages.reply(from_table({"recorded": "ask"}))
    states.model(messages)
    states.run("check", "one.yaml", "--recipes", "old", "--record").expect(0)
    states.env["ANTHROPIC_API_KEY"] = None
    found = diff(states, "old", "new", "--alone", "--cases", "cases.yaml")
    changes = {
        row["task"]: (row["change"], *(row[side][key] for side in ("before", "after") for key in ("recipe", "stage")))
        for row in found["tasks"]
    }
    assert changes == {
        "buy it": ("stage", "buy", "trigger", None, "model"),
        "acquire it": ("stage", None, "model", "buy", "trigger"),
        "begone": ("stage", "gone", "trigger", None, "model"),
        "go and sell it now": ("stage", "sell", "trigger", None, "model"),
        "recorded": ("undecided", "ask", "model", None, "model"),
        "unknown": ("undecided", None, "model", None, "model"),
    }
    assert found["unchangedTasks"] == 2
    # Where no question changes, no answer does, known or not.
    shutil.copytree(states.path("P/old"), states.path("P/same"))
    states.recipe("P/same/stays.yaml", triggers=["stay here", "no task says this"], params={"y": 1})
    same = diff(states, "old", "same", "--alone", "--cases", "cases.yaml", "--exit-code", status=1)
    assert (same["tasks"], same["unchangedTasks"]) == ([], 8)
    # A phrase that goes to another recipe changes the recipe.
    states.recipe("P/same/sell.yaml", "Sells.", triggers=["nothing"])
    states.recipe("P/same/stays.yaml", triggers=["stay here", "sell it"])
    moved = diff(states, "old", "same", "--alone", "--cases", "cases.yaml")["tasks"][0]
    assert (moved["task"], moved["change"], moved["line"]) == ("sell it", "recipe", 2)
    assert (moved["before"]["recipe"], moved["after"]["recipe"]) == ("sell", "stays")


def test_a_bad_case_is_an_error(states: Workspace) -> None:
    states.write("P/cases.yaml", "cases:\n- {task: a, expct: b}\n")
    result = states.run("recipes", "diff", "old", "new", "--cases", "cases.yaml").expect(2)
    assert "error: cases.yaml:2:13: `expct` is no key of a case" in result.stderr


@pytest.fixture
def repository(states: Workspace) -> Workspace:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
            cwd=states.project, env=states.environment(), check=True, capture_output=True,
        )  # fmt: skip

    shutil.copytree(states.path("P/old"), states.path("P/recipes/deep"))
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "old")
    return states


def test_a_git_revision(repository: Workspace) -> None:
    shutil.rmtree(repository.path("P/recipes/deep"))
    shutil.copytree(repository.path("P/new"), repository.path("P/recipes/deep"))
    wanted = diff(repository, "old", "new", "--alone")
    assert diff(repository, "main:.vance/recipes/deep", ".vance/recipes/deep", "--alone") == wanted
    assert diff(repository, "HEAD:./old", "main:new", "--alone") == wanted
    below = repository.run("recipes", "diff", "HEAD:./deep", "deep", "--alone", cwd="P/recipes").expect(0).json
    assert below == wanted
    repository.run("recipes", "diff", "HEAD:.vance/recipes", "main:.vance/recipes", "--exit-code").expect(0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nowhere", "`nowhere` is no folder"),
        ("none:old", "there is no revision `none` here"),
        ("main:old/sell.yaml", "`old/sell.yaml` is no folder in that revision"),
        ("--output=x:old", "No such option"),
        (":old", "`:old` is no folder"),
    ],
)
def test_what_is_no_folder_is_an_error(repository: Workspace, given: str, said: str) -> None:
    result = repository.run("recipes", "diff", given, "new").expect(2)
    assert said in result.stderr
    assert not repository.path("P/x").exists()


def test_without_git_the_error_says_so(states: Workspace) -> None:
    states.env["PATH"] = str(states.bin)
    assert "git could not be run" in states.run("recipes", "diff", "main:old", "new").expect(2).stderr
