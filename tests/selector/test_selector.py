"""Both stages together: what is decided where, which model is asked, and what the decision says."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Workspace
from vancectl.model.model import ModelError, resolve_model
from vancectl.model.reason import Reason
from vancectl.selector.decision import Decision, Stage, Verdict

TASK = "look over my branch"
BUNDLED_MODEL = "claude-haiku-5-5"


def decide(ws: Workspace, *args: str, env: Mapping[str, str | None] | None = None, status: int = 0) -> dict[str, Any]:
    decision: dict[str, Any] = ws.run("select", *args, env=env).expect(status).json
    return decision


@pytest.fixture
def asking(ws: Workspace, messages: MessagesServer) -> Workspace:
    """A workspace with a recipe for reviews, and a model to ask."""
    ws.recipe("P/recipes/review.yaml", "Review a branch.", engine="marvin")
    ws.model(messages)
    return ws


# Which stage decides.


def test_one_trigger_decides_alone(asking: Workspace, messages: MessagesServer) -> None:
    asking.recipe("P/recipes/good.yaml", engine="vogon", triggers=["my branch"])
    decision = decide(asking, TASK)
    assert (decision["decision"], decision["recipe"], decision["engine"]) == ("MATCH", "good", "vogon")
    assert (decision["stage"], decision["reason"], decision["model"]) == ("trigger", "single-trigger", None)
    assert decision["triggerObserved"] is True
    assert decision["matched"] == [{"recipe": "good", "phrase": "my branch", "start": 10, "end": 19}]
    assert messages.requests == []


def test_no_trigger_asks_the_model(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.match("review", "asks for a review", evidence="look over", runnerUp="code-review"))
    decision = decide(asking, TASK)
    assert (decision["decision"], decision["recipe"], decision["engine"]) == ("MATCH", "review", "marvin")
    assert (decision["stage"], decision["reason"], decision["rationale"]) == (
        "model",
        "model-match",
        "asks for a review",
    )
    assert (decision["triggerObserved"], decision["matched"]) == (False, [])
    assert (decision["model"]["evidence"], decision["model"]["runnerUp"]) == ("look over", "code-review")


@pytest.mark.parametrize("chosen", ["a", "review", None])
def test_several_triggers_ask_the_model_over_the_whole_inventory(
    asking: Workspace, messages: MessagesServer, chosen: str | None
) -> None:
    asking.recipe("P/recipes/a.yaml", engine="marvin", triggers=["my branch"])
    asking.recipe("P/recipes/b.yaml", triggers=["look over"])
    messages.reply(scripted.match(chosen) if chosen else scripted.none("Neither."))
    decision = decide(asking, TASK)
    assert (decision["decision"], decision["recipe"]) == ("MATCH" if chosen else "NONE", chosen)
    assert (decision["stage"], decision["triggerObserved"]) == ("model", True)
    assert [hit["recipe"] for hit in decision["matched"]] == ["a", "b"]
    assert '["a", "b"]' in messages.requests[0].body["messages"][0]["content"][1]["text"]
    assert '"name": "review"' in messages.requests[0].body["messages"][0]["content"][0]["text"]


def test_a_failure_after_a_trigger_keeps_the_evidence(asking: Workspace, messages: MessagesServer) -> None:
    for name in ("a", "b"):
        asking.recipe(f"P/recipes/{name}.yaml", triggers=["my branch"])
    messages.reply(scripted.status(403))
    decision = decide(asking, TASK)
    assert (decision["decision"], decision["reason"], decision["triggerObserved"]) == ("NONE", "permission", True)
    without = decide(asking, TASK, env={"ANTHROPIC_API_KEY": None})
    assert (without["reason"], without["stage"], without["triggerObserved"]) == ("no-key", "none", True)


@pytest.mark.parametrize("task", ["", " ", "\n\t\r\n", "\u3000\u00a0", "\x1f"])
def test_a_blank_task_asks_nobody(asking: Workspace, messages: MessagesServer, task: str) -> None:
    decision = decide(asking, "--strict", "--", task)
    assert (decision["decision"], decision["reason"]) == ("NONE", "empty-task")
    assert (decision["rationale"], decision["stage"]) == ("empty task description", "none")
    assert messages.requests == []


def test_an_inventory_of_internal_recipes_is_empty(asking: Workspace, messages: MessagesServer) -> None:
    asking.recipe("P/only/_mine.yaml", triggers=["my branch"])
    asking.recipe("P/only/inner.yaml", triggers=["my branch"], internal=True)
    decision = decide(asking, TASK, "--strict", "--recipes", "only")
    assert decision["rationale"].startswith("no recipes available in any layer")
    assert (decision["reason"], decision["candidates"], messages.requests) == ("no-recipes", 0, [])


def test_engine_defaults_and_default_are_candidates(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.match("default"))
    assert decide(asking, TASK)["recipe"] == "default"
    names = messages.requests[0].body["output_config"]["format"]["schema"]["properties"]["recipe"]["anyOf"][0]["enum"]
    assert {"default", "ford", "arthur", "eddie", "marvin", "review"} <= set(names)
    assert "recipe-selector" not in names


# What the decision says.


def test_the_keys_stand_in_the_documented_order(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.match("review"))
    decision = decide(asking, TASK)
    assert list(decision) == [
        "version", "decision", "recipe", "engine", "layer", "shadows", "rationale", "stage", "reason",
        "triggerObserved", "matched", "candidates", "warnings", "model",
    ]  # fmt: skip
    assert list(decision["model"]) == [
        "backend", "model", "attempts", "latencyMs", "inputTokens", "outputTokens", "cacheReadTokens",
        "cacheWriteTokens", "candidates", "leftOut", "leftOutRecipes", "evidence", "runnerUp", "error",
    ]  # fmt: skip
    assert (decision["version"], decision["model"]["leftOut"]) == (1, 0)
    assert decision["candidates"] == decision["model"]["candidates"]


def test_tokens_are_counted_over_all_attempts(asking: Workspace, messages: MessagesServer) -> None:
    first = {
        "input_tokens": 30, "output_tokens": 7, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 4000,
    }  # fmt: skip
    second = {**first, "cache_read_input_tokens": 4000, "cache_creation_input_tokens": 0}
    messages.reply(scripted.text("hm", usage=first), scripted.status(529), scripted.match("review", usage=second))
    model = decide(asking, TASK)["model"]
    assert (model["attempts"], model["inputTokens"], model["outputTokens"]) == (3, 60, 14)
    assert (model["cacheReadTokens"], model["cacheWriteTokens"]) == (4000, 4000)


def test_tokens_of_a_failed_call_are_counted(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.stop("max_tokens", usage={"output_tokens": 2048}))
    model = decide(asking, TASK)["model"]
    assert (model["attempts"], model["outputTokens"]) == (1, 2048)


def test_a_broken_recipe_is_left_out_and_said(asking: Workspace, messages: MessagesServer) -> None:
    asking.write("P/recipes/broken.yaml", "description: [\n")
    messages.reply(scripted.match("broken"))
    result = asking.run("select", TASK).expect(0)
    assert result.json["reason"] == "unknown-recipe"
    (warning,) = result.json["warnings"]
    assert "broken.yaml:" in warning
    assert result.stderr == f"warning: {warning}\n"


def test_a_broken_override_uncovers_nothing(asking: Workspace, messages: MessagesServer) -> None:
    asking.write("P/recipes/python.yaml", "engine: [\n")
    messages.reply(scripted.match("python"))
    assert decide(asking, "run python on this")["reason"] == "unknown-recipe"


def test_beyond_the_limit_all_is_named_and_an_answer(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.match("review"), scripted.match("council"))
    limit = ("--set", "routing.recipeListLimit=3", "--set", "selector.maxAttempts=1")
    decision = decide(asking, "review a branch", *limit)
    assert (decision["recipe"], decision["model"]["candidates"]) == ("review", 3)
    left_out = decision["model"]["leftOutRecipes"]
    assert decision["model"]["leftOut"] == len(left_out) == decision["candidates"] - 3
    assert "council" in left_out
    assert decision["warnings"] == []
    unseen = asking.run("select", "review a branch", *limit).expect(0)
    assert unseen.json["recipe"] == "council"
    assert "not among the 3 recipes it was shown" in unseen.json["warnings"][0]
    assert unseen.json["warnings"][0] in unseen.stderr
    assert "3 of " in str(messages.requests[0].body)
    assert set(left_out).isdisjoint(messages.requests[0].body["output_config"]["format"]["schema"]["properties"])


def test_within_the_limit_nothing_is_left_out(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.match("review"))
    model = decide(asking, "review a branch")["model"]
    assert (model["leftOut"], model["leftOutRecipes"]) == (0, [])


def test_without_a_model_the_recipes_whose_triggers_matched_come_first(ws: Workspace) -> None:
    ws.recipe("P/recipes/zebra.yaml", triggers=["council"])
    ws.recipe("P/recipes/yak.yaml", triggers=["council"])
    decision = decide(ws, "council")
    assert "triggers of 2 recipes matched (yak, zebra)" in decision["rationale"]
    assert decision["nearest"][:2] == ["yak", "zebra"]


ANSWERS = {
    Reason.EXPLICIT_RECIPE, Reason.EXPLICIT_ENGINE, Reason.EMPTY_TASK, Reason.NO_RECIPES, Reason.SINGLE_TRIGGER,
    Reason.MODEL_MATCH, Reason.MODEL_NONE,
}  # fmt: skip


@pytest.mark.parametrize("reason", Reason)
def test_every_other_reason_counts_as_unanswered(reason: Reason) -> None:
    assert Decision(Verdict.NONE, reason, "…", Stage.NONE).unanswered is (reason not in ANSWERS)


# Whether a model can be asked.


@pytest.mark.parametrize(
    ("settings", "env", "reason", "rationale"),
    [
        pytest.param({}, {"ANTHROPIC_API_KEY": None}, "no-key", "no model to ask: set ANTHROPIC_API_KEY", id="auto"),
        pytest.param(
            {"selector.backend": "anthropic"}, {"ANTHROPIC_API_KEY": None}, "no-key", "no model to ask", id="anthropic"
        ),
        pytest.param(
            {"selector.backend": "off"}, {}, "model-off", "no model is asked, since selector.backend", id="off"
        ),
        pytest.param(
            {}, {"VANCECTL_SELECTOR__BACKEND": "off"}, "model-off", "no model is asked", id="off-in-the-environment"
        ),
        pytest.param(
            {"selector.model": "default:nope"},
            {},
            "no-model",
            "the model alias `default:nope` is unknown; add it under `models` in the settings",
            id="unknown-alias",
        ),
        pytest.param(
            {"selector.model": "a", "models": {"a": "b", "b": "a"}},
            {},
            "no-model",
            "the model alias `a` leads in a circle; correct `models` in the settings",
            id="aliases-in-a-circle",
        ),
    ],
)
def test_without_a_model_the_nearest_recipes_are_named(
    asking: Workspace,
    messages: MessagesServer,
    settings: Mapping[str, object],
    env: Mapping[str, str | None],
    reason: str,
    rationale: str,
) -> None:
    asking.settings(settings)
    decision = decide(asking, "Review a branch, please", env=env)
    assert (decision["decision"], decision["stage"], decision["reason"]) == ("NONE", "none", reason)
    assert decision["rationale"].startswith(rationale)
    nearest = decision["nearest"]
    assert (nearest[0], len(nearest)) == ("review", 5)
    assert decision["rationale"].endswith(f"; nearest recipes: {', '.join(nearest)}")
    assert (decision["model"], messages.requests) == (None, [])
    assert decide(asking, "Review a branch, please", "--strict", env=env, status=4) == decision


def test_a_small_library_names_what_it_has(asking: Workspace) -> None:
    asking.recipe("P/only/review.yaml", "Review a branch.")
    decision = decide(asking, TASK, "--recipes", "only", env={"ANTHROPIC_API_KEY": None})
    assert decision["nearest"] == ["review"]


def test_a_trigger_needs_no_model(asking: Workspace) -> None:
    asking.recipe("P/recipes/good.yaml", triggers=["my branch"])
    asking.settings(selector__backend="off")
    assert decide(asking, TASK, "--strict")["recipe"] == "good"


# Which model is asked.


@pytest.mark.parametrize(
    ("layers", "model"),
    [
        pytest.param("", BUNDLED_MODEL, id="bundled"),
        pytest.param("recipe", "m-recipe", id="recipe"),
        pytest.param("recipe settings", "m-settings", id="settings"),
        pytest.param("recipe settings environment", "m-environment", id="environment"),
        pytest.param("recipe settings environment set", "m-set", id="set"),
        pytest.param("recipe settings environment set option", "m-option", id="option"),
    ],
)
def test_the_nearest_wish_wins(asking: Workspace, messages: MessagesServer, layers: str, model: str) -> None:
    if "recipe" in layers:
        wish = {"model": "m-recipe"}
        asking.recipe("T/recipes/recipe-selector.yaml", internal=True, promptPrefix="Choose.", params=wish)
    if "settings" in layers:
        asking.settings(selector__model="m-settings")
    env = {"VANCECTL_MODEL": "m-environment" if "environment" in layers else ""}
    options = ["--set", "selector.model=m-set"] if "set" in layers.split() else []
    options += ["--model", "m-option"] if "option" in layers else []
    decision = decide(asking, TASK, *options, env=env)
    assert decision["model"]["model"] == messages.requests[0].body["model"] == model


def test_an_alias_may_be_named_everywhere(asking: Workspace, messages: MessagesServer) -> None:
    asking.settings({"models": {"mine": "default:deep", "default:deep": "m-deep"}})
    assert decide(asking, TASK, "--model", "mine")["model"]["model"] == "m-deep"
    assert messages.requests[0].body["model"] == "m-deep"


ALIASES = {
    "default:fast": "m-fast", "mine": "default:fast", "half": "default:nope", "round": "trip", "trip": "round",
    "itself": "itself",
}  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "model"),
    [
        pytest.param("claude-x", "claude-x", id="no-alias"),
        pytest.param("default:fast", "m-fast", id="alias"),
        pytest.param(" default:fast ", "m-fast", id="blanks"),
        pytest.param("mine", "m-fast", id="alias-of-an-alias"),
        pytest.param("default:nope, default:fast", "m-fast", id="the-first-that-is-known"),
        pytest.param("default:nope,claude-x", "claude-x", id="then-a-model"),
    ],
)
def test_aliases(wanted: str, model: str) -> None:
    assert resolve_model(wanted, ALIASES) == model


@pytest.mark.parametrize("wanted", ["default:nope", "half", "round", "itself", " , "])
def test_aliases_that_lead_nowhere(wanted: str) -> None:
    with pytest.raises(ModelError) as error:
        resolve_model(wanted, ALIASES)
    assert error.value.reason is Reason.NO_MODEL
    assert f"`{wanted}`" in error.value.text


# The recipe `recipe-selector`, which a tenant or a project may override.


@pytest.mark.parametrize(
    ("overrides", "system"),
    [
        pytest.param(["T"], "Prompt of T.", id="tenant"),
        pytest.param(["P"], "Prompt of P.", id="project"),
        pytest.param(["T", "P"], "Prompt of P.", id="project-over-tenant"),
    ],
)
def test_its_prompt_and_limit_are_used(
    asking: Workspace, messages: MessagesServer, overrides: list[str], system: str
) -> None:
    asking.settings(trust=[str(asking.project)])
    for layer in overrides:
        asking.recipe(
            f"{layer}/recipes/recipe-selector.yaml",
            internal=True,
            promptPrefix=f"Prompt of {layer}.",
            params={"model": "default:smart", "maxTokens": 99},
        )
    decide(asking, TASK)
    body = messages.requests[0].body
    assert (body["system"], body["max_tokens"], body["model"]) == (system, 99, "claude-sonnet-5-5")


@pytest.mark.parametrize("listed", [[], ["/somewhere/else"]])
@pytest.mark.parametrize("overrides", [["P"], ["T", "P"]], ids=["project", "project-over-tenant"])
@pytest.mark.parametrize("text", ["", "broken: ["], ids=["whole", "broken"])
def test_a_project_s_is_passed_over_where_the_folder_is_not_trusted(
    asking: Workspace, messages: MessagesServer, overrides: list[str], listed: list[str], text: str
) -> None:
    asking.settings(trust__folders=listed)
    for layer in overrides:
        asking.recipe(
            f"{layer}/recipes/recipe-selector.yaml",
            promptPrefix=f"Prompt of {layer}.",
            params={"model": f"model-of-{layer}", "maxTokens": 99},
        )
    path = asking.path("P/recipes/recipe-selector.yaml")
    if text:
        path.write_text(text)
    said = asking.run("select", TASK).expect()
    body = messages.requests[0].body
    if "T" in overrides:
        assert (body["system"], body["max_tokens"], body["model"]) == ("Prompt of T.", 99, "model-of-T")
    else:
        assert body["system"].startswith("You route tasks.")
    warning = (
        f"{path} is not used: the selector's own recipe is a project's only where the tenant trusts its folder "
        "(`vancectl trust`)"
    )
    assert said.json["warnings"] == [warning]
    assert warning in said.stderr


@pytest.mark.parametrize("given", [0, "many", True])
def test_a_limit_that_is_none_is_replaced(asking: Workspace, messages: MessagesServer, given: object) -> None:
    asking.recipe("T/recipes/recipe-selector.yaml", internal=True, promptPrefix="P.", params={"maxTokens": given})
    asking.settings(selector__model="m")
    decide(asking, TASK)
    assert messages.requests[0].body["max_tokens"] == 4096


@pytest.mark.parametrize(
    ("text", "rationale"),
    [
        pytest.param("description: [\n", "the recipe `recipe-selector` is broken: {path}:", id="not-yaml"),
        pytest.param("description: d\n", "the recipe `recipe-selector` is broken: {path}:", id="a-field-missing"),
        pytest.param(
            "description: d\nengine: jeltz\nparams: {model: m}\n",
            "the recipe `recipe-selector` ({path}) has no promptPrefix; ",
            id="no-prompt",
        ),
        pytest.param("description: d\nengine: jeltz\npromptPrefix: ' '\n", "no model is named; set ", id="no-model"),
        pytest.param(
            "description: d\nengine: jeltz\npromptPrefix: P\nparams: {model: [m]}\n",
            "no model is named; set ",
            id="a-list",
        ),
    ],
)
def test_a_broken_override_says_so_and_triggers_still_work(
    asking: Workspace, messages: MessagesServer, text: str, rationale: str
) -> None:
    asking.recipe("P/recipes/good.yaml", triggers=["good thing"])
    path = asking.write("T/recipes/recipe-selector.yaml", text)
    rationale = rationale.replace("{path}", str(path))
    decision = decide(asking, TASK, "--strict", status=4)
    assert (decision["decision"], decision["reason"], decision["stage"]) == ("NONE", "no-model", "none")
    assert decision["rationale"].startswith(rationale)
    assert messages.requests == []
    assert decide(asking, "a good thing", "--strict")["recipe"] == "good"


def test_other_folders_of_recipes_leave_the_bundled_one_in_force(asking: Workspace, messages: MessagesServer) -> None:
    asking.recipe("P/only/review.yaml", "Review a branch.")
    messages.reply(scripted.match("review"))
    assert decide(asking, TASK, "--recipes", "only")["recipe"] == "review"
    assert messages.requests[0].body["system"].startswith("You route tasks.")


def test_a_broken_catalog_says_so_and_triggers_still_work(asking: Workspace, messages: MessagesServer) -> None:
    asking.write("B/catalog/engines.yaml", "engines: [\n")
    asking.recipe("P/recipes/good.yaml", triggers=["good thing"])
    decision = decide(asking, TASK, "--strict", status=4)
    assert decision["reason"] == "no-model"
    assert decision["rationale"].startswith("the engine catalog is broken: ")
    assert "vancectl catalog reload" in decision["rationale"]
    assert messages.requests == []
    assert decide(asking, "a good thing", "--strict")["recipe"] == "good"


def test_a_choice_that_looks_like_another_recipe_is_told(ws: Workspace) -> None:
    ws.recipe("P/recipes/pyth\u043en.yaml", triggers=["feed the snake"])
    decision = decide(ws, "feed the snake")
    assert decision["warnings"] == ["`pyth\u043en` looks like `python`, and is another recipe"]
    assert decide(ws, "run python x.py")["warnings"] == []
