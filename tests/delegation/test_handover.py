"""What a recipe asks of its program: handed over by the preset's command where that can, and named where it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace import Workspace
from vancectl.process.preset import preset_names

ALL: dict[str, Any] = {
    "params": {
        "model": "default:smart", "provider": "anthropic", "maxTokens": 1234, "temperature": 0.3, "topP": 0.5,
        "topK": 4, "stopSequences": ["END"], "maxIterations": 3, "mode": "plan",
    },
    "allowedToolsAdd": ["Bash", "@nope"],
    "allowedToolsRemove": ["@write"],
    "allowedToolsDefer": ["a"], "allowedToolsKeep": ["b"], "allowedToolsDropFirst": ["c"],
    "allowedSkills": ["s"], "defaultActiveSkills": ["t"],
    "modes": {"plan": {}}, "promptMode": "overwrite", "dataRelayCorrection": "x", "guard": {"a": 1},
}  # fmt: skip
NAMES = [*ALL["params"], *(name for name in ALL if name != "params")]


def planned(ws: Workspace, preset: str, *args: str, layer: str = "T", **fields: Any) -> tuple[list[str], str]:
    """The arguments of a dry run, and the one warning of what is not passed on."""
    ws.recipe(f"{layer}/recipes/asking.yaml", **fields)
    ws.program(preset, "")
    answer = ws.run("delegate", "--dry-run", "--recipe", "asking", "--set", f"spawn.preset={preset}", *args, "x")
    document = answer.expect().json
    told = [text for text in document["warnings"] if "does not pass on" in text]
    assert len(told) <= 1, "one warning for all"
    assert all(text in answer.stderr for text in told)
    return document["plan"]["argv"], told[0] if told else ""


@pytest.mark.parametrize(
    ("preset", "fields", "words"),
    [
        ("claude", {"params": {"model": "claude-sonnet-5-5"}}, ["--model=claude-sonnet-5-5"]),
        ("claude", {"params": {"model": "default:fast"}}, ["--model=claude-haiku-5-5"]),
        ("claude", {"params": {"model": "a, b,c"}}, ["--model=a", "--fallback-model=b,c"]),
        ("claude", {"params": {"maxIterations": 3}}, ["--max-turns=3"]),
        ("claude", {"params": {"mode": "plan"}}, ["--permission-mode=plan"]),
        ("claude", {"allowedToolsAdd": ["Bash", "mcp__a__b"]}, ["--allowedTools=Bash,mcp__a__b"]),
        ("claude", {"allowedToolsAdd": ["Bash(git log:*)"]}, ["--allowedTools=Bash(git log:*)"]),
        ("claude", {"allowedToolsRemove": ["@write", "Bash"]}, ["--disallowedTools=Edit,Write,NotebookEdit,Bash"]),
        ("claude", {"params": {"model": "--dangerous"}}, ["--model=--dangerous"]),
        ("codex", {"params": {"model": "gpt-5"}}, ["--model=gpt-5"]),
        ("codex", {"allowedToolsRemove": ["@write"]}, ["-c", "sandbox_mode=read-only"]),
        ("goose", {"params": {"model": "default:fast", "maxIterations": 3, "provider": "anthropic"}},
         ["--provider=anthropic", "--model=claude-haiku-5-5", "--max-turns=3"]),
        ("llm", {"params": {"model": "default:deep", "temperature": 0.3, "maxTokens": 12, "topP": 0.5}},
         ["--model=claude-opus-5-5", "-o", "temperature", "0.3", "-o", "max_tokens", "12", "-o", "top_p", "0.5"]),
        ("fabric", {"params": {"model": "m", "temperature": 0, "topP": 1}},
         ["--model=m", "--temperature=0", "--topp=1"]),
    ],
)  # fmt: skip
def test_what_the_program_has_an_option_for(
    ws: Workspace, preset: str, fields: dict[str, Any], words: list[str]
) -> None:
    without, _ = planned(ws, preset)
    argv, told = planned(ws, preset, **fields)
    rest = list(argv)
    for word in without:
        rest.remove(word)
    assert (rest, told) == (words, "")
    assert not any("{" in word for word in without)


@pytest.mark.parametrize(
    ("preset", "dropped"),
    [
        ("claude", "provider temperature topP topK stopSequences allowedToolsAdd=@nope allowedSkills "
                   "defaultActiveSkills modes promptMode dataRelayCorrection guard"),
        ("codex", "model provider maxTokens temperature topP topK stopSequences maxIterations mode allowedToolsAdd "
                  "allowedSkills defaultActiveSkills modes promptMode dataRelayCorrection guard"),
        ("goose", "topP topK stopSequences mode allowedToolsAdd allowedToolsRemove allowedSkills "
                  "defaultActiveSkills modes promptMode dataRelayCorrection guard"),
        ("llm", "provider topK stopSequences mode allowedToolsAdd allowedToolsKeep allowedSkills "
                "defaultActiveSkills modes dataRelayCorrection guard"),
        ("fabric", "provider maxTokens topK stopSequences mode allowedToolsAdd allowedToolsKeep allowedSkills "
                   "defaultActiveSkills modes dataRelayCorrection guard"),
        *((worker, "provider temperature topP topK stopSequences mode allowedToolsAdd allowedToolsKeep "
                   "allowedSkills defaultActiveSkills modes dataRelayCorrection guard")
          for worker in ("worker", "tmux", "slurm", "ray", "kubectl")),
    ],
)  # fmt: skip
def test_what_it_has_none_for_is_named(ws: Workspace, preset: str, dropped: str) -> None:
    _, told = planned(ws, preset, **ALL)
    assert told.startswith(f"the preset `{preset}` does not pass on: ")
    expected = {name.partition("=")[0] for name in dropped.split()}
    assert {name for name in NAMES if f" {name} (" in told} == expected
    assert "temperature (0.3)" in told or "temperature" not in expected
    assert ("allowedToolsAdd (@nope)" in told) is (preset == "claude")  # what it knows of the list is passed on


@pytest.mark.parametrize("preset", sorted(preset_names()))
@pytest.mark.parametrize("params", [{}, {"model": None}, {"model": "", "mode": "", "temperature": None}], ids=repr)
def test_nothing_is_said_of_what_is_not_asked(ws: Workspace, preset: str, params: dict[str, Any]) -> None:
    argv, told = planned(ws, preset, params=params, allowedToolsAdd=[], modes={}, promptMode="append")
    assert told == ""
    assert not any("model" in word for word in argv)


def test_a_model_alias_that_leads_nowhere_is_not_passed_on(ws: Workspace) -> None:
    argv, told = planned(ws, "claude", params={"model": "default:unheard-of"})
    assert not any("model" in word for word in argv)
    assert told == "the preset `claude` does not pass on: model (default:unheard-of)"


def test_the_models_after_the_first_are_named(ws: Workspace) -> None:
    argv, told = planned(ws, "llm", "--set", "models.pair=a,b", params={"model": "pair"})
    assert "--model=a" in argv
    assert told == "the preset `llm` does not pass on: model (b)"


def test_a_mode_that_the_prompt_says_is_passed_on(ws: Workspace) -> None:
    fields: dict[str, Any] = {
        "params": {"mode": "draft", "temperature": 1},
        "promptPrefix": "{% if mode == 'draft' %}Be quick.{% endif %}",
    }
    assert planned(ws, "claude", **fields)[1] == "the preset `claude` does not pass on: temperature (1)"


def test_variables_carry_what_has_no_option(ws: Workspace) -> None:
    ws.program("claude", 'cat >/dev/null; echo "[$CLAUDE_CODE_MAX_OUTPUT_TOKENS][$1]"')
    ws.recipe("T/recipes/long.yaml", params={"maxTokens": 1234})
    ws.recipe("T/recipes/plain.yaml")
    ws.settings({"spawn.preset": "claude"})
    own = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "99"}
    for recipe, tokens in (("long", "1234"), ("plain", "99")):
        done = ws.run("delegate", "--recipe", recipe, "x", env=own).expect().json
        assert (done["process"]["reply"], done["warnings"]) == (f"[{tokens}][-p]\n", [])


# Who may allow tools.


@pytest.mark.parametrize(("layer", "trusted", "granted"), [("T", False, True), ("P", False, False), ("P", True, True)])
def test_a_clone_allows_itself_no_tools(ws: Workspace, layer: str, trusted: bool, granted: bool) -> None:
    args = ["--set", f'trust.folders=["{ws.project}"]'] if trusted else []
    argv, told = planned(ws, "claude", *args, layer=layer, allowedToolsAdd=["Bash"], allowedToolsRemove=["WebFetch"])
    assert ("--allowedTools=Bash" in argv) is granted
    assert "--disallowedTools=WebFetch" in argv
    why = "trust.folders does not cover where the recipe comes from"
    assert told == ("" if granted else f"the preset `claude` does not pass on: allowedToolsAdd (Bash; {why})")


def test_a_generated_recipe_allows_itself_no_tools(ws: Workspace) -> None:
    ws.recipe("T/recipes/_slart/1/made.yaml", allowedToolsAdd=["Bash"])
    ws.program("claude", "")
    dry = ws.run("delegate", "--dry-run", "--recipe", "_slart/1/made", "--set", "spawn.preset=claude", "x").expect()
    assert "--allowedTools=Bash" not in dry.json["plan"]["argv"]
    assert "allowedToolsAdd (Bash" in dry.stderr


# The same in a command of one's own.


@pytest.mark.parametrize(
    ("command", "params", "argv"),
    [
        (["a", ["--model", "{model}"], "b"], {"model": "default:fast"}, ["--model", "claude-haiku-5-5", "b"]),
        (["a", ["--model", "{model}"], "b"], {}, ["b"]),
        (["a", ["--model", "{params.model}"]], {"model": "default:fast"}, ["--model", "claude-haiku-5-5"]),
        (["a", ["-x", "{params.x}", "-y", "{params.y}"]], {"x": 1}, []),
        (["a", ["-x", "{params.x}", "-y", "{params.y}"]], {"x": 1, "y": [2]}, ["-x", "1", "-y", "[2]"]),
        (["a", ["-x", "{params.x}"]], {"x": ""}, []),
        (["a", ["-x", "{params.x}"]], {"x": None}, []),
        (["a", ["-x", "{params.x}"]], {"x": 0}, ["-x", "0"]),
        (["a", ["-x", "{params.x}"]], {"x": False}, ["-x", "false"]),
        (["a", ["--title={title}"], ["--always"]], {}, ["--always"]),
        (["a", ["{{params.x}}"]], {}, ["{params.x}"]),
        (["a", "--tools={allowedToolsRemove}"], {}, ["--tools=no,na"]),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_list_in_a_command_vanishes_as_a_whole(
    ws: Workspace, command: list[Any], params: dict[str, Any], argv: list[str]
) -> None:
    ws.recipe("P/recipes/good.yaml", params=params, allowedToolsRemove=["no", "na"])
    ws.settings({"spawn.command": command, "spawn.stdin": "none"})
    ws.program("a", 'for argument; do printf "[%s]" "$argument"; done')
    dry = ws.run("delegate", "--dry-run", "--recipe", "good", "x").expect().json
    assert (dry["plan"]["argv"], dry["warnings"]) == (["a", *argv], [])
    assert ws.run("settings", "show", "spawn.command").expect().json[0]["value"] == command
    done = ws.run("delegate", "--recipe", "good", "x").expect().json
    assert done["process"].get("reply", "") == "".join(f"[{word}]" for word in argv)


def test_the_bundled_recipes_that_need_tools_say_so(ws: Workspace) -> None:
    key = {"ANTHROPIC_API_KEY": "k"}
    dry = ws.run("delegate", "--dry-run", "run python x.py", env=key).expect()
    assert "the preset `worker` does not pass on: allowedToolsKeep (@execute)" in dry.json["warnings"]
    essay = ws.run("delegate", "--dry-run", "--recipe", "essay", "x", env=key).expect()
    assert essay.json["warnings"] == []
