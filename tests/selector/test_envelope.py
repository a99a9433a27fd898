"""An answer that a program wraps in an object of its own is read from it, or the object is named."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Result, Workspace

MATCH = {"decision": "MATCH", "recipe": "review", "rationale": "fits"}
TEXT = json.dumps(MATCH)
CLAUDE = {"type": "result", "subtype": "success", "is_error": False, "result": TEXT, "total_cost_usd": 0.01}
EVENTS = [
    {"type": "system", "subtype": "init"},
    {"type": "user", "text": json.dumps({**MATCH, "recipe": "other"})},
    CLAUDE,
]


@pytest.fixture
def asked(ws: Workspace) -> Workspace:
    for name in ("review", "other"):
        ws.recipe(f"P/recipes/{name}.yaml", f"Does {name}.")
    ws.settings({"selector.backend": "command", "selector.command": ["teller"]})
    return ws


def select(ws: Workspace, reply: str) -> Result:
    ws.write("P/reply", reply)
    ws.program("teller", f"cat '{ws.path('P/reply')}'")
    return ws.run("select", "look at my change").expect(0)


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(CLAUDE),
        json.dumps({**CLAUDE, "result": f"Here it is:\n```json\n{TEXT}\n```"}),
        json.dumps({"response": TEXT, "stats": {"models": {}}}),
        "\n".join(map(json.dumps, EVENTS)),
        json.dumps(EVENTS),
        json.dumps(CLAUDE, indent=2),
    ],
    ids=["claude", "prose", "gemini", "stream", "array", "indented"],
)
def test_the_answer_in_an_envelope_is_read(asked: Workspace, reply: str) -> None:
    decision = select(asked, reply).json
    assert (decision["decision"], decision["recipe"]) == ("MATCH", "review")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({**CLAUDE, "is_error": True, "result": "Not logged in"}, "the program reports an error: Not logged in"),
        ({"choices": [{"message": {"content": TEXT}}]}, "--output-format text"),
        ({**CLAUDE, "result": "I cannot say."}, "no JSON object"),
        ({"hello": "world"}, "no `decision` of MATCH or NONE"),
    ],
    ids=["error", "unknown", "empty", "foreign"],
)
def test_what_holds_no_answer_says_why(asked: Workspace, reply: dict[str, object], said: str) -> None:
    decision = select(asked, json.dumps(reply)).json
    assert decision["decision"] == "NONE"
    assert said in decision["rationale"]


def test_why_a_program_failed_is_read_from_stdout_where_stderr_is_empty(asked: Workspace) -> None:
    asked.program("teller", "echo 'Not logged in'; exit 1")
    assert "failed with status 1: Not logged in" in asked.run("select", "x").expect(0).json["rationale"]


def test_a_model_that_a_program_cannot_be_told_is_warned_of(asked: Workspace) -> None:
    select(asked, TEXT)
    warned = asked.run("select", "look at it", "--model", "m").expect(0).json["warnings"]
    assert any("name it in selector.command" in warning for warning in warned)


def test_a_recording_of_a_program_is_stale_when_its_words_change(asked: Workspace) -> None:
    select(asked, TEXT)
    asked.write("P/routes.yaml", "cases:\n- {task: look at my change, expect: review}\n")
    asked.run("check", "--record").expect(0)
    asked.settings({"selector.command": [str(asked.bin / "teller")]})
    asked.run("check", "--strict").expect(0)
    asked.settings({"selector.command": ["teller", "--model", "two"]})
    done = asked.run("check").expect(1).json["cases"][0]
    assert done["verdict"] == "stale"
    assert "the model (teller → teller --model two)" in done["why"]
