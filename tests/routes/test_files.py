"""Which files of a project are read as cases, and that what looks so and is not read is named."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Workspace

LONG = (
    "Does one clearly named thing for people; take it when they ask for that thing, and not for anything else at all."
)
RIGHT, WRONG = "cases:\n- {task: ship it now, expect: ship}\n", "cases:\n- {task: ship it now, expect: NONE}\n"


@pytest.fixture
def shop(ws: Workspace) -> Workspace:
    ws.recipe("P/recipes/ship.yaml", LONG, triggers=["ship it now"])
    ws.write("P/routes.yaml", RIGHT)
    return ws


@pytest.mark.parametrize(
    "name",
    ["routes.jsonl", "routes/a.yaml", "routes/a.jsonl", "routes/a.ndjson", "routes/sub/a.yaml", "routes/x/y/a.jsonl"],
)
def test_cases_are_read_in_every_form_and_folder(shop: Workspace, name: str) -> None:
    case = {"task": "ship it now", "expect": "NONE"}
    shop.write(f"P/{name}", json.dumps(case) + "\n" if "json" in name else json.dumps({"cases": [case]}))
    report = shop.run("check").expect(1).json
    assert [case["verdict"] for case in report["cases"]] == ["right", "false-match"]
    assert report["cases"][1]["file"] == f".vance/{name}"


@pytest.mark.parametrize("name", ["routes/a.yml", "routes/sub/a.yml", "routes/a.json", "routes/a.YAML", "routes/a.csv"])
def test_cases_that_are_not_read_are_named(shop: Workspace, name: str) -> None:
    shop.write(f"P/{name}", WRONG)
    for done in (shop.run("check").expect(0), shop.run("recipes", "lint", "--format", "text")):
        assert f"{name.rpartition('/')[2]}" in done.stdout + done.stderr
        assert "a file of cases ends in" in (done.stdout + done.stderr).replace("\n", " ")


def test_what_lies_beside_cases_is_no_matter(shop: Workspace) -> None:
    for name in ("routes/README.md", "routes/.hidden.yml", "routes/routes.recorded.jsonl", "routes.lock"):
        shop.write(f"P/{name}", "")
    assert shop.run("check").expect(0).stderr == ""


def test_a_linked_folder_of_cases_is_not_followed(shop: Workspace) -> None:
    shop.write("P/routes/sub/a.yaml", RIGHT)
    shop.path("P/routes/sub/again").symlink_to("..")
    done = shop.run("check").expect(0)
    assert "again: is a link to the folder .., which is not followed" in done.stderr
    assert len(done.json["cases"]) == 2


def test_a_folder_of_cases_that_leaves_the_project_is_an_error(shop: Workspace) -> None:
    outside = shop.root / "outside"
    outside.mkdir()
    (outside / "a.yaml").write_text(RIGHT)
    shop.path("P/routes").symlink_to(outside)
    assert "leaves the project" in shop.run("check").expect(2).stderr


RECIPE = f"description: {LONG}\nengine: ford\n"
STRAYS = {
    "settings.yaml": "a project has no settings",
    "settings.yml": "a project has no settings",
    "config.yaml": "a project has no settings",
    "settings.json": "a project has no settings",
    "routes.yml": "rename it to `routes.yaml`",
    "Routes.yaml": "rename it to `routes.yaml`",
    "project.yml": "rename it to `project.yaml`",
    "poem.yaml": "move it to `recipes/poem.yaml`",
    "poem.yml": "move it to `recipes/poem.yaml`",
}


@pytest.mark.parametrize("folder", [".vance", "_vance"])
@pytest.mark.parametrize("name", STRAYS)
def test_a_file_that_is_nearly_right_is_named_with_its_right_place(shop: Workspace, folder: str, name: str) -> None:
    shop.path("P/.vance").rename(shop.path(f"P/{folder}"))
    shop.write(f"P/{folder}/{name}", RECIPE)
    runs = [
        shop.run("select", "ship it now").expect(0),
        shop.run("check").expect(0),
        shop.run("recipes", "lint", "--format", "text").expect(0),
    ]
    for done in runs:
        said = " ".join((done.stdout + done.stderr).split())
        assert f"{folder}/{name}" in said, done
        assert STRAYS[name] in said, done
    if "settings" in STRAYS[name]:
        assert str(shop.tenant / "settings.yaml") in runs[0].stderr


def test_files_that_are_named_on_the_command_line_may_have_any_name(shop: Workspace) -> None:
    shop.write("P/.vance/smoke.yaml", RIGHT)
    shop.write("P/.vance/plan.yaml", "children:\n- {name: a, recipe: ship, task: x, engine: y}\n")
    shop.write("P/.vance/notes.yaml", "hello: world\n")
    assert shop.run("select", "ship it now").expect(0).stderr == ""


# -- what `recipes lint` is given by a hook that passes every file that changed


@pytest.mark.parametrize(
    "others",
    [
        [".vance/routes.yaml"],
        [".vance/project.yaml"],
        [".vance/routes/a.yaml"],
        ["lib/ship.yaml"],
        ["lib"],
        [".vance/x.txt"],
    ],
    ids=lambda others: others[0],
)
def test_a_path_in_a_layer_is_judged_in_its_layer(shop: Workspace, others: list[str]) -> None:
    for name, content in (("project.yaml", "id: x\n"), ("routes/a.yaml", RIGHT)):
        shop.write(f"P/{name}", content)
    shop.write("P/.vance/x.txt", "")
    shop.recipe("P/lib/ship.yaml", LONG, triggers=["ship it now"])
    own = ".vance/recipes/ship.yaml"
    alone = shop.run("recipes", "lint", own).expect(0).json["findings"]
    found = shop.run("recipes", "lint", own, *others).json["findings"]
    assert [each for each in found if each["path"].endswith(own)] == alone
    if others[0].startswith(".vance"):
        assert found == alone


def test_a_bad_file_of_cases_is_told_of_where_it_is_named(shop: Workspace) -> None:
    shop.write("P/routes.yaml", "cases:\n- {tsk: x}\n")
    found = shop.run("recipes", "lint", ".vance/routes.yaml").expect(1).json["findings"]
    assert "case-key" in {each["code"] for each in found}
