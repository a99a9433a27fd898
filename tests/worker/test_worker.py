"""The worker behind `delegate` with nothing configured: real recipes, a real server, the unmodified SDK."""

from __future__ import annotations

import json
import os
import pty
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace


def recipe(ws: Workspace, messages: MessagesServer, **fields: Any) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], **fields)
    ws.model(messages)


def delegate(ws: Workspace, *args: str, status: int = 0, **options: Any) -> Result:
    return ws.run("delegate", "--name", "a", *(args or ("fix tests",)), **options).expect(status)


def payload(engine: str = "ford", **fields: Any) -> str:
    applied = {"recipe": "good", "engine": engine, "params": {}, "profile": None, **fields.pop("applied", {})}
    return json.dumps({"version": 1, "task": "fix tests", "tenant": "default", "appliedRecipe": applied, **fields})


# One turn.


def test_delegate_works_with_a_key_and_nothing_else(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages, promptPrefix="Be brief.", params={"model": "default:fast"})
    messages.reply(scripted.text("All tests pass now. ünï 🚀"))
    process = delegate(ws, "--steer", "Start with the slow ones.", "fix tests").json["process"]
    assert [process[key] for key in ("status", "exitCode", "reply")] == ["DONE", 0, "All tests pass now. ünï 🚀\n"]
    body = messages.requests[0].body
    assert (body["model"], body["stream"]) == ("claude-haiku-5-5", True)
    assert body["messages"] == [{"role": "user", "content": "fix tests\n\nStart with the slow ones."}]
    assert body["system"].endswith("\n\nBe brief.")
    assert "no tools" in body["system"]


@pytest.mark.parametrize("engine", ["ford", "arthur", "eddie"])
def test_the_engines_of_one_turn(ws: Workspace, messages: MessagesServer, engine: str) -> None:
    recipe(ws, messages, engine=engine)
    messages.reply(scripted.text("Yes.\n"))
    assert delegate(ws).json["process"]["reply"] == "Yes.\n"


def test_the_prompt_is_a_template(ws: Workspace, messages: MessagesServer) -> None:
    template = (
        "{% if tier == 'fast' %}quick{% elseif tier == 'deep' %}slow{% else %}usual{% endif %} "
        "{{ recipe }}/{{ engine }}/{{ model }}/{{ provider }}/{{ mode }}/{{ profile }}/{{ lang }} "
        "{% for item in params.items %}[{{ item }}]{% endfor %}"
    )
    params = {"model": "default:deep", "items": ["a", "b"], "mode": "review"}
    profiles = {"web": {"promptPrefixAppend": "In {{ profile }}."}}
    recipe(ws, messages, promptPrefix=template, promptMode="overwrite", params=params, profiles=profiles)
    messages.reply(scripted.text("Yes."))
    delegate(ws, "--profile", "web", "fix tests", env={"LANG": "de_DE.UTF-8"})
    assert messages.requests[0].body["system"] == (
        "slow good/ford/claude-opus-5-5/anthropic/review/web/de [a][b]\nIn web."
    )


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("Hello {{ nobody }}", "names what is not there: 'nobody' is undefined"),
        ("Hello {{ recpie }}", "names what is not there: 'recpie' is undefined; did you mean `recipe`?"),
        ("{{ params.gone }}", "names what is not there: there is no `gone`; there is"),
        ("{% if %}", "is wrong in its line 1"),
        ("{{ ''.__class__.__mro__ }}", "does what no template may"),
        ("{{ 1 / 0 }}", "fails: division by zero"),
    ],
)
def test_a_template_that_cannot_be_rendered(ws: Workspace, messages: MessagesServer, template: str, told: str) -> None:
    recipe(ws, messages, promptPrefix=template)
    failed = delegate(ws, status=2)
    assert f"the template in the promptPrefix of `good` {told}" in failed.stderr
    assert messages.requests == []


def test_the_next_model_of_the_chain(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages, params={"model": "default:own"})
    ws.settings({"models": {"default:own": "first, default:gone, second"}})
    messages.reply(scripted.status(404), scripted.text("From the second."))
    assert delegate(ws).json["process"]["reply"] == "From the second.\n"
    assert [request.body["model"] for request in messages.requests] == ["first", "second"]


def test_the_answer_comes_as_it_is_made(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages)
    messages.reply(scripted.stream("one ", "two ", "three", pause=0.4))
    started = ws.start("worker", stdin=-1)
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdin.write(payload().encode())
    started.stdin.close()
    started.stdin = None
    assert os.read(started.stdout.fileno(), 100) == b"one "
    first = time.monotonic()
    rest = b""
    while piece := os.read(started.stdout.fileno(), 100):
        rest += piece
    assert rest == b"two three\n"
    assert time.monotonic() - first > 0.5
    assert started.wait(10) == 0


# What goes wrong.


def test_without_a_key(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    failed = delegate(ws, status=3)
    assert (failed.json["decision"], failed.json["recipe"]) == ("MATCH", "good")
    assert failed.stderr.splitlines()[0] == (
        "error: the worker has no key to run the recipe with: set ANTHROPIC_API_KEY"
    )
    assert len(failed.stderr.splitlines()) == 2
    assert not (ws.state / "processes").exists()
    alone = ws.run("worker", stdin=payload()).expect(3)
    assert (alone.stdout, "set ANTHROPIC_API_KEY" in alone.stderr) == ("", True)


def in_events(data: bytes) -> scripted.Behaviour:
    """A stream whose only event holds this."""
    event = b"event: message_start\ndata: " + data + b"\n\n"
    return scripted.raw(event, headers=scripted.EVENT_STREAM, hang_up=True)


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        (scripted.stream("Half a ", end=b""), "broke the"),
        (scripted.stream("Half a ", end=b"", reset=True), "broke the connection off"),
        (scripted.stream("Half a ", end=scripted.stream_error()), "the server is overloaded"),
        (scripted.stream("Half a ", end=b"event: content_block_delta\ndata: {oops\n\n"), "could not be run"),
        (scripted.stop("max_tokens", "Half a "), "raise params.maxTokens of `good`"),
        (scripted.stop("refusal", "Half a "), "the model refused"),
    ],
    ids=["cut", "reset", "error", "garbage", "max-tokens", "refusal"],
)
def test_a_stream_that_does_not_end_well(
    ws: Workspace, messages: MessagesServer, behaviour: scripted.Behaviour, told: str
) -> None:
    recipe(ws, messages)
    messages.reply(behaviour)
    failed = delegate(ws, status=3)
    process = failed.json["process"]
    assert (process["status"], process["reply"].rstrip("\n")) == ("FAILED", "Half a ")  # what came is not lost
    assert "the recipe `good` could not be run" in failed.stderr
    assert told in failed.stderr
    assert "Traceback" not in failed.stderr
    assert "test-key" not in failed.stderr + failed.stdout
    assert len(messages.requests) == 1  # what is out cannot be taken back, so nothing is asked again


@pytest.mark.parametrize(
    ("behaviour", "told", "calls"),
    [
        (scripted.status(401), "the key was refused; check ANTHROPIC_API_KEY", 1),
        (scripted.status(404), "check ANTHROPIC_BASE_URL, params.model of `good` and `models` in the settings", 1),
        (scripted.status(529), "the server is overloaded", 3),
        (scripted.html_200(), "did not answer with a message (text/html); check ANTHROPIC_BASE_URL", 1),
        (scripted.no_content_204(), "answered with nothing (status 204)", 1),
        (scripted.empty_body_200(), "did not answer with a message (application/json)", 1),
        (scripted.raw(b"null"), "did not answer with a message (application/json)", 1),
        (scripted.json_list_200(), "did not answer with a message (application/json)", 1),
        (scripted.wrong_shape_200(), "did not answer with a message (application/json)", 1),
        (scripted.gzip_garbage(), "answered with something that cannot be read", 1),
        (scripted.raw(b'{"error": {"type": "overloaded_error", "message": "Busy"}}'), "overloaded; try again", 3),
        (scripted.raw(b'{"error": "quota"}'), "(status 200: quota)", 1),
        (in_events(b'{"type": "message_start", "message": null}'), "message (text/event-stream)", 1),
        (in_events(b"{{{"), "did not answer with a message (text/event-stream)", 1),
        (scripted.raw(b"", headers=scripted.EVENT_STREAM, hang_up=True), "broke the reply off", 3),
        (scripted.close_before_reply(), "broke the connection off", 3),
        (scripted.text(""), "the model gave an empty reply", 3),
    ],
    ids=[
        "key",
        "model",
        "overloaded",
        "portal",
        "no-content",
        "no-body",
        "null",
        "list",
        "no-message",
        "garbage",
        "error-200",
        "text-200",
        "event-of-null",
        "no-event",
        "no-events",
        "hang-up",
        "empty",
    ],
)
def test_a_call_that_fails(
    ws: Workspace, messages: MessagesServer, behaviour: scripted.Behaviour, told: str, calls: int
) -> None:
    recipe(ws, messages)
    messages.reply(behaviour)
    failed = delegate(ws, status=3)
    assert told in failed.stderr
    assert "Traceback" not in failed.stderr
    assert (failed.json["process"]["status"], len(messages.requests)) == ("FAILED", calls)


@pytest.mark.parametrize("engine", ["marvin", "vogon", "hactar", "zaphod"])
def test_an_engine_that_needs_more(ws: Workspace, engine: str) -> None:
    failed = ws.run("delegate", "--recipe", engine, "x", env={"ANTHROPIC_API_KEY": "k"}).expect(2)
    assert "the bundled worker cannot run" in failed.stderr
    assert f"set spawn.engines.{engine}.command" in failed.stderr
    assert not (ws.state / "processes").exists()
    alone = ws.run("worker", stdin=payload(engine)).expect(2)
    assert f"set spawn.engines.{engine}.command" in alone.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the payload is not JSON"),
        ("{", "the payload is not JSON"),
        ("[]", "the payload must be a JSON object"),
        ('{"appliedRecipe": {}}', "the field `appliedRecipe.engine` is missing"),
        ('{"appliedRecipe": {"engine": "ford", "params": 3}}', "the payload: `appliedRecipe.params` must be an object"),
        (
            '{"appliedRecipe": {"engine": "ford", "promptPrefix": 3}}',
            "`appliedRecipe.promptPrefix` must be text",
        ),
        ("[" * 100_000, "the payload is not JSON"),
        ('{"task": ["x"], "appliedRecipe": {"engine": "ford"}}', "the payload: `task` must be text"),
        ('{"task": {"a": 1}, "appliedRecipe": {"engine": "ford"}}', "the payload: `task` must be text"),
        ('{"steerContent": 3, "appliedRecipe": {"engine": "ford"}}', "the payload: `steerContent` must be text"),
        ('{"task": "x", "task": "y", "appliedRecipe": {"engine": "ford"}}', "the key `task` is there twice"),
    ],
)
def test_a_payload_that_is_none(ws: Workspace, text: str, told: str) -> None:
    failed = ws.run("worker", stdin=text).expect(2)
    assert (failed.stdout, told in failed.stderr, "Traceback" in failed.stderr) == ("", True, False)


def test_a_payload_from_a_file(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    messages.reply(scripted.text("Yes."))
    path = ws.write("P/payload.json", payload())
    assert ws.run("worker", path).expect().stdout == "Yes.\n"


def test_an_interrupt_in_mid_stream(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages)
    messages.reply(scripted.stream("one ", *["more "] * 100, pause=0.1))
    running = ws.start("delegate", "--name", "a", "fix tests")
    messages.wait_for(1)
    time.sleep(0.5)
    os.killpg(running.pid, signal.SIGINT)
    ended = ws.finish(running, timeout=10).expect(130)
    assert ended.json["process"]["status"] == "STOPPED"
    assert ended.json["process"]["reply"].startswith("one more ")
    assert "Traceback" not in ended.stderr


@pytest.mark.installed
def test_a_project_brings_no_module_for_the_worker(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages)
    ws.write("P/vancectl/__init__.py", "open('taken', 'w')")
    ws.write("P/anthropic.py", "open('taken', 'w')")
    messages.reply(scripted.text("Yes."))
    assert delegate(ws).json["process"]["reply"] == "Yes.\n"
    assert not ws.path("P/taken").exists()


# jeltz.

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def test_jeltz_gives_an_object_that_satisfies_the_schema(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages, engine="jeltz", params={"schema": SCHEMA})
    messages.reply(
        scripted.text("Sure! The name is Arthur."),
        scripted.text('{"name": "Arthur", "age": "42"}'),
        scripted.text('```json\n{"name": "Arthur", "age": 42}\n```'),
    )
    process = delegate(ws).json["process"]
    assert (process["name"], process["reply"]) == ("a", {"name": "Arthur", "age": 42})
    said = [request.body["messages"][-1]["content"] for request in messages.requests]
    assert "it is not one JSON object" in said[1]
    assert "$.age: '42' is not of type 'integer'" in said[2]
    assert json.dumps(SCHEMA) in messages.requests[0].body["system"]


def test_jeltz_gives_up(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages, engine="jeltz", params={"schema": SCHEMA, "maxAttempts": 2})
    messages.reply(scripted.text('{"name": "Arthur"}'))
    failed = delegate(ws, status=3)
    assert "no answer satisfied the schema in 2 attempts: $: 'age' is a required property" in failed.stderr
    assert len(messages.requests) == 2
    assert "reply" not in failed.json["process"]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("{", "params.schema is not JSON"),
        ([1], "params.schema must be a JSON schema"),
        ({"type": "oops"}, "params.schema is no JSON schema: at type"),
        ({"$ref": "http://127.0.0.1:9/schema"}, "refers to what is not in it"),
        ({"$ref": "file:///etc/passwd"}, "refers to what is not in it: file:///etc/passwd"),
        ({"properties": {"a": {"$ref": "#/$defs/gone"}}}, "refers to what is not in it"),
        ({"$ref": "#"}, "nests too deeply"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/a"}}}, "nests too deeply"),
        ({"$schema": "http://127.0.0.1:9/schema"}, "at $schema: the dialect 'http://127.0.0.1:9/schema' is not known"),
        ({"properties": {"a": {"pattern": "(("}}}, "at properties/a/pattern"),
        ({"patternProperties": {"((": {}}}, "'((' is not a 'regex'"),
        ({"type": 5}, "at type: 5 is not valid"),
        ("[" * 5000, "params.schema is not JSON"),
    ],
)
def test_a_schema_that_is_none(ws: Workspace, messages: MessagesServer, schema: object, told: str) -> None:
    recipe(ws, messages, engine="jeltz", params={"schema": schema})
    messages.reply(scripted.text("{}"))
    failed = delegate(ws, status=3)
    assert told in failed.stderr
    assert "Traceback" not in failed.stderr
    assert messages.requests == []


def test_a_pattern_that_backtracks_ends(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages, engine="jeltz", params={"schema": {"properties": {"a": {"pattern": "^(a|a)*$"}}}})
    messages.reply(scripted.text(json.dumps({"a": "a" * 40 + "b"})))
    started = time.monotonic()
    failed = delegate(ws, status=3)
    assert "params.schema cannot be used: it takes longer than 1 second" in failed.stderr
    assert len(messages.requests) == 1
    assert time.monotonic() - started < 20


# slartibartfast.

YAML = "description: Writes notes. Take it for notes.\nengine: ford\npromptPrefix: |\n  Write notes.\n"


def written(ws: Workspace, layer: str = "P") -> list[Path]:
    return sorted(ws.path(f"{layer}/recipes/_slart").rglob("*.yaml"))


def test_slartibartfast_writes_a_recipe_that_can_be_started(ws: Workspace, messages: MessagesServer) -> None:
    recipe(ws, messages, engine="slartibartfast")
    messages.reply(
        scripted.text("Here you are."),
        scripted.text("name: notes\n```yaml\ndescription: [oops]\nengine: frod\n```"),
        scripted.text(f"name: notes\n```yaml\n{YAML.replace('ford', 'frod')}```"),
        scripted.text(f"Mended.\n\nname: notes\n\n```yaml\n{YAML}```\n"),
    )
    ws.recipe("P/recipes/good.yaml", engine="slartibartfast", triggers=["fix tests"], params={"maxAttempts": 4})
    process = delegate(ws).json["process"]
    (path,) = written(ws)
    assert (process["status"], process["reply"]["path"]) == ("DONE", str(path))
    assert process["reply"]["generatedRecipe"] == f"_slart/{process['id']}/notes"
    assert path.read_text() == YAML
    said = [request.body["messages"][-1]["content"] for request in messages.requests]
    assert "there must be one ```yaml block (found 0)" in said[1]
    assert "`description` must be text (found a list)" in said[2]
    assert "there is no engine `frod`" in said[3]
    messages.reply(scripted.text("A note."))
    started = ws.run("delegate", "--recipe", process["reply"]["generatedRecipe"], "a note").expect().json
    assert (started["recipe"], started["process"]["reply"]) == (process["reply"]["generatedRecipe"], "A note.\n")


@pytest.mark.parametrize("name", ["../../oops", "a/b", "", "Ünï", "-x"])
def test_a_name_cannot_leave_its_folder(ws: Workspace, messages: MessagesServer, name: str) -> None:
    recipe(ws, messages, engine="slartibartfast", params={"maxAttempts": 1})
    messages.reply(scripted.text(f"name: {name}\n```yaml\n{YAML}```"))
    failed = delegate(ws, status=3)
    assert "no valid recipe came out of 1 attempts: the first line must be" in failed.stderr
    assert written(ws) == []


def test_slartibartfast_outside_of_a_project(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    ws.recipe("T/recipes/good.yaml", engine="slartibartfast", triggers=["fix tests"])
    messages.reply(scripted.text(f"name: notes\n```yaml\n{YAML}```"))
    delegate(ws)
    assert [path.name for path in written(ws, "T")] == ["notes.yaml"]


def test_a_script_is_no_recipe(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    failed = ws.run("delegate", "--recipe", "slart-and-run", "x").expect(2)
    assert "the worker writes recipes only; what this one asks for (SCRIPT_JS) needs a program" in failed.stderr
    assert messages.requests == []


def test_a_person_sees_the_answer_as_it_is_made(ws: Workspace, messages: MessagesServer) -> None:
    """The decision before the first word, and the words before the last one has come."""
    recipe(ws, messages)
    messages.reply(scripted.stream("one ", "two ", "three", pause=0.7))
    near, end = pty.openpty()
    running = ws.start("delegate", "--name", "a", "fix tests", stdout=end, env={"TERM": "dumb"})
    os.close(end)
    seen = b""
    while b"one " not in seen:
        seen += os.read(near, 1000)
    first = time.monotonic()
    assert b"MATCH" in seen
    assert b"three" not in seen
    with suppress(OSError):  # what a terminal says where nobody holds its other end
        while piece := os.read(near, 1000):
            seen += piece
    assert time.monotonic() - first > 0.7
    assert seen.replace(b"\r", b"").endswith(b"\n\none two three\n")
    assert running.wait(10) == 0
    os.close(near)


@pytest.mark.parametrize("fields", [{}, {"stop_reason": "end_turn"}], ids=["no-reason", "with-reason"])
@pytest.mark.parametrize("engine", ["ford", "jeltz"])
def test_a_gateway_that_does_not_stream(
    ws: Workspace, messages: MessagesServer, engine: str, fields: dict[str, str]
) -> None:
    recipe(ws, messages, engine=engine)
    blocks = [{"type": "text", "text": '{"all": "'}, {"type": "text", "text": 'well"}'}]
    messages.reply(scripted.raw(json.dumps({"type": "message", "content": blocks, **fields}).encode()))
    assert delegate(ws).json["process"]["reply"] == {"all": "well"}
