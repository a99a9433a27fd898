"""The tool contract as one JSON request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import Result, Workspace
from vancectl.delegation.request import Request, parse_request
from vancectl.delegation.request_shape import RequestShape
from vancectl.errors import Place, UsageError
from vancectl.reading.finding import Finding
from vancectl.reading.reader import read_value
from vancectl.reading.sure import surely_fits
from vancectl.reading.value import Sent
from vancectl.text.strict_json import depth


def parsed(**fields: Any) -> Request:
    return parse_request(json.dumps({"name": "a", "task": "fix tests", **fields}))


def asked(ws: Workspace, request: object, *options: str) -> Result:
    """Send a request to a delegation that starts `cat`, which gives back what it was started with."""
    ws.recipe("P/recipes/good.yaml", "Fix failing unit tests.", triggers=["fix tests"], profiles={"web": {}})
    ws.settings(spawn__command=["cat"])
    return ws.run(
        "delegate", "--request", "-", *options, stdin=request if isinstance(request, str) else json.dumps(request)
    )


def test_a_minimal_request(ws: Workspace) -> None:
    document = asked(ws, {"name": "a", "task": "fix tests"}).expect().json
    assert (document["decision"], document["recipe"]) == ("MATCH", "good")
    process = document["process"]
    assert [process[key] for key in ("name", "session", "status")] == ["a", "default", "DONE"]
    assert process["reply"]["task"] == "fix tests"


def test_a_request_with_everything(ws: Workspace) -> None:
    request = {
        "name": "a b", "task": "x", "title": "Title", "steerContent": "Go.", "params": {"n": [1, None, {"k": "v"}]},
        "recipe": "good", "engine": "ford", "fallbackOnNone": False, "wait": True, "timeoutSeconds": 20,
        "profile": "web", "session": "s",
    }  # fmt: skip
    process = asked(ws, request).expect().json["process"]
    assert [process[key] for key in ("name", "session")] == ["a b", "s"]
    assert [process["reply"][key] for key in ("title", "steerContent")] == ["Title", "Go."]
    applied = process["reply"]["appliedRecipe"]
    assert (applied["recipe"], applied["profile"]) == ("good", "web")
    assert applied["params"] == {"n": [1, None, {"k": "v"}]}


def test_a_request_from_a_file(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["true"])
    ws.write("P/request.json", '\ufeff{"name": "a", "task": "fix tests"}')
    assert ws.run("delegate", "--request", "request.json").expect().json["process"]["name"] == "a"


def test_a_byte_order_mark_on_standard_input(ws: Workspace) -> None:
    asked(ws, '\ufeff{"name": "a", "task": "fix tests"}\r\n').expect()


@pytest.mark.parametrize("alias", ["goal", "prompt", "steerContent"])
def test_other_names_for_the_task(alias: str) -> None:
    request = parse_request(json.dumps({"name": "a", alias: "fix tests"}))
    assert request.task == "fix tests"
    assert request.steer_content == ("fix tests" if alias == "steerContent" else None)


@pytest.mark.parametrize(
    ("fields", "task"),
    [
        ({"task": "t", "goal": "g", "prompt": "p", "steerContent": "s"}, "t"),
        ({"goal": "g", "prompt": "p", "steerContent": "s"}, "g"),
        ({"prompt": "p", "steerContent": "s"}, "p"),
        ({"task": "", "goal": "g"}, "g"),
        ({"task": None, "goal": " ", "prompt": "p"}, "p"),
        ({"task": "", "steerContent": ""}, ""),
        ({"task": "  "}, "  "),
    ],
)
def test_the_first_task_that_is_not_blank_counts(fields: dict[str, object], task: str) -> None:
    assert parse_request(json.dumps({"name": "a", **fields})).task == task


def test_a_task_given_as_steer_content_is_not_said_twice(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["cat", "{prompt_file}"], spawn__stdin="none")
    request = json.dumps({"name": "a", "steerContent": "fix tests"})
    assert ws.run("delegate", "--request", "-", stdin=request).expect().json["process"]["reply"] == "fix tests\n"


@pytest.mark.parametrize("recipe", ["auto", "AUTO", " auto ", "", "  ", None])
def test_recipe_auto_leaves_the_choice_to_the_selector(recipe: str | None) -> None:
    request = parsed(recipe=recipe)
    assert (request.named_recipe, request.explicit) == (None, False)


def test_recipe_auto_at_the_prompt(ws: Workspace) -> None:
    document = asked(ws, {"name": "a", "task": "fix tests", "recipe": "auto"}).expect().json
    assert (document["recipe"], document["reason"]) == ("good", "single-trigger")


@pytest.mark.parametrize(
    "key",
    ["title", "steerContent", "params", "recipe", "engine", "fallbackOnNone", "wait", "timeoutSeconds", "session"],
)
def test_null_counts_as_left_out(key: str) -> None:
    assert parsed(**{key: None}) == parsed()


def test_what_is_left_out() -> None:
    request = parsed()
    assert (request.wait, request.fallback_on_none, request.timeout_seconds) == (True, True, None)
    assert (request.params, request.session, request.profile) == ({}, None, None)


@pytest.mark.parametrize(("wait", "status"), [({}, "DONE"), ({"wait": True}, "DONE"), ({"wait": False}, "RUNNING")])
def test_an_absent_wait_waits(ws: Workspace, wait: dict[str, bool], status: str) -> None:
    assert asked(ws, {"name": "a", "task": "fix tests", **wait}).expect().json["process"]["status"] == status


def test_a_request_s_time_limit(ws: Workspace) -> None:
    ws.settings(spawn__command=["sleep", "300"])
    request = {"name": "a", "recipe": "ford", "timeoutSeconds": 0.3}
    failed = ws.run("delegate", "--request", "-", stdin=json.dumps(request)).expect(3)
    assert failed.json["error"] == "the spawn command was ended after 0.3 seconds"


def test_fallback_on_none_false(ws: Workspace) -> None:
    document = asked(ws, {"name": "a", "task": "paint the fence", "fallbackOnNone": False}).expect().json
    assert (document["decision"], document.keys() & {"fallback", "process"}) == ("NONE", set())


@pytest.mark.parametrize(
    ("request_session", "option", "variable", "session"),
    [
        (None, None, None, "default"),
        (None, None, "from-variable", "from-variable"),
        (None, "from-option", "from-variable", "from-option"),
        ("from-request", "from-option", "from-variable", "from-option"),
        ("from-request", None, "from-variable", "from-request"),
        (None, None, "", "default"),
    ],
)
def test_whose_session(
    ws: Workspace, request_session: str | None, option: str | None, variable: str | None, session: str
) -> None:
    ws.env["VANCECTL_SESSION"] = variable
    options = ["--session", option] if option else []
    process = (
        asked(ws, {"name": "a", "task": "fix tests", "session": request_session}, *options).expect().json["process"]
    )
    assert process["session"] == session


# What is refused.


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the request is not JSON: Expecting value"),
        ("fix tests", "the request is not JSON: Expecting value"),
        ('{"name": "a",}', "the request is not JSON: "),
        ("{'name': 'a'}", "the request is not JSON: "),
        ('{"name": "a", "task": "x"} {}', "the request is not JSON: Extra data"),
        ('{"name": "a", "task": "x", "task": "y"}', "the request is not JSON: the key `task` is there twice"),
        ('{"name": "a", "task": "x", "params": {"p": [{"k": 1, "k": 1}]}}', "the request is not JSON: the key `k`"),
        (
            '{"name": "a", "task": "x", "params": {"n": ' + "9" * 5000 + "}}",
            "the request is not JSON: a number has too",
        ),
        ('{"name": "a", "task": "x", "params": {"n": NaN}}', "the request is not JSON: NaN is no number"),
        ('{"name": "a", "task": "x", "timeoutSeconds": Infinity}', "the request is not JSON: Infinity is no number"),
        ('{"name": "a", "task": "x", "params": {"n": -1e999}}', "the request is not JSON: -1e999 is no number"),
        ("[]", "the request must be a JSON object"),
        ('[{"name": "a", "task": "x"}]', "the request must be a JSON object"),
        ('"fix tests"', "the request must be a JSON object"),
        ("null", "the request must be a JSON object"),
        ("7", "the request must be a JSON object"),
        ("[" * 100_000, "the request nests deeper than 100 levels"),
        (
            '{"name": "a", "task": "x", "params": {"n": ' + "[" * 300 + "]" * 300 + "}}",
            "the params nest deeper than 100",
        ),
        ("{}", "the request has no `name`"),
        ('{"task": "x"}', "the request has no `name`"),
        ('{"name": null, "task": "x"}', "the request has no `name`"),
        ('{"name": "", "task": "x"}', "the name is blank"),
        ('{"name": " \\t", "task": "x"}', "the name is blank"),
        ('{"name": "a"}', "the request has no `task`"),
        ('{"name": "a", "task": null}', "the request has no `task`"),
        ('{"name": "a", "recipe": "auto"}', "the request has no `task`"),
    ],
    ids=lambda text: text[:30],
)
def test_no_request(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_request(text)
    assert caught.value.what().startswith(why)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("name", 7, "text"),
        ("name", ["a"], "text"),
        ("task", 7, "text"),
        ("goal", 7, "text"),
        ("prompt", ["x"], "text"),
        ("title", {}, "text"),
        ("steerContent", True, "text"),
        ("params", [], "an object"),
        ("params", "a=1", "an object"),
        ("recipe", 1, "text"),
        ("engine", False, "text"),
        ("fallbackOnNone", "true", "true or false"),
        ("wait", 1, "true or false"),
        ("timeoutSeconds", "5", "a number of seconds"),
        ("timeoutSeconds", True, "a number of seconds"),
        ("profile", 3, "text"),
        ("session", {}, "text"),
    ],
)
def test_a_field_of_the_wrong_type(field: str, value: object, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(**{field: value})
    assert caught.value.what().startswith(f"the request: `{field}` must be {why} (found ")


@pytest.mark.parametrize("seconds", [0, -1, -0.5, 10**400])
def test_a_time_limit_that_makes_no_sense(seconds: float) -> None:
    with pytest.raises(UsageError, match="the time limit must be above 0 seconds"):
        parsed(timeoutSeconds=seconds)


@pytest.mark.parametrize("seconds", [1, 0.5, 1e9])
def test_a_time_limit(seconds: float) -> None:
    assert parsed(timeoutSeconds=seconds).timeout_seconds == seconds


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("fallbackOnNon", "did you mean `fallbackOnNone`?"),
        ("fallback_on_none", "did you mean `fallbackOnNone`?"),
        ("timeout_seconds", "did you mean `timeoutSeconds`?"),
        ("Task", "did you mean `task`?"),
        ("recipes", "did you mean `recipe`?"),
        ("steer_content", "did you mean `steerContent`?"),
        (
            "asynchronous",
            "the fields are name, task, goal, prompt, title, steerContent, params, recipe, engine, timeoutSeconds",
        ),
        ("", "the fields are name, task"),
    ],
)
def test_an_unknown_field(field: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(**{field: "x"})
    assert caught.value.what() == f"the request has an unknown field `{field}`"
    assert caught.value.remedy.startswith(told)


def test_a_refused_request_at_the_prompt(ws: Workspace) -> None:
    failed = asked(ws, {"name": "a", "tsk": "fix tests"}).expect(2)
    assert failed.json == {
        "version": 1,
        "error": {
            "message": "the request has an unknown field `tsk`",
            "file": None,
            "line": None,
            "help": "did you mean `task`?",
        },
    }
    assert failed.stderr.startswith("error: the request has an unknown field `tsk`\n  help: did you mean `task`?\n")


def test_lone_surrogates_are_replaced_everywhere(ws: Workspace) -> None:
    text = "x\ud800y"
    request = {"name": text, "task": text, "title": text, "steerContent": text, "session": text, "recipe": "good",
               "params": {text: [text, {"k": text}]}}  # fmt: skip
    done = asked(ws, request).expect()
    process = done.json["process"]
    mended = "x\ufffdy"
    payload = process["reply"]
    assert [payload[key] for key in ("name", "task", "title", "steerContent", "session")] == [mended] * 5
    assert [process[key] for key in ("name", "session")] == [mended] * 2
    assert payload["appliedRecipe"]["params"] == {mended: [mended, {"k": mended}]}
    assert done.stderr == ""


@pytest.mark.parametrize(
    "part",
    [
        ["fix tests"], ["--file", "task.txt"], ["--name", "b"], ["--recipe", "good"], ["--engine", "ford"],
        ["--title", "T"], ["--steer", "Go."], ["--param", "a=1"], ["--profile", "web"], ["--no-fallback"],
        ["--no-wait"], ["--timeout", "5"],
    ],
    ids=lambda part: part[0],
)  # fmt: skip
def test_a_request_is_not_mixed_with_its_parts(ws: Workspace, part: list[str]) -> None:
    ws.write("P/task.txt", "fix tests")
    failed = asked(ws, {"name": "a", "task": "fix tests"}, *part).expect(2)
    assert failed.stdout == ""
    assert (
        "error: --request and parts of a request are both given\n  help: put everything into the request\n"
        in failed.stderr
    )


def test_a_request_file_that_cannot_be_read(ws: Workspace) -> None:
    failed = ws.run("delegate", "--request", "gone.json").expect(2)
    assert failed.stderr.startswith("error: gone.json: cannot be read: no such file or directory\n")


def test_a_dry_run_of_a_request(ws: Workspace) -> None:
    plan = asked(ws, {"name": "a", "task": "fix tests", "params": {"n": 1}}, "--dry-run").expect().json["plan"]
    assert (plan["argv"], plan["payload"]["name"], plan["payload"]["appliedRecipe"]["params"]) == (
        ["cat"],
        "a",
        {"n": 1},
    )


@pytest.mark.parametrize(
    ("value", "levels"),
    [("x", 0), ({}, 1), ([], 1), ({"a": 1}, 1), ({"a": [{}]}, 3), ([[], [[]], "x"], 3), (None, 0)],
)
def test_how_deep_a_value_nests(value: object, levels: int) -> None:
    assert depth(value) == levels


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            '{"name": "a", "recipe": "good", "recipe": "other"}',
            "the request is not JSON: the key `recipe` is there twice",
        ),
        ('{"name": "a", "recipe": "gone"}', "there is no recipe `gone`"),
    ],
    ids=["not-read", "not-decided"],
)
def test_a_refused_request_is_told_as_json_too(ws: Workspace, request_: str, message: str) -> None:
    failed = asked(ws, request_).expect(2)
    assert failed.json["error"]["message"] == message
    assert failed.json["error"]["help"]
    assert failed.stderr.startswith(f"error: {message}\n")


def test_a_request_of_bytes_that_are_no_text(ws: Workspace) -> None:
    ws.write("P/request.json", b'{"name": "a",\n "task": "J\xf6rg"}')
    failed = ws.run("delegate", "--request", "request.json").expect(2)
    assert (failed.json["error"]["file"], failed.json["error"]["line"]) == ("request.json", 2)
    assert "is not UTF-8 text: the byte 0xF6" in failed.stderr


SOME: dict[str, list[Any]] = {
    "texts": ["x", "", "1:30"], "flags": [True, False], "numbers": [1, 0, -1, 2.5], "objects": [{}, {"a": [1]}],
    "lists": [[], ["sh", "-c"], [1], [["a"]]], "nothing": [None],
}  # fmt: skip


@pytest.mark.parametrize("field", RequestShape.key_names())
def test_what_surely_fits_is_read_as_the_model_reads_it(field: str) -> None:
    taken = set()
    for kind, values in SOME.items():
        for value in values:
            if surely_fits({field: value}, "request"):
                taken.add(kind)
                findings: list[Finding] = []
                shape = read_value(RequestShape, Sent({field: value}, Place(Path()), findings))
                assert not findings
                assert shape is not None
                assert shape.fields() == ({} if value is None else {field: value})
    assert len(taken - {"nothing"}) >= 1, "what is right must not need the model"


@pytest.mark.parametrize("value", [{"tsk": "x"}, {"name": 7}, {"wait": 1}, {"params": []}, {"timeoutSeconds": True}])
def test_what_is_wrong_is_never_sure(value: dict[str, Any]) -> None:
    assert not surely_fits(value, "request")
