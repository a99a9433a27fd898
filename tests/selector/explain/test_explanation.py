"""`select --explain`, `delegate --explain` and `--why`: what is told agrees with what was decided."""

from __future__ import annotations

from typing import Any

import pytest

from tests.messages_server import MessagesServer, match, none
from tests.workspace import Workspace

# What a decision says of where a recipe comes from.
BUNDLED = {"layer": "bundled", "shadows": []}

QUOKKA = "Counts quokkas on photographs. Take it when someone asks how many there are."


@pytest.fixture
def library(ws: Workspace) -> Workspace:
    """Six recipes in three layers: two with phrases, one internal, one on demand, one broken, one shadowed."""
    ws.recipe("B/recipes/count.yaml", "Counts anything. Take it for numbers.")
    ws.recipe("B/recipes/default.yaml", "Everyday tasks.")
    ws.recipe("T/recipes/weigh.yaml", "Weighs quokkas. Take it for their weight.", triggers=["weigh quokkas"])
    ws.recipe("P/recipes/count.yaml", QUOKKA, triggers=["count quokkas", "count the quokkas"])
    ws.recipe("P/recipes/hidden.yaml", "Hidden.", internal=True)
    ws.recipe("P/recipes/_user/mine.yaml", "Mine.")
    ws.write("P/recipes/broken.yaml", "description: x\n")
    return ws


def explained(ws: Workspace, *arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = ws.run("select", "--explain", *arguments).expect().json
    return document


def test_layers_are_counted_and_exclusions_have_their_reason(library: Workspace) -> None:
    told = explained(library, "count quokkas now")["explanation"]
    assert [(each["layer"], each["files"], each["inForce"]) for each in told["layers"]] == [
        ("project", 4, 4),
        ("tenant", 1, 1),
        ("bundled", 3, 2),  # recipe-selector is there, too
    ]
    assert {each["recipe"]: each["why"] for each in told["excluded"]} == {
        "recipe-selector": "internal",
        "hidden": "internal",
        "_user/mine": "underscore",
        "broken": "broken",
    }
    assert told["candidates"] == 3


def test_every_place_of_every_phrase_is_told(library: Workspace) -> None:
    task = "Count  QUOKKAS, then weigh quokkas, then count quokkas"
    told = explained(library, task)["explanation"]
    assert [(hit["recipe"], task[hit["start"] : hit["end"]]) for hit in told["hits"]] == [
        ("count", "Count  QUOKKAS"),
        ("weigh", "weigh quokkas"),
        ("count", "count quokkas"),
    ]


def test_the_task_is_shown_with_its_hits_marked_in_place(library: Workspace) -> None:
    shown = library.run(
        "select", "--explain", "please count quokkas, weigh quokkas", tty=True, env={"TERM": "dumb"}
    ).expect().stdout  # fmt: skip
    assert "  please [count quokkas], [weigh quokkas]\n  7–20 “count quokkas” of count\n" in shown
    assert "without hidden: it is `internal: true`" in shown


def test_a_match_would_start_its_recipe_with_the_configured_command(library: Workspace) -> None:
    library.settings(spawn__command=["agent", "--", "{task}"])
    outlook = explained(library, "count quokkas")["explanation"]["outlook"]
    assert outlook == {
        "fallback": None, "recipe": "count", "engine": "ford", "argv": ["agent", "--", "count quokkas"], "error": None,
    }  # fmt: skip


def test_the_fallback_rule_is_told(library: Workspace) -> None:
    untouched = explained(library, "sing")["explanation"]
    assert untouched["outlook"]["fallback"] == {"recipe": "default", "source": "default-recipe", **BUNDLED}
    both = "count quokkas and weigh quokkas"
    library.settings(routing__fallback__recipe="weigh")
    assert explained(library, both)["explanation"]["outlook"]["fallback"]["recipe"] == "weigh"
    shown = library.run("select", "--explain", both, tty=True).expect().stdout
    assert "routing.fallback.recipe decides: `weigh`" in " ".join(shown.split())
    gone = explained(library, both, "--set", "routing.fallback.recipe=gone")["explanation"]["outlook"]
    assert "`gone`" in gone["error"]


def test_the_model_stage_shows_shortlist_ranks_and_cost(library: Workspace, messages: MessagesServer) -> None:
    for number in range(8):
        library.recipe(f"P/recipes/job-{number}.yaml", f"Does job {number} of the island. Take it when asked.")
    library.model(messages)
    messages.reply(match("weigh", runnerUp="count"))
    document = explained(library, "how heavy are quokkas", "--set", "routing.recipeListLimit=4")
    told = document["explanation"]
    assert document["recipe"] == "weigh"
    assert len(told["shown"]) == 4 == document["model"]["candidates"]
    assert told["leftOut"] == 7 == document["model"]["leftOut"]
    assert told["leftOutRecipes"] == document["model"]["leftOutRecipes"]
    assert {each["recipe"] for each in told["shown"]}.isdisjoint(told["leftOutRecipes"])
    assert [each["rank"] for each in told["shown"]] == sorted(each["rank"] for each in told["shown"])
    assert {each["recipe"]: each["kept"] for each in told["shown"]}["default"] == "default"
    sent = str(messages.requests[0].body)
    assert {each["recipe"] for each in told["shown"]} == {
        name for name in ("count", "weigh", "default", *(f"job-{number}" for number in range(8))) if f'"{name}"' in sent
    }


def why(ws: Workspace, name: str, task: str, *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = ws.run("select", "--why", name, *arguments, task).expect().json["why"]
    assert answer["sentences"]
    return answer


def test_why_a_recipe_was_not_chosen(library: Workspace) -> None:
    assert why(library, "count", "count quokkas")["code"] == "chosen"
    assert why(library, "hidden", "count quokkas")["code"] == "internal"
    assert why(library, "mine", "count quokkas")["code"] == "underscore"
    broken = why(library, "broken", "count quokkas")
    assert broken["code"] == "broken"
    assert "`engine` is missing" in broken["sentences"][0]
    other = why(library, "weigh", "count quokkas")
    assert other["code"] == "other-trigger"
    assert "only a trigger of `count` matched" in other["sentences"][0]
    assert "“weigh quokkas” came nearest: the task lacks “weigh”" in other["sentences"][1]
    both = why(library, "weigh", "count quokkas, weigh quokkas")
    assert both["code"] == "several-triggers"
    assert "so did that of `count`" in both["sentences"][0]
    assert why(library, "weigh", "sing")["code"] == "not-asked"
    assert "has all its words" in why(library, "count", "quokkas: count them")["sentences"][1]


def test_why_names_the_model_and_the_shortlist(library: Workspace, messages: MessagesServer) -> None:
    library.model(messages)
    messages.reply(match("weigh", runnerUp="count"), none(rationale="nothing fits"), none())
    runner_up = why(library, "count", "how heavy are they")
    assert runner_up["code"] == "model"
    assert "chose `weigh`, with this one as the runner-up" in runner_up["sentences"][0]
    assert "chose none: nothing fits" in why(library, "count", "sing a song")["sentences"][0]
    for number in range(8):
        library.recipe(f"P/recipes/job-{number}.yaml", f"Does job {number} of the island. Take it when asked.")
    left_out = why(library, "job-7", "quokkas", "--set", "routing.recipeListLimit=3")
    assert left_out["code"] == "left-out"
    assert "not among the 3 recipes" in left_out["sentences"][0]
    assert left_out["sentences"][1].startswith("the model chose none")


@pytest.mark.parametrize(
    ("recipe", "phrase", "task", "said"),
    [
        ("b", "run python", "rerun the python3 script", "has all its words, but not as one piece"),
        ("w", "run python", "rerun the python3 script", "nor any whole word of it"),
        ("w", "run python", "run pythonista", "only as a part of longer words"),
        ("b", "não funciona", "nao funciona", "differs from the task in accents"),
        ("b", "analise mensal", "faça a análise mensal", "differs from the task in accents"),
        ("b", "sürüm notlarını yaz", "SÜRÜM NOTLARINI YAZ", "in the dot of an i"),
        ("b", "İstanbul raporu", "istanbul raporu", "in the dot of an i"),
        ("b", "\u200b", "sing", "it has no trigger phrases"),
        ("w", "翻訳して", "翻訳 する", "nor any whole word of it"),
        ("w", "資料 を翻訳", "この資料です", "the task lacks “を翻訳”"),
    ],
)
def test_why_says_what_kept_a_phrase_from_matching(
    ws: Workspace, recipe: str, phrase: str, task: str, said: str
) -> None:
    ws.recipe("P/recipes/b.yaml", triggers=[phrase])
    ws.recipe("P/recipes/w.yaml", triggers={"keywords": [phrase], "match": "word"})
    assert said in " ".join(why(ws, recipe, task)["sentences"])


def test_why_of_a_name_that_hides_the_recipe_that_would_have_matched(ws: Workspace) -> None:
    ws.recipe("P/recipes/python.yaml", "Feeds the snake.")
    ws.recipe("P/recipes/essay.yaml", "Mine.", internal=True)
    ws.write("P/recipes/translate.yaml", "description: x\n")
    for name, task, phrase in (
        ("python", "run python x.py", "run python"),
        ("essay", "please write an essay on rain", "write an essay"),
        ("translate", "translate the following text", "translate the following"),
    ):
        sentence = why(ws, name, task)["sentences"][-1]
        assert "it hides the bundled recipe" in sentence
        assert f"whose trigger would match: “{phrase}" in sentence
    assert "hides" not in str(why(ws, "python", "sing a song"))


def test_why_of_an_unlisted_recipe_is_that_of_any(ws: Workspace) -> None:
    ws.recipe("P/recipes/quiet.yaml", triggers=["hush now"], listed=False)
    assert why(ws, "quiet", "hush")["code"] == "not-asked"
    assert why(ws, "quiet", "hush now")["code"] == "chosen"


def test_why_after_an_answer_that_cannot_be_used(library: Workspace, messages: MessagesServer) -> None:
    library.model(messages)
    messages.reply(match("nosuch"))
    told = why(library, "count", "how heavy are they", "--set", "selector.maxAttempts=1")
    assert told["code"] == "no-answer"
    assert "unknown recipe 'nosuch'" in told["sentences"][0]


def test_why_of_a_name_in_a_folder_that_cannot_be_read(ws: Workspace) -> None:
    ws.path("P/recipes").parent.mkdir(parents=True)
    ws.path("P/recipes").symlink_to("recipes")
    told = why(ws, "anything", "sing")
    assert (told["code"], "the folder cannot be read" in told["sentences"][0]) == ("broken", True)


def test_why_of_an_unknown_name_is_an_error_with_near_ones(library: Workspace) -> None:
    assert "did you mean `count`" in library.run("select", "--why", "cuont", "sing").expect(2).stderr


def test_explaining_is_for_one_task(ws: Workspace) -> None:
    ws.run("batch", "-", "--explain", stdin="x\n").expect(2)
    ws.run("batch", "-", "--why", "default", stdin="x\n").expect(2)


def test_delegate_explains_too(library: Workspace) -> None:
    library.settings(spawn__command=["agent", "--", "{task}"])
    document = library.run(
        "delegate", "--dry-run", "--explain", "--why", "weigh", "count quokkas"
    ).expect().json  # fmt: skip
    assert document["plan"]["argv"] == ["agent", "--", "count quokkas"]
    assert document["explanation"]["hits"][0]["recipe"] == "count"
    assert document["why"]["code"] == "other-trigger"
    explicit = library.run("delegate", "--dry-run", "--why", "weigh", "--recipe", "count", "sing").expect().json
    assert explicit["why"]["code"] == "explicit"
    shown = library.run("delegate", "--dry-run", "--explain", "sing", tty=True).expect().stdout
    assert "no trigger phrase is in it" in shown
    library.run("delegate", "--why", "nobody", "count quokkas").expect(2)
    assert not (library.state / "processes.sqlite").exists()


def test_without_explain_nothing_of_it_is_told(library: Workspace) -> None:
    document = library.run("select", "count quokkas").expect().json
    assert "explanation" not in document
    assert "why" not in document
