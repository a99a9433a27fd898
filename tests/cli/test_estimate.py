"""What a question costs: the estimate beforehand, the count afterwards."""

from __future__ import annotations

from tests.messages_server import MessagesServer, match
from tests.workspace import Workspace


def estimate(ws: Workspace, *words: str) -> dict[str, int]:
    document = ws.run("select", "--estimate", *words).expect().json
    parts = {part["part"]: part["characters"] for part in document["parts"]}
    assert sum(parts.values()) == document["characters"]
    assert document["tokens"] == sum(part["tokens"] for part in document["parts"])
    return parts


def test_the_estimate_is_what_is_sent(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("B/recipes/review.yaml", "Review a branch – gründlich.", triggers=["look over"])
    ws.recipe("B/recipes/notes.yaml", "Write release notes for users, and say what is new.", triggers=["my branch"])
    parts = estimate(ws, "look over my branch")
    assert messages.requests == []
    ws.model(messages)
    messages.reply(match("review"))
    ws.run("select", "look over my branch").expect()
    body = messages.requests[0].body
    [context, request] = [block["text"] for block in body["messages"][0]["content"]]
    lines = context.partition("<inventory>\n")[2].partition("\n</inventory>")[0].splitlines()
    assert parts["system"] == len(body["system"])
    assert parts["catalog"] == len(context.partition("<engine-catalog>\n")[2].partition("\n</engine-catalog>")[0])
    assert parts["task"] == len(request)
    assert [parts[f"recipe {name}"] for name in ("notes", "review")] == [len(line) for line in lines]


def test_the_longest_recipes_come_first_and_no_key_is_needed(ws: Workspace) -> None:
    ws.recipe("B/recipes/short.yaml", "Short.")
    ws.recipe("B/recipes/long.yaml", "Long. " * 100)
    ws.recipe("B/recipes/middle.yaml", "Middle. " * 10)
    assert list(estimate(ws))[3:] == ["recipe long", "recipe middle", "recipe short"]
    table = ws.run("select", "--estimate", "a task", tty=True).expect().stdout
    assert table.index("recipe long") < table.index("recipe middle") < table.index("recipe short")


def test_explain_tells_attempts_and_tokens(ws: Workspace, messages: MessagesServer) -> None:
    ws.recipe("P/recipes/review.yaml", "Review a branch.")
    ws.model(messages)
    usage = {
        "input_tokens": 12,
        "cache_read_input_tokens": 3400,
        "cache_creation_input_tokens": 56,
        "output_tokens": 78,
    }
    messages.reply(match("review", "asks for it", usage=usage))
    plain = ws.run("select", "look over my branch", tty=True).expect().stdout
    told = ws.run("select", "--explain", "look over my branch", tty=True, columns=120).expect().stdout
    assert "3400" not in plain
    assert "12 in, 3400 read from the cache, 56 written to it, 78 out" in told


def test_a_library_beyond_the_limit_is_shortlisted_and_says_so(ws: Workspace, messages: MessagesServer) -> None:
    for number in range(30):
        ws.recipe(f"B/recipes/job-{number:02d}.yaml", f"Does the work of kind {number}.")
    ws.recipe("B/recipes/default.yaml", "Everything else.")
    ws.recipe("B/recipes/zebra.yaml", "Paints stripes on horses.")
    ws.recipe("B/recipes/hit-a.yaml", "Unlike the task.", triggers=["stripes please"])
    ws.recipe("B/recipes/hit-b.yaml", "Unlike it as well.", triggers=["please on"])
    ws.settings({"routing.recipeListLimit": 5})
    ws.model(messages)
    messages.reply(match("zebra"))
    decision = ws.run("select", "paint stripes please on the horse").expect().json
    assert (decision["recipe"], decision["candidates"]) == ("zebra", 34)
    assert (decision["model"]["candidates"], decision["model"]["leftOut"]) == (5, 29)
    names = messages.requests[0].body["output_config"]["format"]["schema"]["properties"]["recipe"]["anyOf"][0]["enum"]
    assert {"default", "hit-a", "hit-b", "zebra"} < set(names)
    assert names == sorted(names)
    context = messages.requests[0].body["messages"][0]["content"][0]["text"]
    assert [name for name in names if f'"name": "{name}"' in context] == names
