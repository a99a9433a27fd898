"""`recipes new`, `copy` and `edit`: what is written is right, and nothing that is there is lost."""

from __future__ import annotations

import os

import pytest

from tests.workspace import Workspace

PHRASE = "count the quokkas"
DESCRIPTION = (
    'Counts "quokkas": all of them. Take it when someone asks how many there are on the island; not for zebras.'
)


def test_new_writes_a_recipe_that_is_clean_and_routes(ws: Workspace) -> None:
    made = ws.run(
        "recipes", "new", "Count Quokkas", "--description", DESCRIPTION, "--engine", "ford", "--trigger", PHRASE
    ).expect()  # fmt: skip
    path = ws.path("P/recipes/count-quokkas.yaml")
    assert made.json == {"name": "count-quokkas", "path": str(path), "findings": [], "takes": []}
    ws.run("recipes", "lint", "--strict").expect()
    assert ws.run("recipes", "show", "count-quokkas").expect().json["description"] == DESCRIPTION
    assert ws.run("select", f"please {PHRASE}").expect().json["recipe"] == "count-quokkas"


def test_new_goes_to_the_tenant_and_into_folders(ws: Workspace) -> None:
    ws.run("recipes", "new", "team/notes", "--to", "tenant").expect()
    assert ws.path("T/recipes/team/notes.yaml").exists()
    assert not (ws.project / ".vance").exists()
    shown = ws.run("recipes", "new", "more", tty=True).expect()
    assert shown.stdout == f"{ws.path('P/recipes/more.yaml')}\n"
    assert "a model cannot choose by so few" in shown.stderr


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a//b", ".hidden", "a/.b", "", " ", "a\\b", "x\x1b"])
def test_what_is_no_name_is_refused(ws: Workspace, name: str) -> None:
    ws.run("recipes", "new", "--", name).expect(2)
    assert not (ws.project / ".vance").exists()
    assert not (ws.project.parent / "x.yaml").exists()


def test_new_refuses_an_engine_that_there_is_not(ws: Workspace) -> None:
    assert "did you mean `marvin`" in ws.run("recipes", "new", "x", "--engine", "marvni").expect(2).stderr


@pytest.mark.parametrize("taken", ["mine.yaml", "Mine.yaml"])
@pytest.mark.parametrize("command", [["new", "mine"], ["new", "MINE.yaml"], ["copy", "essay", "--as", "mine"]])
def test_nothing_is_overwritten(ws: Workspace, taken: str, command: list[str]) -> None:
    path = ws.write(f"P/recipes/{taken}", "broken, and mine\n")
    refused = ws.run("recipes", *command).expect(2)
    assert "already; it is left as it is" in refused.stderr
    assert path.read_text() == "broken, and mine\n"
    assert len(list(path.parent.iterdir())) == 1


def test_a_link_out_of_the_project_gets_no_file(ws: Workspace) -> None:
    outside = ws.root / "outside"
    outside.mkdir()
    (ws.project / ".vance").mkdir()
    (ws.project / ".vance" / "recipes").symlink_to(outside)
    assert "leaves the project" in ws.run("recipes", "new", "x").expect(2).stderr
    assert list(outside.iterdir()) == []


def test_copy_says_where_it_came_from_and_changes_nothing_else(ws: Workspace) -> None:
    original = ws.run("recipes", "show", "--raw", "essay").expect().stdout
    ws.run("recipes", "copy", "essay").expect()
    _, first, rest = ws.path("P/recipes/essay.yaml").read_text().split("\n", 2)
    assert first.startswith("# Copied from the bundled recipe `essay` (vancectl ")
    assert rest == original
    (row,) = ws.run("recipes", "shadowed").expect().json
    assert (row["name"], row["layer"], row["hides"]["layer"], row["differences"]) == ("essay", "project", "bundled", [])
    ws.run("recipes", "copy", "essay", "--to", "tenant").expect()
    assert (
        ws.path("T/recipes/essay.yaml")
        .read_text()
        .split("\n")[1]
        .startswith("# Copied from the project recipe `essay`")
    )


def test_a_broken_or_unknown_recipe_is_not_copied(ws: Workspace) -> None:
    ws.write("T/recipes/mine.yaml", "description: x\n")
    assert "is broken" in ws.run("recipes", "copy", "mine").expect(2).stderr
    assert "did you mean `essay`" in ws.run("recipes", "copy", "esay").expect(2).stderr
    assert not (ws.project / ".vance").exists()


def editor(ws: Workspace, script: str) -> dict[str, str | None]:
    return {"EDITOR": str(ws.program("editor", script))}


def test_edit_saves_what_can_be_used(ws: Workspace) -> None:
    path = ws.recipe("P/recipes/mine.yaml", DESCRIPTION)
    path.chmod(0o640)
    edited = ws.run("recipes", "edit", "mine", env=editor(ws, 'sed -i s/ford/marvin/ "$1"')).expect()
    assert "engine: marvin" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [found["code"] for found in edited.json["findings"]] == ["cannot-start"]  # not by the worker
    ws.run(
        "recipes", "edit", "mine", env={"VISUAL": "true -x", **editor(ws, "exit 1")}
    ).expect()  # arguments, precedence


def test_edit_does_not_save_what_is_broken(ws: Workspace) -> None:
    path = ws.recipe("P/recipes/mine.yaml", DESCRIPTION)
    before = path.read_bytes()
    refused = ws.run("recipes", "edit", "mine", env={**editor(ws, 'sed -i /engine/d "$1"'), "TMPDIR": str(ws.root)})
    assert refused.expect(2).stdout == ""
    assert "the field `engine` is missing" in refused.stderr
    assert path.read_bytes() == before
    (draft,) = ws.root.glob("vancectl-*/mine.yaml")
    assert str(draft) in refused.stderr
    assert "engine" not in draft.read_text()


def test_edit_offers_another_go_at_a_terminal(ws: Workspace) -> None:
    path = ws.recipe("P/recipes/mine.yaml", DESCRIPTION)
    script = 'if grep -q engine "$1"; then sed -i /engine/d "$1"; else echo "engine: marvin" >> "$1"; fi'
    ws.run("recipes", "edit", "mine", env=editor(ws, script), tty=True, typed="y\n").expect()
    assert "engine: marvin" in path.read_text()


def test_edit_mends_a_broken_recipe(ws: Workspace) -> None:
    path = ws.write("P/recipes/mine.yaml", f"description: >-\n  {DESCRIPTION}\n")
    ws.run("recipes", "edit", "mine", env=editor(ws, 'echo "engine: ford" >> "$1"')).expect()
    assert path.read_text().endswith("engine: ford\n")


def test_edit_loses_no_change_of_another(ws: Workspace) -> None:
    path = ws.recipe("P/recipes/mine.yaml", DESCRIPTION)
    script = f'echo "title: mine" >> "$1"; echo "title: theirs" >> {path}'
    refused = ws.run("recipes", "edit", "mine", env={**editor(ws, script), "TMPDIR": str(ws.root)}).expect(2)
    assert "changed by someone else" in refused.stderr
    assert path.read_text().endswith("title: theirs\n")
    (draft,) = ws.root.glob("vancectl-*/mine.yaml")
    assert draft.read_text().endswith("title: mine\n")


def test_edit_of_what_is_bundled_shows_the_way(ws: Workspace) -> None:
    assert (
        "`vancectl recipes copy essay`" in ws.run("recipes", "edit", "essay", env=editor(ws, "exit 9")).expect(2).stderr
    )


def test_an_editor_that_fails_or_is_not_there(ws: Workspace) -> None:
    path = ws.recipe("P/recipes/mine.yaml", DESCRIPTION)
    before = path.read_bytes()
    assert "ended with status 3" in ws.run("recipes", "edit", "mine", env=editor(ws, "exit 3")).expect(2).stderr
    missing = ws.run("recipes", "edit", "mine", env={"EDITOR": "no-such-editor", "TMPDIR": str(ws.root)}).expect(2)
    assert "cannot be started" in missing.stderr
    assert not list(ws.root.glob("vancectl-*"))
    assert path.read_bytes() == before


def test_an_unchanged_recipe_is_not_written(ws: Workspace) -> None:
    path = ws.recipe("P/recipes/mine.yaml", DESCRIPTION)
    os.utime(path, (1, 1))
    ws.run("recipes", "edit", "mine", env=editor(ws, "true")).expect()
    assert path.stat().st_mtime == 1


def test_new_over_a_bundled_name_says_which_phrases_are_gone(ws: Workspace) -> None:
    said = ws.run("recipes", "new", "python", "--description", DESCRIPTION, tty=True).expect()
    assert "takes the place of the bundled recipe" in said.stderr
    assert "of its" in said.stderr
    assert "“run python”" in said.stderr


@pytest.mark.parametrize("layer", ["B", "T", "P"])
def test_a_copy_under_another_name_says_whose_phrases_it_takes(ws: Workspace, layer: str) -> None:
    ws.recipe(f"{layer}/recipes/feed.yaml", DESCRIPTION, triggers=["feed the quokkas", "feed a quokka"])
    ws.recipe(f"{layer}/recipes/weigh.yaml", DESCRIPTION, triggers=["please feed the quokkas"])
    shown = ws.run("recipes", "copy", "feed", "--as", "mine", tty=True).expect().stderr
    assert "tasks with phrases of `feed` now go to the model, since `mine` is hit as well: “feed the quokkas”" in shown
    assert "never be the only hit" not in shown
    ws.path("P/recipes/mine.yaml").unlink()
    told = ws.run("recipes", "copy", "feed", "--as", "mine").expect().json
    assert {each["recipe"]: each["phrases"] for each in told["takes"]}["feed"] == ["feed the quokkas", "feed a quokka"]
    assert "weigh" in {each["recipe"] for each in told["takes"]}


def test_a_recipe_of_its_own_takes_nothing(ws: Workspace) -> None:
    told = ws.run("recipes", "new", "mine", "--trigger", "feed the quokkas").expect().json
    assert told["takes"] == []


# What editors read.


@pytest.mark.parametrize(
    ("command", "layer", "path", "schema"),
    [
        (["new", "mine"], "P", "mine.yaml", "../schemas/recipe.json"),
        (["new", "team/a/mine", "--to", "tenant"], "T", "team/a/mine.yaml", "../../../schemas/recipe.json"),
        (["copy", "essay", "--as", "mine"], "P", "mine.yaml", "../schemas/recipe.json"),
    ],
)
def test_a_new_recipe_names_a_schema_that_is_there(
    ws: Workspace, command: list[str], layer: str, path: str, schema: str
) -> None:
    ws.run("recipes", *command).expect()
    made = ws.path(f"{layer}/recipes/{path}")
    first, rest = made.read_text().split("\n", 1)
    assert first == f"# yaml-language-server: $schema={schema}"
    assert (made.parent / schema).read_text() == ws.run("schema", "recipe", "--json").expect().stdout
    assert "yaml-language-server" not in rest
    ws.run("recipes", "copy", "mine" if layer == "P" else "team/a/mine", "--as", "x/twice").expect()
    twice = ws.path("P/recipes/x/twice.yaml").read_text()
    assert twice.count("$schema=") == 1
    assert twice.startswith("# yaml-language-server: $schema=../../schemas/recipe.json\n")


def test_a_schema_that_is_there_is_kept_and_one_that_cannot_be_written_is_no_error(ws: Workspace) -> None:
    mine = ws.write("P/recipes/../schemas/recipe.json", "{}")
    ws.run("recipes", "new", "one").expect()
    assert mine.read_text() == "{}"
    mine.unlink()
    mine.parent.rmdir()
    mine.parent.symlink_to(ws.root)
    done = ws.run("recipes", "new", "two").expect()
    assert "the schema for editors was not written" in done.stderr
    assert not (ws.root / "recipe.json").exists()
