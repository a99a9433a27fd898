"""One value of an answer, bare: `--field`, `--reply`, and times as people write them."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace
from vancectl.text.duration import parse_duration


@pytest.fixture
def place(ws: Workspace) -> Workspace:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn={"command": ["sh", "-c", "printf 'two\\nlines'"], "stdin": "none"})
    return ws


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("select", "fix tests", "--field", "recipe"), "good\n"),
        (("select", "fix tests", "--field", "matched.0.end"), "9\n"),
        (("select", "fix tests", "--field", "warnings"), "[]\n"),
        (("select", "fix tests", "--field", "model"), ""),
        (("delegate", "fix tests", "--field", "process.status"), "DONE\n"),
        (("delegate", "fix tests", "--reply"), "two\nlines\n"),
        (("delegate", "what else", "--no-fallback", "--reply"), ""),
        (("recipes", "show", "good", "--field", "engine"), "ford\n"),
    ],
)
def test_a_value_is_printed_alone(place: Workspace, words: tuple[str, ...], printed: str) -> None:
    assert place.run(*words).expect().stdout == printed
    assert place.run(*words, tty=True).expect().stdout.replace("\r", "") == printed


def test_a_value_of_a_process(place: Workspace) -> None:
    place.run("delegate", "--name", "a", "fix tests").expect()
    assert place.run("processes", "show", "a", "--field", "reply").expect().stdout == "two\nlines\n"
    assert place.run("processes", "wait", "a", "--field", "status").expect().stdout == "DONE\n"


def test_a_way_that_leads_nowhere_names_what_there_is(place: Workspace) -> None:
    failed = place.run("select", "fix tests", "--field", "recpe").expect(2)
    assert failed.stdout == ""
    assert "there is no `recpe` in `recpe` of this answer" in failed.stderr
    assert "`decision`" in failed.stderr


def test_options_that_contradict(place: Workspace) -> None:
    assert "--reply goes with neither" in place.run("delegate", "x", "--reply", "--dry-run").expect(2).stderr


@pytest.mark.parametrize(("task", "status"), [("fix tests", 0), ("what else", 1)])
def test_delegate_says_none_by_its_status(place: Workspace, task: str, status: int) -> None:
    place.run("delegate", "--exit-code", "--no-fallback", task).expect(status)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("1h 5s", 3605),
        ("1H", 3600),
    ],
)
def test_times_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5x", "m5", "5m5", "1h-5m", "soon"])
def test_what_is_no_time(place: Workspace, text: str) -> None:
    assert f"`{text}` is no time" in place.run("delegate", "fix tests", "--timeout", text).expect(2).stderr


def test_a_time_limit_with_a_unit(place: Workspace) -> None:
    place.settings(spawn={"command": ["sleep", "60"], "stdin": "none"})
    failed = place.run("delegate", "fix tests", "--timeout", "0.2s").expect(3)
    assert failed.json["process"]["status"] == "TIMED_OUT"


def test_a_default_time_needs_no_unit(place: Workspace) -> None:
    place.run("delegate", "--name", "a", "fix tests").expect()
    assert place.run("processes", "stop", "a").expect().json["status"] == "DONE"
