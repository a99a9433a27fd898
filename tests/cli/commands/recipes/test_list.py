"""`vancectl recipes`: list, show, path."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.messages_server import MessagesServer
from tests.workspace import Workspace

HEAD = "description: x\nengine: ford\n"


@pytest.fixture
def bare(ws: Workspace) -> Workspace:
    """Without bundled recipes to be listed."""
    ws.write("B/recipes/README.md", "")
    return ws


def names(ws: Workspace, *args: str | Path) -> list[str]:
    return [row["name"] for row in ws.run("recipes", "list", "--json", *args).expect(0).json]


def show(ws: Workspace, *args: str | Path) -> Any:
    return ws.run("recipes", "show", "--json", *args).expect(0).json


# list


def test_list_gives_these_keys_for_each_recipe(bare: Workspace) -> None:
    far = bare.recipe("B/recipes/dep.yaml")
    near = bare.recipe("P/recipes/dep.yaml", "Deploys.", title="Deploy", triggers=["deploy it"], tags=["ops"])
    bad = bare.write("P/recipes/bad.yaml", "- a\n")
    assert bare.run("recipes", "list").expect(0).json == [
        {
            "name": "dep", "title": "Deploy", "engine": "ford", "layer": "project", "path": str(near),
            "description": "Deploys.", "triggers": ["deploy it"], "tags": ["ops"], "internal": False,
            "shadows": [str(far)],
        },
        {
            "name": "bad", "title": None, "engine": None, "layer": "project", "path": str(bad), "description": None,
            "triggers": [], "tags": [], "internal": False, "shadows": [],
            "error": f"{bad}:1:1: top level must be a mapping (found a list) (write `key: value` lines)",
        },
    ]  # fmt: skip


def test_list_hides_internal_and_unlisted_ones_but_no_broken_ones(bare: Workspace) -> None:
    bare.recipe("P/recipes/plain.yaml")
    bare.recipe("P/recipes/inner.yaml", internal=True)
    bare.recipe("P/recipes/quiet.yaml", listed=False)
    bare.recipe("P/recipes/_user/mine.yaml")
    bare.write("P/recipes/_user/bad.yaml", "[")
    bare.write("P/recipes/listed.yaml", HEAD + "listed:\n")
    assert names(bare) == ["_user/bad", "listed", "plain"]
    every = ["recipe-selector", "_user/bad", "_user/mine", "inner", "listed", "plain", "quiet"]
    assert names(bare, "--all") == every
    assert show(bare, "quiet")["name"] == "quiet"


def test_list_shows_what_one_layer_provides(bare: Workspace) -> None:
    for file in ("P/recipes/a", "T/recipes/a", "T/recipes/b", "B/recipes/b", "B/recipes/c"):
        bare.recipe(f"{file}.yaml")
    bare.write("P/recipes/bad.yaml", "[")
    assert names(bare) == ["b", "c", "a", "bad"]
    assert [names(bare, "--layer", layer) for layer in ("project", "tenant", "bundled", "directory")] == [
        ["a", "bad"],
        ["b"],
        ["c"],
        [],
    ]
    assert names(bare, "--layer", "directory", "--recipes", bare.tenant / "recipes") == ["a", "b"]
    assert "'nope' is not one of" in bare.run("recipes", "list", "--layer", "nope").expect(2).stderr


def test_an_empty_list(bare: Workspace) -> None:
    assert bare.run("recipes", "list").expect(0).stdout == "[\n]\n"
    assert bare.run("recipes", "list", tty=True).expect(0).stdout == (
        "no recipes; `vancectl recipes path` shows where they belong\n"
    )


def test_the_bundled_recipes_are_whole(ws: Workspace) -> None:
    rows = ws.run("recipes", "list", "--all", "--json").expect(0)
    assert rows.stderr == ""
    assert not [row for row in rows.json if "error" in row]
    assert {"default", "ford", "arthur", "eddie", "slart-and-run", "recipe-selector"} <= {
        row["name"] for row in rows.json
    }


def test_a_table_names_the_broken_ones_and_stderr_says_why(bare: Workspace) -> None:
    bare.recipe("P/recipes/good.yaml", "Does\n  many things.", triggers=["do it", "do that"])
    bad = bare.write("P/recipes/bad.yaml", b"\xff")
    run = bare.run("recipes", "list", tty=True, env={"TERM": "dumb"}).expect(0)
    head, rule, *rows = [line.rstrip() for line in run.stdout.splitlines()]
    assert head.split() == ["name", "engine", "layer", "triggers", "description"]
    assert set(rule) == {"─"}
    assert [row.split(maxsplit=1)[0] for row in rows] == ["bad", "good"]
    assert rows[0].endswith("broken: is not UTF-8 text")
    assert rows[1].endswith("do it, do that   Does many things.")
    assert run.stderr == f"warning: {bad}:1: is not UTF-8 text (save the file as UTF-8)\n"


# show


def test_show_tells_file_layer_shadows_and_what_would_be_applied(bare: Workspace) -> None:
    far = bare.recipe("B/recipes/dep.yaml")
    near = bare.recipe(
        "P/recipes/dep.yaml", "Deploys.", title="Deploy", params={"depth": 3}, promptPrefix="You deploy."
    )
    shown = show(bare, "dep")
    assert (shown["name"], shown["path"], shown["layer"]) == ("dep", str(near), "project")
    assert shown["shadows"] == [{"layer": "bundled", "path": str(far)}]
    assert shown["applied"] == {
        "recipe": "dep", "engine": "ford", "layer": "project", "path": str(near), "profile": None,
        "params": {"depth": 3}, "overridden": [], "description": "Deploys.", "title": "Deploy",
        "promptPrefix": "You deploy.",
    }  # fmt: skip
    facts = bare.run("recipes", "show", "dep", tty=True, columns=300, env={"TERM": "xterm"}).expect(0).stdout
    plain = facts.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert [line.rstrip().split(maxsplit=1) for line in plain.splitlines()] == [
        ["name", "dep"],
        ["title", "Deploy"],
        ["engine", "ford"],
        ["layer", "project"],
        ["file", str(near)],
        ["shadows", f"bundled: {far}"],
        ["changes", "description: A recipe of the test. → Deploys."],
        ["title:", "– → Deploy"],
        ["params.depth:", "– → 3"],
        ["promptPrefix:", "– → You deploy."],
        ["description", "Deploys."],
        ["params", "depth = 3"],
        ["prompt", "You deploy."],
    ]


def test_show_applies_profile_and_params(bare: Workspace) -> None:
    bare.recipe(
        "P/recipes/dep.yaml",
        params={"depth": 3, "model": "a", "keep": 1},
        promptPrefix="One.",
        profiles={
            "fast": {"params": {"depth": 1}, "promptPrefixAppend": "Two."},
            "default": {"params": {"model": "d"}},
        },
    )
    applied = show(bare, "dep", "--profile", "fast", "--param", "model=b", "--param", "new=[1, 2]", "--param", "t=a=b")
    assert applied["applied"]["params"] == {"depth": 1, "model": "b", "keep": 1, "new": [1, 2], "t": "a=b"}
    assert applied["applied"]["overridden"] == ["model"]
    assert (applied["applied"]["profile"], applied["applied"]["promptPrefix"]) == ("fast", "One.\n\nTwo.")
    assert show(bare, "dep")["applied"]["params"] == {"depth": 3, "model": "d", "keep": 1}
    other = bare.run("recipes", "show", "dep", "--json", "--profile", "slow").expect(0)
    assert other.json["applied"]["profile"] == "default"
    assert other.stderr == "warning: the recipe `dep` has no profile `slow`; `default` is used\n"


def test_a_locked_recipe_drops_the_caller_s_params(bare: Workspace) -> None:
    bare.recipe("P/recipes/dep.yaml", locked=True, params={"depth": 3}, profiles={"fast": {"params": {"depth": 1}}})
    shown = bare.run("recipes", "show", "dep", "--json", "--profile", "fast", "--param", "depth=9").expect(0)
    assert shown.json["applied"]["params"] == {"depth": 1}
    assert shown.json["applied"]["overridden"] == []
    assert shown.stderr == "warning: the recipe `dep` is locked: the params depth are dropped\n"


@pytest.mark.parametrize("param", ["depth", "=3", ""])
def test_a_param_is_an_assignment(bare: Workspace, param: str) -> None:
    bare.recipe("P/recipes/dep.yaml")
    failed = bare.run("recipes", "show", "dep", "--param", param).expect(2)
    assert failed.stderr == f"error: `--param {param}` is no assignment\n  help: write --param KEY=VALUE\n"


@pytest.mark.parametrize(
    "content",
    [
        b"description: x\nengine: ford\n",
        b"\xef\xbb\xbfdescription: x\r\nengine: ford",
        b"[",
        b"",
        b"gr\xfcn: \xff\x1b[2J\n",
    ],
    ids=["good", "bom and crlf", "broken", "empty", "not utf-8"],
)
def test_raw_is_the_file_byte_for_byte(bare: Workspace, content: bytes) -> None:
    path = bare.write("P/recipes/r.yaml", content)
    raw = bare.run("recipes", "show", "r", "--raw").expect(0)
    assert raw.stdout.encode("utf-8", "surrogateescape") == content == path.read_bytes()
    assert bare.run("recipes", "show", "r", "--raw", "--json").expect(0).stdout == raw.stdout


def test_raw_on_a_terminal_does_no_harm(bare: Workspace) -> None:
    bare.write("P/recipes/r.yaml", HEAD.replace("\n", "\r\n") + "title: a\tb \x1b[2J\u202e\n")
    for option in ((), ("--json",)):
        raw = bare.run("recipes", "show", "r", "--raw", *option, tty=True).expect(0)
        assert raw.stdout == HEAD + "title: a\tb \\x1b[2J\\u202e\n"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_raw_of_what_is_no_file(bare: Workspace, kind: str) -> None:
    bare.recipe("P/recipes/good.yaml")
    path = bare.path("P/recipes/odd.yaml")
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    found = {"folder": "a folder", "pipe": "a pipe or device"}[kind]
    failed = bare.run("recipes", "show", "odd", "--raw", timeout=10).expect(2)
    assert failed.stderr.startswith(f"error: {path}: the recipe `odd` is broken: is {found}, not a file\n")


def test_text_behind_a_hash_is_a_comment_and_show_says_so(bare: Workspace) -> None:
    path = bare.write("P/recipes/b.yaml", "description: Close issue #12 fast\nengine: ford\n")
    shown = bare.run("recipes", "show", "b", "--json").expect(0)
    assert shown.json["description"] == "Close issue"
    assert shown.stderr == (
        f"warning: {path}:1:25: the text after ` #` is a comment (quote the value if the text belongs to it)\n"
    )
    assert bare.run("recipes", "show", "b", "--json", "--quiet").expect(0).stderr == ""


def test_a_block_that_no_break_spaces_detach_is_said(bare: Workspace) -> None:
    path = bare.write("P/recipes/nb.yaml", HEAD + "triggers:\n\u00a0\u00a0keywords: [abc]\n")
    shown = bare.run("recipes", "show", "nb", "--json").expect(0)
    assert shown.json["triggers"] == []
    assert shown.stderr == (
        f"warning: {path}:4:1: the key `\\xa0\\xa0keywords` is not known here and has no effect;"
        " it holds an unusual or invisible character (rename or drop it)\n"
    )


# What the model is told.


def test_a_long_description_reaches_the_model_to_its_end(bare: Workspace, messages: MessagesServer) -> None:
    bare.model(messages)
    bare.recipe("P/recipes/long.yaml", "Filler sentence. " * 90 + "Use for quokka counting.")
    bare.run("select", "--json", "count the quokkas").expect(0)
    assert "Use for quokka counting." in messages.requests[-1].raw.decode()
