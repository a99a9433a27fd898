"""The recipes of other programs from end to end: found by themselves, listed, chosen, started, adopted, left out."""

from __future__ import annotations

import json
import time

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Workspace
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.layer import Layer, LayerKind, Layers
from vancectl.sources.source import Source

SAYS = 'printf "%s|" "$@"; cat'
REVIEWER = (
    "---\nname: reviewer\ndescription: Reviews a branch before it is merged.\nmodel: opus\n---\nYou {{ review }}.\n"
)


@pytest.fixture
def claude(ws: Workspace) -> Workspace:
    ws.program("claude", SAYS)
    ws.write("H/.claude/agents/reviewer.md", REVIEWER)
    ws.write("H/.claude/skills/tidy/SKILL.md", "---\nname: x\ndescription: Tidies a folder.\n---\nDo it.\n")
    ws.write("H/.claude/commands/git/squash.md", "# Squash commits\n\nNow: $ARGUMENTS\n")
    return ws


def names(ws: Workspace, *args: str) -> list[str]:
    listed = ws.run("recipes", "list", "--layer", "source", "--json", *args).expect().json
    return [row["name"] for row in listed]


def test_what_is_installed_is_found_without_a_setting(claude: Workspace) -> None:
    assert names(claude) == ["claude/reviewer", "claude-skill/tidy", "claude-command/git/squash"]
    order = [row["name"] for row in claude.run("recipes", "list", "--json").expect().json]
    assert order[-3:] == names(claude)


def test_a_program_that_is_not_there_brings_nothing(claude: Workspace) -> None:
    (claude.bin / "claude").unlink()
    assert names(claude) == []


@pytest.mark.parametrize("args", [["--no-sources"], ["--set", "sources={}"]])
def test_sources_are_left_out_where_that_is_asked_for(claude: Workspace, args: list[str]) -> None:
    assert names(claude, *args) == []


def test_a_tenant_without_sources(claude: Workspace) -> None:
    claude.settings(sources={})
    assert names(claude) == []
    assert names(claude, "--set", "sources=auto") != []


@pytest.mark.parametrize("value", ["maybe", {"x": {}}, {"x": {"format": "word"}}, {"a/b": {"format": "goose"}},
                                   {"x": {"format": "goose", "path": "relative"}}])  # fmt: skip
def test_a_setting_that_is_none(claude: Workspace, value: object) -> None:
    claude.settings(sources=value)
    assert "`sources` must be auto, or a mapping" in claude.run("settings", "show").expect(2).stderr
    listed = claude.run("recipes", "list", "--json").expect()
    assert "the recipes of other programs are left out" in listed.stderr


@pytest.mark.parametrize(
    ("recipe", "argv"),
    [
        ("claude/reviewer", ["--agent", "reviewer"]),
        ("claude-skill/tidy", ["--", "/tidy -x *"]),
        ("claude-command/git/squash", ["--", "/git:squash -x *"]),
    ],
)
def test_each_is_started_with_its_own_program(claude: Workspace, recipe: str, argv: list[str]) -> None:
    done = claude.run("delegate", "--recipe", recipe, "--", "-x *").expect().json
    words = done["process"]["reply"].split("|")
    stdin = "-x *" if "--agent" in argv else ""
    assert words == ["-p", "--setting-sources", "user", *argv, stdin]
    assert (done["layer"], done["source"]["key"]) == ("source", recipe.partition("/")[0])


@pytest.mark.parametrize("task", ["/clear everything", "!rm -rf /", "#note"])
def test_a_task_stays_text(claude: Workspace, task: str) -> None:
    done = claude.run("delegate", "--recipe", "claude/reviewer", task).expect().json
    assert done["process"]["reply"].endswith(f"| {task}")  # a blank before it makes text of it


def test_a_model_of_the_caller_is_passed_on_and_the_agents_own_is_not(claude: Workspace) -> None:
    plan = claude.run("delegate", "--dry-run", "--recipe", "claude/reviewer", "x").expect().json
    assert not any("opus" in word for word in plan["plan"]["argv"])
    given = ["delegate", "--dry-run", "--recipe", "claude/reviewer", "--param", "model=haiku", "x"]
    assert "--model=haiku" in claude.run(*given).expect().json["plan"]["argv"]


def test_the_model_chooses_among_them(claude: Workspace, messages: MessagesServer) -> None:
    claude.model(messages)
    messages.reply(scripted.match("claude/reviewer"))
    done = claude.run("select", "look over my branch").expect().json
    assert (done["recipe"], done["layer"]) == ("claude/reviewer", "source")
    assert done["source"] == {"key": "claude", "format": "claude-agent", "name": "reviewer"}
    assert "Reviews a branch before it is merged." in json.dumps(messages.requests[0].body)


def test_a_recipe_of_ours_takes_its_place_and_is_started_by_its_program(claude: Workspace) -> None:
    adopted = claude.run("recipes", "adopt", "claude/reviewer").expect()
    path = claude.path("T/recipes/claude/reviewer.yaml")
    assert str(path) in adopted.stdout
    path.write_text(path.read_text().replace("keywords: []", "keywords: [review this branch]"))
    done = claude.run("delegate", "review this branch").expect().json
    assert (done["recipe"], done["stage"], done["layer"]) == ("claude/reviewer", "trigger", "tenant")
    assert done["process"]["reply"] == "-p|--setting-sources|user|--agent|reviewer|review this branch"
    path.write_text(path.read_text() + "promptPrefix: Mine.\n")
    claude.settings(spawn__command=["echo", "mine"], spawn__stdin="none")
    assert claude.run("delegate", "review this branch").expect().json["process"]["reply"] == "mine\n"
    assert "belongs to another program" in claude.run("recipes", "copy", "claude-skill/tidy").expect(2).stderr
    assert "is a recipe already" in claude.run("recipes", "adopt", "python").expect(2).stderr


def test_show_says_how_it_would_be_started(claude: Workspace) -> None:
    shown = claude.run("recipes", "show", "claude/reviewer", "--json").expect().json
    assert shown["start"][-2:] == ["--agent", "{source_name}"]
    assert (shown["source"]["name"], shown["layer"]) == ("reviewer", "source")


GOOSE = "title: Look\ndescription: Looks at a folder.\nparameters:\n  - {key: folder, requirement: required}\n"


def test_a_param_that_is_required_is_asked_for_before_anything_starts(ws: Workspace) -> None:
    ws.program("goose", SAYS)
    ws.write("H/.config/goose/recipes/look.yaml", GOOSE + "prompt: look\n")
    missing = ws.run("delegate", "--name", "n", "--recipe", "goose/look", "x").expect(2)
    assert "requires `folder`" in missing.stderr
    assert "--param folder=" in missing.stderr
    done = ws.run("delegate", "--name", "n", "--recipe", "goose/look", "--param", "folder=a b", "x").expect().json
    assert done["process"]["reply"].endswith("look.yaml|--params|folder=a b|")


def test_a_goose_recipe_with_a_param_for_the_task(ws: Workspace) -> None:
    ws.program("goose", SAYS)
    ws.write("H/.config/goose/recipes/do.yaml", GOOSE.replace("folder,", "task,") + "prompt: '{{ task }}'\n")
    done = ws.run("delegate", "--recipe", "goose/do", "fix {{ it }}").expect().json
    assert done["process"]["reply"].endswith("|--params|task=fix {{ it }}|")


def test_the_text_of_a_recipe_without_a_program_is_the_prompt_as_it_is(ws: Workspace) -> None:
    ws.write("H/agents/a.agent.md", "---\ndescription: Helps.\nmodel: GPT-5\n---\nUse ${{ x }} and {% y %}.\n")
    ws.settings(sources={"copilot": {"format": "copilot-agent", "path": "~/agents"}})
    ws.settings(spawn__command=["cat"], spawn__stdin="prompt")
    done = ws.run("delegate", "--recipe", "copilot/a", "go").expect().json
    assert done["process"]["reply"] == "Use ${{ x }} and {% y %}.\n\ngo\n"
    assert any("`GPT-5`, which is none here" in warning for warning in done["warnings"])


def test_skills_of_other_programs_are_named_in_the_prompt(ws: Workspace) -> None:
    for program, folder, mention in (("codex", ".codex", "$tidy"), ("gemini", ".gemini", "`tidy`")):
        ws.program(program, "cat")
        ws.write(f"H/{folder}/skills/t/SKILL.md", "---\nname: tidy\ndescription: Tidies.\n---\n")
        done = ws.run("delegate", "--recipe", f"{program}/tidy", "go").expect().json
        assert done["process"]["reply"] == f"Use the skill {mention}.\n\ngo\n"


def test_excluded_names(claude: Workspace) -> None:
    claude.write("H/.claude/agents/b.md", REVIEWER.replace("reviewer", "old-one"))
    claude.settings(sources={"c": {"format": "claude-agent", "exclude": ["old-*"]}})
    assert names(claude) == ["c/reviewer"]


def test_cases_leave_sources_out_unless_they_ask_for_them(claude: Workspace) -> None:
    claude.recipe("P/recipes/mine.yaml", triggers=["do mine"])
    claude.write("P/routes.yaml", "cases:\n  - {task: do mine, expect: mine}\n")
    claude.run("check").expect()
    case = "  - {task: look it over, expect: claude/reviewer}\n"
    claude.write("P/routes.yaml", "cases:\n" + case)
    assert "`claude/reviewer`, which no task can be given here" in claude.run("check").expect(2).stderr
    claude.write("P/routes.yaml", "sources: true\ncases:\n" + case)
    [judged] = claude.run("check", "--json").expect(1).json["cases"]
    assert (judged["verdict"], judged["reason"]) == ("unrecorded", "no-recording")
    (claude.bin / "claude").unlink()
    [judged] = claude.run("check", "--json").expect(1).json["cases"]
    assert (judged["verdict"], judged["why"]) == ("unrecorded", "the source `claude` is not on this machine")


def test_a_file_is_read_once_and_again_when_it_changes(claude: Workspace) -> None:
    folder = claude.path("H/.claude/agents")
    (folder / "notes.md").write_text("# No agent\n")
    source = Layer(LayerKind.SOURCE, folder, Source("claude", "claude-agent", folder))

    def parsed() -> int:
        cascade = Cascade(Layers((), "default", sources=(source,)))
        assert [entry.name for entry in cascade.entries()] == ["claude/reviewer"]
        return cascade.parsed

    time.sleep(2.1)  # a younger file might still change without a trace
    assert (parsed(), parsed()) == (2, 0)
    (folder / "reviewer.md").write_text(REVIEWER.replace("before", "BEFORE"))
    assert parsed() == 1


def test_files_that_are_hostile(claude: Workspace) -> None:
    agents = claude.path("H/.claude/agents")
    (agents / "big.md").write_bytes(b"---\nname: big\ndescription: x\n---\n" + b"x" * 1_100_000)
    (agents / "latin.md").write_bytes(b"---\nname: latin\ndescription: caf\xe9\n---\n")
    (agents / "nul.md").write_bytes(b"---\nname: a\x00b\ndescription: x\n---\n")
    (agents / "deep.md").write_text("---\nname: deep\ndescription: x\ny: " + "[" * 5000 + "\n---\n")
    (agents / "up.md").write_text("---\nname: ../../up\ndescription: x\n---\n")
    (agents / "rtl.md").write_text("---\nname: a\u202eb\ndescription: x\n---\n")
    listed = claude.run("recipes", "list", "--layer", "source", "--json", timeout=20).expect().json
    good = [row["name"] for row in listed if "error" not in row and row["name"].startswith("claude/")]
    assert set(good) <= {"claude/reviewer", "claude/deep"}
    assert {"big.md", "latin.md", "nul.md", "up.md", "rtl.md"} <= {
        row["path"].rpartition("/")[2] for row in listed if "error" in row
    }


def test_an_agent_of_a_plugin_is_started_with_the_plugins_folder(claude: Workspace) -> None:
    claude.write("H/src/plugins/team/.claude-plugin/plugin.json", '{"name": "team"}')
    claude.write("H/src/plugins/team/agents/deep/checker.md", REVIEWER.replace("reviewer", "checker"))
    claude.settings(sources={"plug": {"format": "claude-plugin", "path": str(claude.path("H/src/plugins"))}})
    assert names(claude) == ["plug/team/deep/checker"]
    done = claude.run("delegate", "--recipe", "plug/team/deep/checker", "check it").expect().json
    words = done["process"]["reply"].split("|")
    assert words[words.index("--agent") + 1] == "team:deep:checker"
    assert words[words.index("--plugin-dir") + 1] == str(claude.path("H/src/plugins/team"))
    assert words[-1] == "check it"


@pytest.mark.parametrize(
    ("model", "known"),
    [("opus", True), ("claude-x-1", True), ("us.anthropic.claude-x", True), ("gpt-4o", False), ("gemini-pro", False)],
)
def test_lint_knows_models_of_another_vendor(claude: Workspace, model: str, known: bool) -> None:
    claude.write("H/.claude/agents/reviewer.md", REVIEWER.replace("opus", model))
    found = claude.run("recipes", "lint").json["findings"]
    said = [each["message"] for each in found if each["code"] == "unknown-model"]
    assert said == ([] if known else [f"`claude` has no model `{model}`"])


def test_the_log_counts_what_was_chosen_and_not_what_others_have_written(claude: Workspace) -> None:
    claude.write(
        "T/recipes/claude/reviewer.yaml", "description: x\nengine: ford\ntriggers: {keywords: [look it over]}\n"
    )
    assert claude.run("select", "please look it over").expect().json["recipe"] == "claude/reviewer"
    told = claude.run("log").expect().json
    assert told["recipes"] == {"claude/reviewer": 1}
    assert not [name for name in told["neverChosen"] if name.startswith("claude-")]
