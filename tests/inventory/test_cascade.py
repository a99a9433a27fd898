"""The cascade: which of several files counts, what it shadows, and what a broken one hides (nothing)."""

import os
import subprocess
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import Workspace

HEAD = "description: x\nengine: ford\n"


def listed(ws: Workspace, *args: str | Path, cwd: str | None = None) -> dict[str, Any]:
    """`recipes list` by name."""
    rows = ws.run("recipes", "list", "--json", *args, cwd=cwd).expect(0).json
    assert len({row["name"] for row in rows}) == len(rows), "a name twice"
    return {row["name"]: row for row in rows}


def names(ws: Workspace, *args: str | Path, cwd: str | None = None) -> list[str]:
    return list(listed(ws, *args, cwd=cwd))


def layer_of(ws: Workspace, name: str) -> str:
    return str(ws.run("recipes", "show", name, "--json").expect(0).json["layer"])


# The nearest layer wins, as a whole.


def test_the_nearest_layer_wins_and_deleting_it_uncovers_the_next(ws: Workspace) -> None:
    files = [ws.recipe(f"{layer}/recipes/dep.yaml", f"{layer} dep", triggers=["deploy it"]) for layer in "PTB"]
    for layer, description in (("project", "P dep"), ("tenant", "T dep"), ("bundled", "B dep")):
        row = listed(ws)["dep"]
        assert (row["layer"], row["description"]) == (layer, description)
        assert [row["path"], *row["shadows"]] == [str(file) for file in files]
        shown = ws.run("recipes", "show", "dep", "--json").expect(0).json
        assert (shown["layer"], shown["path"]) == (layer, str(files[0]))
        assert [shadow["path"] for shadow in shown["shadows"]] == row["shadows"]
        decision = ws.run("select", "--json", "deploy it").expect(0).json
        assert (decision["recipe"], decision["stage"], decision["candidates"]) == ("dep", "trigger", 1)
        files.pop(0).unlink()
    assert names(ws) == []


def test_the_nearest_replaces_the_whole_recipe(ws: Workspace) -> None:
    ws.recipe("B/recipes/dep.yaml", "far", title="Far", triggers=["deploy it"], params={"depth": 3}, tags=["far"])
    ws.recipe("P/recipes/dep.yaml", "near", engine="marvin")
    shown = ws.run("recipes", "show", "dep", "--json").expect(0).json
    assert (shown["title"], shown["engine"], shown["triggers"], shown["tags"]) == (None, "marvin", [], [])
    assert shown["applied"]["params"] == {}


def test_a_recipe_that_nothing_overrides_shadows_nothing(ws: Workspace) -> None:
    ws.recipe("T/recipes/u.yaml")
    ws.write("B/recipes/default.yaml", HEAD)
    ws.write("P/settings.json", "{}")
    ws.write("P/recipes/README.md", "# none here\n")
    row = listed(ws, "--all")["u"]
    assert (row["layer"], row["shadows"]) == ("tenant", [])


def test_list_show_and_delegate_name_the_same_file(ws: Workspace) -> None:
    ws.recipe("P/recipes/dep.yaml", "near", triggers=["deploy it"])
    nearest = ws.recipe("P/sub/.vance/recipes/dep.yaml", "nearest", triggers=["deploy it"])
    ws.settings({"spawn.command": ["true"]})
    inside = "P/sub/src"
    ws.write("P/sub/src/x", "")
    plan = ws.run("delegate", "--dry-run", "--json", "deploy it", cwd=inside).expect(0).json["plan"]
    assert listed(ws, cwd=inside)["dep"]["path"] == str(nearest)
    assert ws.run("recipes", "show", "dep", "--json", cwd=inside).expect(0).json["path"] == str(nearest)
    assert str(nearest) in str(plan["payload"])


# Broken files.


def test_a_broken_override_does_not_uncover_what_it_shadows(ws: Workspace) -> None:
    good = ws.recipe("B/recipes/dep.yaml", "good", triggers=["deploy it"])
    ws.recipe("B/recipes/default.yaml")
    bad = ws.write("P/recipes/dep.yaml", HEAD + "triggers:\n\tkeywords: [deploy it]\n")
    fault = f"{bad}:4:1: a tab is used for indentation (indent with spaces)"
    row = listed(ws)["dep"]
    assert (row["error"], row["shadows"], row["description"]) == (fault, [str(good)], None)
    assert listed(ws)["default"]["description"] == "A recipe of the test."
    decision = ws.run("select", "--json", "deploy it").expect(0)
    assert (decision.json["decision"], decision.json["candidates"]) == ("NONE", 1)
    assert f"broken recipe left out: {fault}" in decision.stderr
    for command in (("recipes", "show", "dep"), ("delegate", "--dry-run", "--recipe", "dep", "x")):
        failed = ws.run(*command).expect(2)
        assert failed.stdout == ""
        assert failed.stderr == (
            f"error: {bad}:4:1: the recipe `dep` is broken: a tab is used for indentation\n  help: indent with spaces\n"
        )


def test_every_broken_file_is_listed_with_its_fault_and_hides_nothing(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.recipe("B/recipes/default.yaml")
    broken: dict[str, str | bytes] = {
        "a": "description: x\nengine: ford\nparams: [2024-13-45",
        "b": "description: " + "[" * 3000 + "]" * 3000,
        "c": "# todo\n",
        "e": "",
        "l": "- a\n",
        "m": "---\n...\n",
        "t": "just text\n",
        "two": "---\ndescription: One\nengine: ford\n---\ndescription: Two\nengine: ford\n",
        "z": b"\xff\xfe",
    }
    for name, content in broken.items():
        ws.write(f"P/recipes/{name}.yaml", content)
    ws.write("P/recipes/odd.yaml", HEAD + "params:\n  d: 2024-13-45\n")
    ws.write("P/recipes/trail.yaml", HEAD + "triggers: {keywords: [trail]}\n---\n")
    rows = listed(ws)
    assert [name for name, row in rows.items() if "error" in row] == list(broken)
    assert [name for name, row in rows.items() if "error" not in row] == ["default", "good", "odd", "trail"]
    assert all(row["error"].startswith(row["path"]) for row in rows.values() if "error" in row)
    decision = ws.run("select", "--json", "fix tests").expect(0)
    assert decision.json["recipe"] == "good"
    assert len(decision.stderr.splitlines()) == len(broken)
    assert ws.run("select", "--json", "trail").expect(0).json["recipe"] == "trail"


def test_a_dead_link_a_folder_and_a_pipe_hide_nothing(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    folder = ws.path("P/recipes/good.yaml").parent
    (folder / "dead.yaml").symlink_to("/nope")
    (folder / "gone.yaml").symlink_to("nowhere.yaml")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    (folder / "dir.yaml").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    ws.recipe("B/recipes/default.yaml")
    decision = ws.run("select", "--json", "fix tests", timeout=10).expect(0)
    assert decision.json["recipe"] == "good"
    assert decision.stderr.splitlines() == [
        f"warning: broken recipe left out: {folder}/dead.yaml: is a link to /nope, which is not there"
        " (correct or remove the link)",
        f"warning: broken recipe left out: {folder}/dir.yaml: is a folder, not a file"
        " (put a YAML file there, or rename it)",
        f"warning: broken recipe left out: {folder}/gone.yaml: is a link to nowhere.yaml, which is not there"
        " (correct or remove the link)",
        f"warning: broken recipe left out: {folder}/loop.yaml: is a link to loop.yaml, which is not there"
        " (correct or remove the link)",
        f"warning: broken recipe left out: {folder}/pipe.yaml: is a pipe or device, not a file"
        " (put a YAML file there, or rename it)",
    ]


# Which files are recipes.


def test_leftovers_of_editors_are_no_recipes(ws: Workspace) -> None:
    ws.recipe("P/recipes/a.yaml", "A", triggers=["alpha"])
    ws.write("B/recipes/README.md", "# Recipes\n")
    for leftover in (
        "a.yaml~",
        ".a.yaml.swp",
        "#a.yaml#",
        "a.yaml.orig",
        "._a.yaml",
        ".hidden.yaml",
        "a.json",
        "README",
    ):
        ws.write(f"P/recipes/{leftover}", "\0mac")
    ws.write("P/recipes/.git/config.yaml", "not: one\n")
    ws.path("P/recipes/.#a.yaml").symlink_to("user@host.1234")
    listing = ws.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json] == ["a"]
    assert listing.stderr == ""


@pytest.mark.parametrize("file", ["one.yml", "one.YAML", "one.Yml", "team/one.yml"])
def test_a_suffix_that_is_not_read_is_said(ws: Workspace, file: str) -> None:
    path = ws.write(f"P/recipes/{file}", HEAD)
    ws.recipe("P/recipes/two.yaml")
    ws.recipe("B/recipes/default.yaml")
    listing = ws.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json] == ["default", "two"]
    assert listing.stderr == (
        f"warning: {path}: is not read: a recipe's file ends in `.yaml` (rename it to `{path.stem}.yaml`)\n"
    )


def test_folders_within_a_layer_are_parts_of_names(ws: Workspace) -> None:
    ws.recipe("P/recipes/team/review.yaml", "near")
    far = ws.recipe("B/recipes/team/review.yaml", "far")
    ws.recipe("P/recipes/team/a/b.yaml")
    assert listed(ws)["team/review"]["shadows"] == [str(far)]
    assert ws.run("recipes", "show", "Team/Review", "--json").expect(0).json["description"] == "near"
    assert names(ws) == ["team/review", "team/a/b"]


def test_folders_deeper_than_any_stack(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.recipe("B/recipes/default.yaml")
    folder = os.open(ws.path("P/recipes/good.yaml").parent, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("deep.yaml", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    try:
        assert names(ws) == ["default", "d/" * 1200 + "deep", "good"]
    finally:
        subprocess.run(["rm", "-rf", ws.path("P/recipes/d")], check=True)  # shutil.rmtree would recurse


# Names.


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("My Recipe.yaml", "my-recipe"),
        ("DEPLOY.yaml", "deploy"),
        ("Team/Code  Review.yaml", "team/code-review"),
        ("r\u0065\u0301sume\u0301.yaml", "résumé"),
        (" blank .yaml", "blank"),
        ("two\nlines.yaml", "two-lines"),
    ],
)
def test_a_file_loads_under_its_canonical_name_and_says_so(ws: Workspace, file: str, name: str) -> None:
    path = ws.write(f"P/recipes/{file}", HEAD)
    shown = ws.run("recipes", "show", name, "--json").expect(0)
    assert shown.json["name"] == name
    place = str(path).replace("\n", "\\n")
    assert shown.stderr == f"warning: {place}: the name is not canonical; it loads as `{name}` (rename the file)\n"
    assert ws.run("recipes", "show", file.removesuffix(".yaml"), "--json").expect(0).json["name"] == name


def test_a_name_in_no_encoding_is_listed_and_can_be_asked_for(ws: Workspace) -> None:
    path = ws.write("P/recipes/gr\udcfcn.yaml", HEAD)
    assert "gr\ufffdn" in listed(ws)
    shown = ws.run("recipes", "show", "gr\ufffdn", "--json").expect(0)
    assert shown.json["name"] == "gr\ufffdn"
    assert shown.stderr == (
        f"warning: {path.parent}/gr\ufffdn.yaml: the name is not canonical; it loads as `gr\ufffdn` (rename the file)\n"
    )
    assert ws.run("recipes", "show", "gr\udcfcn", "--raw").expect(0).stdout == HEAD


def test_two_files_with_one_canonical_name_break_it_and_are_both_named(ws: Workspace) -> None:
    ws.recipe("B/recipes/dep-it.yaml", "shadowed")
    one, two = ws.recipe("P/recipes/Dep It.yaml"), ws.recipe("P/recipes/dep-it.yaml")
    row = listed(ws)["dep-it"]
    assert row["error"] == f"{two}: has the same canonical name as {one} (rename one of the two files)"
    failed = ws.run("recipes", "show", "dep-it").expect(2)
    assert str(one) in failed.stderr
    assert str(two) in failed.stderr


@pytest.mark.parametrize("file", [" .yaml", "team/ .yaml", " /team.yaml"])
def test_a_file_without_a_name_breaks_no_other(ws: Workspace, file: str) -> None:
    path = ws.write(f"P/recipes/{file}", HEAD)
    ws.recipe("P/recipes/team.yaml")
    ws.recipe("P/recipes/-.yaml")
    rows = listed(ws, "--layer", "project")
    assert [name for name, row in rows.items() if "error" not in row] == ["-", "team"]
    (nameless,) = (row for row in rows.values() if "error" in row)
    assert nameless["error"] == f"{path}: gives no recipe name (rename the file)"


def test_names_of_any_script_stay_apart(ws: Workspace) -> None:
    for name in ("風林", "火山", "проверка", "c++", ".net"[1:], "übung", "ubung"):
        ws.recipe(f"P/recipes/{name}.yaml", f"the {name} one")
    ws.write("B/recipes/README.md", "")
    rows = listed(ws)
    assert sorted(rows) == sorted(["風林", "火山", "проверка", "c++", "net", "übung", "ubung"])
    assert ws.run("recipes", "show", "風林", "--json").expect(0).json["description"] == "the 風林 one"


def test_a_decomposed_name_shadows_the_composed_one(ws: Workspace) -> None:
    ws.recipe(f"P/recipes/{unicodedata.normalize('NFD', 'résumé')}.yaml", "decomposed")
    composed = ws.recipe("T/recipes/résumé.yaml", "composed")
    ws.write("B/recipes/README.md", "")
    rows = listed(ws)
    assert list(rows) == ["résumé"]
    assert (rows["résumé"]["layer"], rows["résumé"]["shadows"]) == ("project", [str(composed)])
    typed = unicodedata.normalize("NFD", "RÉSUMÉ")
    assert ws.run("recipes", "show", typed, "--json").expect(0).json["description"] == "decomposed"


@pytest.mark.parametrize(
    "name",
    ["../../outside/evil", "../recipes/good", "/outside/evil", "./good", "./.vance/recipes/good.yaml", "good.yaml",
     "team/..", "C:\\recipes\\good", "team/review", "good/", "", "..", "{absolute}"],
)  # fmt: skip
def test_a_name_is_no_path(ws: Workspace, name: str) -> None:
    ws.write("P/outside/evil.yaml", HEAD)
    good = ws.recipe("P/recipes/good.yaml")
    asked = str(good) if name == "{absolute}" else name
    failed = ws.run("recipes", "show", asked).expect(2)
    assert failed.stdout == ""
    assert failed.stderr.startswith(f"error: there is no recipe `{asked}`\n  help: ")


def test_an_unknown_name_gets_up_to_five_near_ones(ws: Workspace) -> None:
    for name in ("deploy", "deploys", "employ", "depot", "deplete", "redeploy", "summarise-texts"):
        ws.recipe(f"P/recipes/{name}.yaml")
    ws.recipe("P/recipes/deplyo1.yaml", internal=True)
    ws.recipe("P/recipes/_deplyo.yaml")
    ws.recipe("P/recipes/_user/deplyos.yaml")
    ws.recipe("P/recipes/team/deplyo.yaml")
    ws.write("P/recipes/deplyo2.yaml", "[")
    ws.write("B/recipes/README.md", "")
    near = "did you mean `team/deplyo`, `deploy` or `deploys`? "
    assert ws.run("recipes", "show", "deplyo").expect(2).stderr == (
        f"error: there is no recipe `deplyo`\n  help: {near}`vancectl recipes list` shows all\n"
    )
    assert near in ws.run("delegate", "--dry-run", "--recipe", "deplyo", "x").expect(2).stderr
    assert ws.run("recipes", "show", "quite-something-else").expect(2).stderr == (
        "error: there is no recipe `quite-something-else`\n  help: `vancectl recipes list` shows all\n"
    )


def test_a_user_s_own_recipes_have_short_names_and_generated_ones_full_names(ws: Workspace) -> None:
    ws.recipe("P/recipes/_user/Mine.yaml", "mine", triggers=["mine"])
    ws.recipe("P/recipes/_slart/run1/made.yaml", "made", triggers=["made"])
    ws.recipe("P/recipes/both.yaml", "routed")
    ws.recipe("P/recipes/_user/both.yaml", "on demand")
    ws.write("B/recipes/README.md", "")
    for asked, name in (
        ("mine", "_user/mine"),
        ("_user/mine", "_user/mine"),
        ("both", "both"),
        ("_user/both", "_user/both"),
        ("_slart/run1/made", "_slart/run1/made"),
    ):
        assert ws.run("recipes", "show", asked, "--json").expect(0).json["name"] == name
    for asked in ("made", "run1/made", "slart/run1/made"):
        ws.run("recipes", "show", asked).expect(2)
    assert names(ws) == ["both"]
    assert names(ws, "--all") == ["recipe-selector", "_slart/run1/made", "_user/both", "_user/mine", "both"]


# Links.


def test_a_link_within_the_layer_is_a_recipe_like_any_other(ws: Workspace) -> None:
    ws.recipe("P/recipes/team/review.yaml", "linked to")
    ws.path("P/recipes/alias.yaml").symlink_to("team/review.yaml")
    assert ws.run("recipes", "show", "alias", "--json").expect(0).json["description"] == "linked to"
    assert ws.run("recipes", "show", "alias", "--raw").expect(0).stdout.startswith("description: linked to\n")


@pytest.mark.parametrize("target", ["../../outside.yaml", "{absolute}", "hop.yaml"])
def test_a_link_never_leaves_the_layer(ws: Workspace, target: str) -> None:
    outside = ws.write("P/outside.yaml", HEAD + "title: secret\n")
    ws.recipe("B/recipes/evil.yaml", "shadowed")
    link = ws.path("P/recipes/evil.yaml")
    link.parent.mkdir(parents=True)
    (link.parent / "hop.yaml").symlink_to("../../outside.yaml")
    link.symlink_to(str(outside) if target == "{absolute}" else target)
    fault = f"is a link that leaves its layer ({outside})"
    assert listed(ws)["evil"]["error"] == f"{link}: {fault} (copy the file into the layer)"
    for option in ("--json", "--raw"):
        failed = ws.run("recipes", "show", "evil", option).expect(2)
        assert failed.stdout == ""
        assert failed.stderr == (
            f"error: {link}: the recipe `evil` is broken: {fault}\n  help: copy the file into the layer\n"
        )


def test_a_linked_folder_is_not_followed_and_said(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.write("P/elsewhere/evil.yaml", HEAD)
    ws.write("B/recipes/README.md", "")
    folder = ws.path("P/recipes/good.yaml").parent
    (folder / "more").symlink_to("../../elsewhere")
    (folder / "self").symlink_to(".")
    (folder / "loop").symlink_to("loop")
    listing = ws.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json] == ["good"]
    assert listing.stderr.splitlines() == [
        f"warning: {folder}/loop: is a link to loop, which is not there (correct or remove the link)",
        f"warning: {folder}/more: is a link to the folder ../../elsewhere, which is not followed"
        " (copy the folder here)",
        f"warning: {folder}/self: is a link to the folder ., which is not followed (copy the folder here)",
    ]


# What is read is what is there.


def test_an_edit_is_seen_whatever_the_clock_says(ws: Workspace) -> None:
    path = ws.recipe("P/recipes/a.yaml", "old", triggers=["alpha"])
    os.utime(path, (1_000_000_000, 1_000_000_000))
    time.sleep(2.1)  # a younger file is read again whatever is remembered of it
    assert listed(ws)["a"]["description"] == "old"
    path.write_text(path.read_text().replace("old", "new"))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert listed(ws)["a"]["description"] == "new"
    assert ws.run("recipes", "show", "a", "--json").expect(0).json["description"] == "new"
    older = ws.write("P/older", path.read_text().replace("new", "was"))
    os.utime(older, (900_000_000, 900_000_000))
    older.replace(path)
    assert listed(ws)["a"]["description"] == "was"
    assert ws.run("recipes", "show", "a", "--json").expect(0).json["description"] == "was"
    path.unlink()
    assert "a" not in listed(ws)


@pytest.mark.parametrize(
    "character",
    ["\x1b", "\u202e", "\ufeff", "\U000e0041", "\u200b", "\u034f", "\ufe0f", "\u3164", "\u200c", "\U000e0100"],
)
def test_a_name_that_hides_what_it_is_counts_as_broken(ws: Workspace, character: str) -> None:
    ws.recipe(f"P/recipes/a{character}b.yaml", "Hidden.")
    [row] = [row for row in ws.run("recipes", "list").expect().json if "error" in row]
    assert row["error"].endswith("has a control or invisible character in its name (rename the file)")
    assert character not in row["error"]
