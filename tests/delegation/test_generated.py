"""A fallback that generates a recipe first: two steps, or one and an event."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import REPOSITORY, Result, Workspace

YAML = "description: Paints. Take it to paint.\nengine: ford\npromptPrefix: Paint.\n"
ANSWER = f"name: painter\n```yaml\n{YAML}```"
# A program of one's own in place of the worker: it stores the file and names it.
GENERATOR = """#!python
import json, os, sys
payload = json.load(sys.stdin)
if payload["appliedRecipe"]["recipe"] != "maker":
    print("ran", payload["appliedRecipe"]["recipe"], payload["appliedRecipe"]["params"])
    sys.exit()
folder = ".vance/recipes/_slart/" + os.environ["VANCECTL_PROCESS_ID"]
os.makedirs(folder)
open(folder + "/made.yaml", "w").write("description: d\\nengine: ford\\nparams: {a: 1}\\n")
print("working", file=sys.stderr)
"""


def none_after_a_trigger(ws: Workspace, fallback: str) -> None:
    """Two phrases are hit, and the model says NONE: the fallback of the setting."""
    ws.recipe("P/recipes/one.yaml", triggers=["paint"])
    ws.recipe("P/recipes/two.yaml", triggers=["the fence"])
    ws.settings({"routing.fallback.recipe": fallback})


def with_program(ws: Workspace, script: str = GENERATOR, **settings: object) -> None:
    none_after_a_trigger(ws, "maker")
    ws.recipe("P/recipes/maker.yaml", params={"generates": "recipe"})
    ws.program("agent", script)
    ws.program("oracle", """echo '{"decision": "NONE", "recipe": null, "rationale": "Nothing."}'""")
    ws.settings({"spawn.command": ["agent"], "selector.backend": "command", "selector.command": ["oracle"], **settings})


def delegate(ws: Workspace, *args: str, status: int = 0, **options: Any) -> Result:
    return ws.run("delegate", "--name", "a", *args, "paint the fence", **options).expect(status)


def test_the_bundled_author_with_the_worker(ws: Workspace, messages: MessagesServer) -> None:
    none_after_a_trigger(ws, "slartibartfast")
    ws.model(messages)
    messages.reply(scripted.none(), scripted.text(ANSWER), scripted.text("Painted."))
    answer = delegate(ws).json
    name = answer["fallback"]["generatedRecipe"]
    assert (answer["decision"], answer["recipe"]) == ("NONE", None)
    assert answer["fallback"] == {
        "recipe": "slartibartfast", "source": "routing.fallback.recipe", "generatedRecipe": name,
        "layer": "bundled", "shadows": [],
    }  # fmt: skip
    assert name == f"_slart/{answer['generator']['id']}/painter"
    assert answer["generator"]["name"].startswith("a-")
    process = answer["process"]
    assert [process[key] for key in ("name", "recipe", "status", "reply")] == ["a", name, "DONE", "Painted.\n"]
    assert messages.requests[2].body["system"].endswith("\n\nPaint.")
    assert delegate(ws).json["process"]["status"] == "already_exists"


def test_a_program_of_one_s_own(ws: Workspace) -> None:
    with_program(ws)
    answer = delegate(ws, "--param", "b=2").json
    name = f"_slart/{answer['generator']['id']}/made"
    assert answer["fallback"]["generatedRecipe"] == name
    assert answer["process"]["reply"] == f"ran {name} {{'a': 1, 'generates': 'recipe', 'b': 2}}\n".replace(
        "'generates': 'recipe', ", ""
    )


def test_without_waiting_for_the_second_step(ws: Workspace) -> None:
    with_program(ws)
    answer = delegate(ws, "--no-wait").json
    assert answer["process"]["recipe"] == answer["fallback"]["generatedRecipe"]
    assert ws.run("processes", "wait", "a").expect().json["status"] == "DONE"


@pytest.mark.parametrize(
    ("script", "told", "remedy"),
    [
        (
            "echo no idea; exit 7",
            "no recipe was generated: the spawn command ended with status 7",
            "shows what it wrote",
        ),
        ("cat >/dev/null; echo done", "no recipe was generated: `maker` ended well, but named none", "its last line"),
        ("""echo '{"generatedRecipe": "python"}'""", "ended well, but named none", "its last line"),
        ("""echo '{"generatedRecipe": "_slart/x/gone"}'""", "ended well, but named none", "its last line"),
        (
            "exec sleep 60",
            "no recipe was generated: the spawn command was ended after 0.5 seconds",
            "raise routing.fallback.generateTimeout",
        ),
    ],
    ids=["fails", "names-none", "names-another", "names-what-is-not-there", "takes-too-long"],
)
def test_a_generator_that_gives_none(ws: Workspace, script: str, told: str, remedy: str) -> None:
    with_program(ws, script, **{"routing.fallback.generateTimeout": 0.5 if "sleep" in script else 30})
    begun = time.monotonic()
    failed = delegate(ws, status=3)
    assert time.monotonic() - begun < 10
    assert failed.json["decision"] == "NONE"
    assert told in failed.json["error"]
    assert remedy in failed.stderr
    assert failed.json["generator"]["name"].startswith("a-")
    assert ("no idea" in str(failed.json["generator"].get("reply"))) == ("no idea" in script)
    assert "process" not in failed.json
    assert [each["recipe"] for each in ws.run("processes", "list").expect().json] == ["maker"]
    ws.settings({"spawn.command": ["true"], "routing.fallback.recipe": "one"})
    assert delegate(ws).json["process"]["status"] == "DONE"  # the name is free


def test_a_broken_recipe_is_not_started(ws: Workspace) -> None:
    with_program(ws, GENERATOR.replace("description: d", "description: [d]"))
    failed = delegate(ws, status=2)
    assert "is broken" in failed.json["error"]
    assert "process" not in failed.json
    assert failed.json["generator"]["status"] == "DONE"


def test_pending(ws: Workspace) -> None:
    with_program(
        ws,
        GENERATOR
        + """
print(json.dumps({"generatedRecipe": folder.removeprefix(".vance/recipes/") + "/made", "path": folder}))
""",
    )
    ws.program("told", "cat >event.part; mv event.part event")
    answer = delegate(ws, "--async-fallback", "--on-exit", "told").json
    assert (answer["decision"], answer["outcome"]) == ("NONE", "PENDING")
    assert answer["fallback"] == {
        "recipe": "maker",
        "source": "routing.fallback.recipe",
        "layer": "project",
        "shadows": [],
    }
    process = answer["process"]
    assert process["status"] == "RUNNING"
    assert (answer["generator"], answer["slartProcessId"]) == (process, process["id"])
    assert f"vancectl processes wait {process['id']}" in answer["hint"]
    limit = time.monotonic() + 10
    while not ws.path("P/event").exists():
        assert time.monotonic() < limit, "the event has come"
        time.sleep(0.02)
    event = json.loads(ws.path("P/event").read_text())
    assert event["event"] == "end"
    assert event["process"]["id"] == process["id"]
    assert (event["process"]["status"], event["process"]["exitCode"]) == ("DONE", 0)
    assert event["generatedRecipe"] == f"_slart/{process['id']}/made"
    request = {"name": "b", "recipe": event["generatedRecipe"]}
    started = ws.run("delegate", "--request", "-", stdin=json.dumps(request)).expect().json["process"]
    assert started["reply"].startswith("ran _slart/")


def test_who_is_named_generates_and_no_more(ws: Workspace) -> None:
    with_program(ws)
    answer = ws.run("delegate", "--recipe", "maker", "x").expect().json
    assert "fallback" not in answer
    assert answer["process"]["recipe"] == "maker"
    assert len(ws.run("processes", "list").expect().json) == 1


SLOW = GENERATOR.replace(
    "folder = ",
    """open("begun", "a").write("x")
while not os.path.exists("go"):
    import time; time.sleep(0.02)
folder = """,
)


def begun(ws: Workspace) -> None:
    limit = time.monotonic() + 20
    while not ws.path("P/begun").exists():
        assert time.monotonic() < limit, "the generator has begun"
        time.sleep(0.02)


def generators(ws: Workspace) -> list[Any]:
    return [each for each in ws.run("processes", "list").expect().json if each["recipe"] == "maker"]


def test_racing_calls_make_one_generator(ws: Workspace) -> None:
    with_program(ws, SLOW)
    racing = [ws.start("delegate", "--name", "a", "paint the fence") for _ in range(4)]
    begun(ws)
    late = delegate(ws).json
    assert late["process"]["status"] == "already_exists"
    assert late["process"]["existingStatus"] == late["generator"]["status"] == "RUNNING"
    assert (late["outcome"], late["slartProcessId"]) == ("PENDING", late["generator"]["id"])
    ws.path("P/go").write_text("")
    answers = [ws.finish(each).expect().json for each in racing]
    started = [each for each in answers if each["process"]["status"] == "DONE"]
    assert len(started) == 1
    assert [each["generator"]["id"] for each in answers] == [late["generator"]["id"]] * 4
    assert [(each["id"], each["name"]) for each in generators(ws)] == [
        (late["generator"]["id"], started[0]["generator"]["name"])
    ]
    assert ws.path("P/begun").read_text() == "x"
    assert delegate(ws).json["process"]["id"] == started[0]["process"]["id"]


def test_what_is_pending_has_the_name(ws: Workspace) -> None:
    with_program(ws, SLOW)
    first = delegate(ws, "--async-fallback").json
    begun(ws)
    for words in ((), ("--async-fallback",)):
        again = delegate(ws, *words).json
        assert (again["outcome"], again["slartProcessId"]) == ("PENDING", first["slartProcessId"])
        assert again["process"]["status"] == "already_exists"
    ws.path("P/go").write_text("")
    ws.run("processes", "wait", first["slartProcessId"]).expect()
    again = delegate(ws, "--async-fallback").json
    name = f"_slart/{first['slartProcessId']}/made"
    assert "outcome" not in again
    assert again["generator"]["status"] == again["process"]["existingStatus"] == "DONE"
    assert f"delegate --name a --recipe {name}" in again["process"]["hint"]
    other = ws.run("delegate", "--name", "a", "paint it all").expect().json
    assert other["process"]["status"] == "already_exists"
    assert len(generators(ws)) == 1


@pytest.mark.parametrize(
    "words", [("paint the fence",), ("--recipe", "{}", "paint")], ids=["the-same-call", "its-name"]
)
def test_what_was_generated_takes_over_the_name(ws: Workspace, words: tuple[str, ...]) -> None:
    with_program(ws)
    first = delegate(ws, "--async-fallback").json
    ws.run("processes", "wait", first["slartProcessId"]).expect()
    name = f"_slart/{first['slartProcessId']}/made"
    started = ws.run("delegate", "--name", "a", *(word.format(name) for word in words)).expect().json
    assert [started["process"][key] for key in ("name", "recipe", "status")] == ["a", name, "DONE"]
    assert [each["name"] for each in generators(ws)] == [f"a-{first['slartProcessId'][:6]}"]


def test_a_pending_generation_that_fails_frees_the_name(ws: Workspace) -> None:
    with_program(ws, "exit 7")
    first = delegate(ws, "--async-fallback").json
    assert ws.run("processes", "wait", first["slartProcessId"]).json["status"] == "FAILED"
    ws.settings({"spawn.command": ["true"], "routing.fallback.recipe": "one"})
    assert delegate(ws).json["process"]["status"] == "DONE"


def test_a_generator_that_cannot_be_started_frees_the_name(ws: Workspace) -> None:
    with_program(ws, "#!/nowhere")
    assert "generator" not in delegate(ws, status=3).json
    ws.program("agent", "true")
    ws.settings({"routing.fallback.recipe": "one"})
    assert delegate(ws).json["process"]["status"] == "DONE"


def test_what_was_generated_and_cannot_be_started_frees_the_name(ws: Workspace) -> None:
    with_program(ws, GENERATOR.replace("engine: ford", "engine: marvin"))
    ws.settings({"spawn.engines": {"marvin": {"command": ["gone"]}}})
    failed = delegate(ws, status=3).json
    assert "gone" in failed["error"]
    assert failed["fallback"]["generatedRecipe"] == f"_slart/{failed['generator']['id']}/made"
    ws.settings({"routing.fallback.recipe": "one"})
    assert delegate(ws).json["process"]["status"] == "DONE"


# Does what the prompt tells, and knows nothing else.
OBEDIENT = """#!python
import json, re, sys
from pathlib import Path
text = sys.stdin.read()
told = re.search(r"folder (\\S+), as NAME", text)
if told is None:
    print("ran")
    sys.exit()
Path(told[1]).mkdir(parents=True)
(Path(told[1]) / "made.yaml").write_text("description: d\\nengine: ford\\n")
print("It is done.")
print(text[text.index('{"generatedRecipe"'):].partition("}")[0].replace("NAME", "made") + "}")
"""


@pytest.mark.parametrize(
    ("words", "layer"),
    [((), "P/recipes"), (("--no-project",), "T/recipes"), (("--recipes", "mine"), "P/mine")],
    ids=["project", "no-project", "recipes"],
)
@pytest.mark.parametrize("author", ["program", "worker"])
def test_it_is_stored_where_the_caller_looks(
    ws: Workspace, messages: MessagesServer, words: tuple[str, ...], layer: str, author: str
) -> None:
    ws.recipe("P/recipes/other.yaml")
    ws.write(f"{layer}/slartibartfast.yaml", (REPOSITORY / "defaults/recipes/slartibartfast.yaml").read_bytes())
    ws.recipe(f"{layer}/one.yaml", triggers=["paint"])
    ws.recipe(f"{layer}/two.yaml", triggers=["the fence"])
    ws.settings({"routing.fallback.recipe": "slartibartfast"})
    ws.model(messages)
    messages.reply(scripted.none())
    if author == "program":
        ws.program("agent", OBEDIENT)
        ws.settings({"spawn.command": ["agent"], "spawn.stdin": "prompt"})
    else:
        messages.reply(scripted.text(ANSWER), scripted.text("Painted."))
    answer = delegate(ws, *words).json
    name = "made" if author == "program" else "painter"
    assert answer["process"]["recipe"] == f"_slart/{answer['generator']['id']}/{name}"
    assert ws.path(f"{layer}/_slart/{answer['generator']['id']}/{name}.yaml").exists()


def test_only_engines_that_can_be_started_are_offered_and_accepted(ws: Workspace, messages: MessagesServer) -> None:
    none_after_a_trigger(ws, "slartibartfast")
    ws.model(messages)
    messages.reply(
        scripted.none(),
        scripted.text(ANSWER.replace("ford", "marvin")),
        scripted.text(ANSWER),
        scripted.text("Painted."),
    )
    assert delegate(ws).json["process"]["reply"] == "Painted.\n"
    asked = messages.requests[1].body["system"]
    assert "- ford: " in asked
    assert not [name for name in ("marvin", "vogon", "zaphod", "hactar") if f"- {name}: " in asked]
    assert "no engine `marvin` that can be started here" in messages.requests[2].body["messages"][-1]["content"]


def test_the_params_that_a_locked_generated_recipe_drops_are_named(ws: Workspace) -> None:
    with_program(ws, GENERATOR.replace("params: {a: 1}", "locked: true"))
    answer = delegate(ws, "--param", "b=2").json
    name = answer["fallback"]["generatedRecipe"]
    assert f"the recipe `{name}` is locked: the params b are dropped" in answer["warnings"]


@pytest.mark.parametrize("words", [(), ("--dry-run",)], ids=["started", "dry-run"])
def test_async_without_effect_is_said(ws: Workspace, words: tuple[str, ...]) -> None:
    with_program(ws, "true", **{"routing.fallback.recipe": "one"})
    answer = delegate(ws, "--async-fallback", *words).json
    assert any("no effect: the fallback `one` generates no recipe" in each for each in answer["warnings"])
    assert not any(
        "no effect" in each for each in ws.run("delegate", "--name", "b", "paint the fence").json["warnings"]
    )


def test_the_time_limit_is_for_both_steps(ws: Workspace) -> None:
    with_program(ws, "exec sleep 60")
    failed = delegate(ws, "--timeout", "0.5", status=3)
    assert "after 0.5 seconds" in failed.json["error"]
    assert "raise --timeout" in failed.stderr
    ws.program("agent", GENERATOR.replace("sys.exit()", "import time; time.sleep(60)"))
    since = time.monotonic()
    failed = delegate(ws, "--timeout", "4", status=3)
    assert time.monotonic() - since < 20
    assert failed.json["process"]["status"] == "TIMED_OUT"


def test_a_plan_takes_up_what_was_being_generated(ws: Workspace) -> None:
    with_program(ws)
    pending = delegate(ws, "--async-fallback").json
    ws.run("processes", "wait", pending["slartProcessId"]).expect()
    ws.write("P/plan.json", json.dumps({"children": [{"name": "a", "task": "paint the fence"}]}))
    (answer,) = ws.run("plan", "plan.json", "--resume").expect().json["answers"]
    assert answer["process"]["recipe"] == f"_slart/{pending['slartProcessId']}/made"
    assert len(generators(ws)) == 1


def test_a_person_sees_what_the_generator_said(ws: Workspace) -> None:
    with_program(ws, "echo no idea; exit 7")
    shown = delegate(ws, tty=True, status=3).stdout
    assert "generator" in shown
    assert "no idea" in shown
