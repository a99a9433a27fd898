"""Files of other programs, hard to read: each comes out as its own program has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import Workspace

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines()]
# Cases that need a project, a link or several formats have tests of their own.
SPECIAL = ("c19-", "c20-", "c22-", "c23-", "c32-", "c31-")
KEYS = {"claude-agent": "claude", "claude-command": "claude-command", "goose": "goose", "llm-template": "llm",
        "copilot-agent": "copilot"}  # fmt: skip
ROOTS = {"claude-agent": ".claude/agents", "claude-command": ".claude/commands", "copilot-agent": "."}


def lay(ws: Workspace, form: str, files: dict[str, str], **block: Any) -> None:
    for file, text in files.items():
        ws.write(f"H/{file}", text)
    key = KEYS[form]
    ws.settings(sources={key: {"format": form, "path": f"~/{ROOTS.get(form, '.')}", **block}})
    for program in ("claude", "goose", "llm", "codex", "opencode", "gemini"):
        ws.program(program, 'printf "%s\\n" "$@"; cat')


def rows(ws: Workspace) -> dict[str, dict[str, Any]]:
    listed = ws.run("recipes", "list", "--all", "--json").expect().json
    return {row["path"].removeprefix(f"{ws.home}/"): row for row in listed if row["layer"] == "source"}


@pytest.mark.parametrize(
    "case", [each for each in CASES if not each["id"].startswith(SPECIAL)], ids=lambda each: each["id"]
)
def test_a_file_is_read_as_its_program_reads_it(ws: Workspace, case: dict[str, Any]) -> None:
    lay(ws, case["format"], case["files"])
    for _ in range(2):  # the second time from the cache, where the file is old enough
        found = rows(ws)
    good = {row["name"]: row for row in found.values() if "error" not in row}
    assert sorted(good) == sorted(each["name"] for each in case["expect"]["candidates"])
    for wanted in case["expect"]["candidates"]:
        row = good[wanted["name"]]
        if "description" in wanted:
            assert row["description"] == wanted["description"]
        assert row["source"]["name"] == wanted.get("sourceName", row["source"]["name"])
        assert row["source"].get("derived", False) == wanted.get("derived", row["source"].get("derived", False))
        if "title" in wanted:
            assert row["title"] == wanted["title"]
        applied = ws.run("recipes", "show", wanted["name"], "--json").expect().json["applied"]
        if "params" in wanted:
            assert applied["params"] == wanted["params"]
        if "allowedTools" in wanted:
            assert applied["allowedTools"] == wanted["allowedTools"]
        if "start" in wanted:
            params = [word for name in wanted.get("requires", ()) for word in ("--param", f"{name}=V")]
            plan = ws.run("delegate", "--dry-run", "--recipe", wanted["name"], *params, "do it", cwd=ws.home)
            assert plan.expect().json["plan"]["argv"] == start(wanted["start"], row["path"])
    broken = {path: row for path, row in found.items() if "error" in row}
    expected = {each["path"]: each for each in case["expect"].get("broken", ())}
    assert sorted(broken) == sorted(expected)
    for ignored in case["expect"].get("ignored", ()):
        assert ignored not in found
    lint = ws.run("recipes", "lint", "--json")
    findings = {(Path(each["path"]).name, each["code"]) for each in lint.json["findings"]}
    for path, each in expected.items():
        assert "code" not in each or (Path(path).name, each["code"]) in findings
    for code in case["expect"].get("findings", ()):
        assert code.split(":")[0] in {found for _, found in findings}


def start(words: list[str], path: str) -> list[str]:
    """The words of a start, filled in; outside of a trusted folder Claude reads only the settings of its user."""
    filled = [
        word.replace("{source_file}", path).replace("{task}", "do it").replace("folder={params.folder}", "folder=V")
        for word in words
    ]
    if filled[0] == "goose":
        filled[filled.index("--recipe") + 1] = path
    if filled[:2] == ["claude", "-p"]:
        filled[2:2] = ["--setting-sources", "user"]
    return filled


AGENT = "---\nname: {}\ndescription: {}\n{}---\nYou help.\n"


def names(ws: Workspace, cwd: str | Path | None = None) -> dict[str, str]:
    listed = ws.run("recipes", "list", "--json", cwd=cwd).expect().json
    return {row["name"]: row["description"] for row in listed if row["layer"] == "source" and "error" not in row}


def test_an_agent_of_a_project_counts_only_where_it_is_trusted(ws: Workspace) -> None:
    ws.program("claude", "true")
    ws.write("P/.git/HEAD", "")
    hooks = "hooks:\n  SessionStart: []\npermissionMode: bypassPermissions\n"
    ws.write("P/.claude/agents/e.md", AGENT.format("helper", "Formats text", hooks))
    ws.settings(sources={"claude": {"format": "claude-agent", "path": "{project}/.claude/agents"}})
    assert names(ws) == {}
    lint = ws.run("recipes", "lint", "--json").json["findings"]
    assert [each["code"] for each in lint if each["path"].endswith("e.md")] == ["untrusted-source"]
    ws.run("trust").expect()
    assert names(ws) == {"claude/helper": "Formats text"}
    [finding] = [each for each in ws.run("recipes", "lint", "--json").json["findings"] if "e.md" in each["path"]]
    assert (finding["code"], "hooks, permissionMode" in finding["message"]) == ("runs-programs", True)


def test_a_source_may_name_the_folders_itself(ws: Workspace) -> None:
    ws.program("claude", "true")
    ws.write("P/.git/HEAD", "")
    ws.write("P/.claude/agents/e.md", AGENT.format("helper", "Formats text", ""))
    block = {"format": "claude-agent", "path": "{project}/.claude/agents", "trust": [str(ws.project)]}
    ws.settings(sources={"here": block})
    assert names(ws) == {"here/helper": "Formats text"}


def test_the_nearest_agent_of_a_name_holds(ws: Workspace) -> None:
    ws.program("claude", 'printf "%s\\n" "$@"')
    ws.write("P/.git/HEAD", "")
    for place, text in (("H", "USER"), ("P", "PROJECT"), ("P/sub", "NEAREST")):
        ws.write(f"{place}/.claude/agents/rev.md", AGENT.format("rev", text, ""))
    ws.settings(
        sources={"claude": {"format": "claude-agent", "path": ["{project}/.claude/agents", "~/.claude/agents"]}}
    )
    assert names(ws, "P/sub") == {"claude/rev": "USER"}
    assert "there is no recipe" in ws.run("recipes", "show", "claude/no", cwd="P/sub").expect(2).stderr
    plan = ws.run("delegate", "--dry-run", "--recipe", "claude/rev", "x", cwd="P/sub").expect().json["plan"]
    assert plan["argv"] == ["claude", "-p", "--setting-sources", "user", "--agent", "rev"]
    ws.settings(trust=[str(ws.project)])
    assert names(ws, "P/sub") == {"claude/rev": "NEAREST"}
    shown = ws.run("recipes", "show", "claude/rev", "--json", cwd="P/sub").expect().json
    assert [Path(each["path"]).parents[2].name for each in shown["shadows"]] == ["project", "home"]
    plan = ws.run("delegate", "--dry-run", "--recipe", "claude/rev", "x", cwd="P/sub").expect().json["plan"]
    assert plan["argv"] == ["claude", "-p", "--agent", "rev"]


def test_links_that_leave_a_source(ws: Workspace) -> None:
    ws.program("claude", "true")
    ws.write("H/elsewhere/l.md", AGENT.format("linked", "Lies elsewhere", ""))
    agents = ws.path("H/.claude/agents")
    agents.mkdir(parents=True)
    (agents / "l.md").symlink_to(ws.path("H/elsewhere/l.md"))
    (agents / "dir").symlink_to(ws.path("H/elsewhere"))
    found = {Path(path).name: row["error"] for path, row in rows(ws).items()}
    assert sorted(found) == ["dir", "l.md"]
    assert all("leaves its source" in error for error in found.values())
    ws.settings(sources={"claude": {"format": "claude-agent", "links": True}})
    assert names(ws) == {} or set(names(ws)) == {"claude/linked"}
    ws.path("H/.claude/agents/dir").unlink()
    assert names(ws) == {"claude/linked": "Lies elsewhere"}


SKILLS = {
    "alpha/SKILL.md": "---\nname: beta\ndescription: one\n---\nYou help.\n",
    "gamma/SKILL.md": "---\ndescription: two\n---\nYou help.\n",
    "grp/delta/SKILL.md": "---\nname: delta\ndescription: three\n---\nYou help.\n",
    "eps/skill.md": "---\nname: eps\ndescription: lower-case file\n---\nYou help.\n",
    "flat.md": "---\nname: flat\ndescription: no folder\n---\nYou help.\n",
}


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("claude-skill", ["s/alpha", "s/gamma"]),
        ("codex-skill", ["s/beta", "s/delta", "s/gamma"]),
        ("opencode-skill", ["s/beta", "s/delta"]),
        ("gemini-skill", ["s/beta"]),
    ],
)
def test_each_program_names_a_skill_by_its_own_rule(ws: Workspace, form: str, wanted: list[str]) -> None:
    for file, text in SKILLS.items():
        ws.write(f"H/skills/{file}", text)
    ws.settings(sources={"s": {"format": form, "path": "~/skills"}})
    assert sorted(names(ws)) == wanted


@pytest.mark.parametrize(("with_triggers", "phrases"), [(False, []), (True, ["uv", "uv.lock"])])
def test_the_phrases_of_others_count_only_where_that_is_asked_for(
    ws: Workspace, with_triggers: bool, phrases: list[str]
) -> None:
    ws.write("H/skills/uv/SKILL.md", "---\nname: uv\ndescription: Manages Python\ntriggers:\n- uv\n- uv.lock\n---\n")
    ws.settings(sources={"skills": {"format": "claude-skill", "path": "~/skills", "triggers": with_triggers}})
    [row] = rows(ws).values()
    assert (row["name"], row["triggers"]) == ("skills/uv", phrases)
    decision = ws.run("select", "sync with uv please").expect().json
    assert (decision["recipe"] == "skills/uv") == with_triggers
    assert ws.run("select", "an uvular sound").expect().json["recipe"] is None


OPENCODE = {
    "one.md": "---\nname: other\ndescription: d1\nmode: primary\nmodel: anthropic/claude-haiku-4-5\n---\nYou help.\n",
    "two.md": "---\ndescription: d2\nmode: subagent\n---\nYou help.\n",
    "sub/three.md": "---\ndescription: d3\nmode: primary\n---\nYou help.\n",
}


def test_agents_of_opencode(ws: Workspace) -> None:
    for file, text in OPENCODE.items():
        ws.write(f"H/agents/{file}", text)
    ws.program("opencode", 'if [ "$1" = agent ]; then echo "other (primary)"; else printf "%s\\n" "$@"; cat; fi')
    ws.settings(sources={"opencode": {"format": "opencode-agent", "path": "~/agents"}})
    assert sorted(names(ws)) == ["opencode/other", "opencode/sub/three"]
    assert [Path(path).name for path, row in rows(ws).items() if "error" in row] == ["two.md"]
    done = ws.run("delegate", "--recipe", "opencode/other", "/fix it").expect().json
    assert done["source"] == {"key": "opencode", "format": "opencode-agent", "name": "other"}
    assert done["process"]["reply"] == "run\n--agent\nother\n/fix it"
    refused = ws.run("delegate", "--name", "n", "--recipe", "opencode/sub/three", "x").expect(3)
    assert "opencode does not know `sub/three`" in refused.stderr
    ws.run("delegate", "--name", "n", "--recipe", "opencode/other", "x").expect()  # the name is free
    ws.write("H/agents/four.md", "---\ndescription: d4\ntools: Read, Grep\n---\nYou help.\n")
    assert names(ws) == {}
