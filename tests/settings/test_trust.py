"""Trust: what a project may do beyond recipes and cases, where the tenant lists its folder, and how it is listed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import REPOSITORY, Workspace
from vancectl.settings.trust import is_trusted


@pytest.fixture
def shop(ws: Workspace) -> Workspace:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings({"spawn.command": ["true"], "spawn.stdin": "none"})
    return ws


# What a list covers.


@pytest.mark.parametrize(
    ("listed", "folder", "covered"),
    [
        ([], "a", False),
        (["a"], "a", True),
        (["a"], "a/b/c", True),
        (["a"], "ab", False),
        (["a/b"], "a", False),
        (["a"], "a/repo", False),
        (["a"], "a/repo/inside", False),
        (["a"], "a/project/inside", False),
        (["a/*"], "a/repo/inside", True),
        (["a/*"], "a", False),
        (["a", "a/repo"], "a/repo/inside", True),
        (["link"], "a", True),
        (["a"], "link", True),
        (["a/../a/"], "a", True),
        (["nowhere"], "a", False),
    ],
)
def test_what_a_list_covers(tmp_path: Path, listed: list[str], folder: str, covered: bool) -> None:
    for each in ("a/b/c", "ab", "a/repo/.git", "a/repo/inside", "a/project/.vance", "a/project/inside"):
        (tmp_path / each).mkdir(parents=True, exist_ok=True)
    (tmp_path / "link").symlink_to("a")
    assert is_trusted(tmp_path / folder, [f"{tmp_path}/{each}" for each in listed]) == covered


# trust.required


@pytest.mark.parametrize(
    "words",
    [["fix tests"], ["--recipe", "good", "x"], ["--engine", "good", "x"], ["--dry-run", "fix tests"]],
    ids=" ".join,
)
def test_a_tenant_may_want_to_be_asked_first(shop: Workspace, words: list[str]) -> None:
    settings = shop.settings(trust__required=True)
    refused = shop.run("delegate", *words).expect(2)
    recipe, folder = shop.path("P/recipes/good.yaml"), os.path.realpath(shop.project)
    said = f"comes from {folder}, which belongs to {Path(folder).owner()} and is not among trust.folders"
    assert refused.stderr.startswith(
        f"error: {recipe}: the recipe `good` {said}; trust.required is set in {settings}\n"
    )
    assert f"  help: read it, then: vancectl trust {folder}\n" in refused.stderr
    assert "process" not in refused.json
    assert refused.json["recipe"] == "good"
    assert shop.run("select", "fix tests").expect().json["recipe"] == "good"  # to select starts nothing
    shop.run("trust", folder).expect()
    shop.run("delegate", *words).expect()


def test_what_is_not_a_project_s_needs_no_trust(shop: Workspace) -> None:
    shop.settings(trust__required=True)
    shop.recipe("T/recipes/mine.yaml")
    shop.recipe("P/lib/named.yaml")
    shop.run("delegate", "--recipe", "mine", "x").expect()
    shop.run("delegate", "--recipe", "python", "x").expect()
    shop.run("delegate", "--recipes", "lib", "--recipe", "named", "x").expect()  # the folder was named by the caller


def test_a_fallback_of_a_project_needs_trust_too(shop: Workspace) -> None:
    shop.settings(trust__required=True, selector__backend="off")
    path = shop.recipe("P/recipes/default.yaml")
    refused = shop.run("delegate", "nothing that is known").expect(2)
    assert refused.json["fallback"] == {
        "recipe": "default",
        "source": "default-recipe",
        "layer": "project",
        "shadows": [str(REPOSITORY / "defaults/recipes/default.yaml")],
    }
    assert str(path) in refused.stderr


# What a decision rests on.


@pytest.mark.parametrize(
    ("layers", "layer", "shadows"),
    [(["P"], "project", []), (["T"], "tenant", []), (["P", "T"], "project", ["T"]), (["P", "T", "B"], "project", "TB")],
    ids=str,
)
@pytest.mark.parametrize(
    "command",
    [
        ["select", "fix tests"],
        ["delegate", "fix tests"],
        ["delegate", "--recipe", "own", "x"],
        ["batch", "-"],
    ],
    ids=" ".join,
)
def test_a_decision_says_where_its_recipe_comes_from(
    ws: Workspace, layers: list[str], layer: str, shadows: list[str], command: list[str]
) -> None:
    ws.settings({"spawn.command": ["true"], "spawn.stdin": "none"})
    for each in layers:
        ws.recipe(f"{each}/recipes/own.yaml", triggers=["fix tests"])
    said = ws.run(*command, stdin="fix tests\n").expect()
    decision = said.jsonl[0] if command[0] == "batch" else said.json
    assert decision["layer"] == layer
    assert decision["shadows"] == [str(ws.path(f"{each}/recipes/own.yaml")) for each in shadows]
    keys = list(decision)
    assert keys[keys.index("engine") + 1 : keys.index("rationale")] == ["layer", "shadows"]
    if command[0] != "batch":
        entry = json.loads((ws.state / "log/decisions.jsonl").read_text())
        assert (entry["layer"], entry["shadows"]) == (decision["layer"], decision["shadows"])


def test_a_decision_of_the_model_says_it_too(shop: Workspace, messages: MessagesServer) -> None:
    shop.model(messages)
    messages.reply(scripted.match("good"), scripted.none("nothing fits"))
    assert shop.run("select", "look over").expect().json["layer"] == "project"
    nothing = shop.run("select", "look over").expect().json
    assert (nothing["layer"], nothing["shadows"]) == (None, [])


def test_a_check_says_it_too(shop: Workspace) -> None:
    shop.write("P/routes.yaml", "cases:\n  - {task: fix tests, expect: good}\n")
    (case,) = shop.run("check", "--json").expect().json["cases"]
    assert (case["layer"], case["shadows"]) == ("project", [])


def test_a_person_sees_it(shop: Workspace) -> None:
    shop.recipe("T/recipes/good.yaml")
    shown = shop.run("select", "fix tests", tty=True, columns=200).expect().stdout
    assert f"project, in place of {shop.path('T/recipes/good.yaml')}" in shown


# The preset of a program that reads what a clone brings.


@pytest.mark.parametrize("trusted", [False, True])
def test_a_program_is_kept_from_what_a_clone_brings(ws: Workspace, trusted: bool) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.program("claude", "")
    ws.settings({"spawn.preset": "claude", "trust": [str(ws.project)] if trusted else []})
    argv = ws.run("delegate", "--dry-run", "fix tests").expect().json["plan"]["argv"]
    assert ("--setting-sources user" in " ".join(argv)) == (not trusted)
    shown = ws.run("spawn", "test").expect().json["argv"]
    assert ("--setting-sources" in shown) == (not trusted)


# `vancectl trust`


NEW, WITHOUT = "trust:\n  folders:\n    - {dir}\n", "trust:\n  folders:\n      []\n"
FLOW = "trust: {folders: [{dir}]}\n"
# What the file held, what it holds with the folder, and once it is taken off again (None: as before).
FILES: dict[str, tuple[str | None, str, str | None]] = {
    "none": (None, NEW, WITHOUT),
    "empty": ("", NEW, WITHOUT),
    "only-comments": ("# mine\n", f"# mine\n{NEW}", f"# mine\n{WITHOUT}"),
    "short": ('trust: [/a, "/b"] # x\n', 'trust: [/a, "/b", {dir}] # x\n', None),
    "short-block": ("trust:\n  - /a  # why\n  # x\nlog: {}", "trust:\n  - /a  # why\n  - {dir}\n  # x\nlog: {}", None),
    "short-at-the-margin": ("trust:\n- /a\nlog: {}\n", "trust:\n- /a\n- {dir}\nlog: {}\n", None),
    "block": (
        "trust:\n  folders:\n  - /a\n\n# x\nlog: {}\n",
        "trust:\n  folders:\n  - /a\n  - {dir}\n\n# x\nlog: {}\n",
        None,
    ),
    "without-last-line-end": (
        "trust:\n  folders:\n  - /a",
        "trust:\n  folders:\n  - /a\n  - {dir}\n",
        "trust:\n  folders:\n  - /a\n",
    ),
    "nothing-in-it": ("trust:\nlog: {}\n", f"{FLOW}log: {{}}\n", "trust: {folders: []}\nlog: {}\n"),
    "null": ("trust: ~ # x\n", "trust: {folders: [{dir}]} # x\n", "trust: {folders: []} # x\n"),
    "flow": (
        "trust: {required: false}\n",
        "trust: {required: false, folders: [{dir}]}\n",
        "trust: {required: false, folders: []}\n",
    ),
    "another-key": (
        "trust:\n    # c\n    required: false # d\nlog: {}\n",
        "trust:\n    # c\n    folders:\n      - {dir}\n    required: false # d\nlog: {}\n",
        "trust:\n    # c\n    folders:\n        []\n    required: false # d\nlog: {}\n",
    ),
    "all-flow": (
        "{log: {tasks: true},\n}\n",
        "{log: {tasks: true}, trust: {folders: [{dir}]}\n}\n",
        "{log: {tasks: true}, trust: {folders: []}\n}\n",
    ),
    "json": (
        '{"log": {"tasks": true}}\n',
        '{"log": {"tasks": true}, trust: {folders: [{dir}]}}\n',
        '{"log": {"tasks": true}, trust: {folders: []}}\n',
    ),
    "document-marks": ("---\nlog: {}\n...\n", f"---\nlog: {{}}\n{NEW}...\n", f"---\nlog: {{}}\n{WITHOUT}...\n"),
    "windows": ("log: {}\r\ntrust:\r\n- /a\r\n", "log: {}\r\ntrust:\r\n- /a\r\n- {dir}\r\n", None),
}


@pytest.mark.parametrize("name", FILES)
def test_a_folder_is_added_and_all_else_stays(ws: Workspace, name: str) -> None:
    before, after, without = FILES[name]
    if before is not None:
        ws.write("T/settings.yaml", before).chmod(0o640)
    path, folder = ws.path("T/settings.yaml"), os.path.realpath(ws.project)
    added = ws.run("trust", "--json").expect()
    assert added.json[-1] == {"folder": folder, "exists": True, "owner": Path(folder).owner()}
    content = path.read_bytes().decode()
    assert content == after.replace("{dir}", folder)
    assert path.stat().st_mode & 0o777 == (0o600 if before is None else 0o640)
    assert ws.run("trust", ws.project).expect().json == added.json
    assert path.read_bytes().decode() == content  # once is enough
    removed = ws.run("trust", "--remove").expect()
    assert removed.json == added.json[:-1]
    expected = without if without is not None else before
    assert path.read_bytes().decode() == expected


@pytest.mark.parametrize("given", ["sub dir", 'ü\u2013 "x"', "#y", "a: b", "sub/../sub"])
def test_any_folder_can_be_added(ws: Workspace, given: str) -> None:
    (ws.project / given).mkdir(exist_ok=True, parents=True) if ".." not in given else (ws.project / "sub").mkdir()
    ws.settings(log__tasks=True)
    ws.run("trust", given).expect()
    ws.run("trust", f"{given}/*").expect()
    folder = os.path.realpath(ws.project / given)
    rows = ws.run("trust", "--list").expect().json
    assert [row["folder"] for row in rows] == [folder, f"{folder}/*"]
    (listed,) = ws.run("settings", "show", "trust.folders").expect().json
    assert listed["value"] == [folder, f"{folder}/*"]


def test_the_folder_of_the_project_is_meant_wherever_one_stands_in_it(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.write("P/src/deep/x", "")
    assert ws.run("trust", cwd="P/src/deep").expect().json[0]["folder"] == os.path.realpath(ws.project)


def test_a_folder_that_is_gone_can_be_dropped(ws: Workspace) -> None:
    ws.settings(trust=["/no/such/folder"])
    assert ws.run("trust", "--remove", "/no/such/folder").expect().json == []


@pytest.mark.parametrize(
    ("settings", "words", "said"),
    [
        ("", ["nowhere"], "there is no folder "),
        ("", ["--remove", "/a"], "/a is not on the list"),
        ("", ["--list", "--remove"], "--list changes nothing"),
        ("trust: 1\n", [], "trust"),
        ("trust: [a]\n", [], "must be a list of absolute folders"),
        ("log: [\n", [], "the settings are broken"),
        ("x: &a [/b]\ntrust: *a\n", [], ""),
    ],
)
def test_what_cannot_be_done_changes_nothing(ws: Workspace, settings: str, words: list[str], said: str) -> None:
    path = ws.write("T/settings.yaml", settings)
    failed = ws.run("trust", *words).expect(2)
    assert said in failed.stderr
    assert failed.stdout == ""
    assert path.read_text() == settings


def test_a_list_from_elsewhere_is_told(ws: Workspace) -> None:
    said = ws.run("trust", env={"VANCECTL_TRUST__FOLDERS": "[]"}).expect()
    assert said.json == []
    assert "VANCECTL_TRUST__FOLDERS sets trust.folders in its place" in said.stderr
    assert str(ws.project) in ws.path("T/settings.yaml").read_text()


def test_settings_that_lie_with_other_dotfiles_stay_a_link(ws: Workspace) -> None:
    real = ws.write("H/dotfiles/settings.yaml", "# mine\n")
    ws.tenant.mkdir(parents=True)
    ws.path("T/settings.yaml").symlink_to(real)
    ws.run("trust").expect()
    assert ws.path("T/settings.yaml").is_symlink()
    assert real.read_text().startswith("# mine\ntrust:")
