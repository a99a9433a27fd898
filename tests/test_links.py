"""Nothing is written through a link that a project may have brought along, whatever command writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Workspace
from vancectl.disk.storage import LinkError, boundary_of, create_below, open_below, write_below

REFUSED = "is a link, and nothing is written through one"
YAML = "description: Writes notes. Take it for notes.\nengine: ford\n"


@pytest.fixture
def outside(ws: Workspace) -> Path:
    folder = ws.root / "outside"
    folder.mkdir()
    (folder / "held.yaml").write_text(YAML)
    return folder


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("recipes/team", ["recipes", "new", "team/x"]),
        ("recipes/team", ["recipes", "new", "team/deep/x"]),
        ("recipes/team", ["recipes", "copy", "python", "--as", "team/p2"]),
        ("recipes/a/b", ["recipes", "copy", "python", "--as", "a/b/c/p2"]),
        ("docs", ["recipes", "map", "--svg", ".vance/docs/map.svg"]),
        ("docs", ["recipes", "map", "--svg", ".vance/docs/new/map.svg"]),
    ],
)
def test_a_folder_that_is_a_link(ws: Workspace, outside: Path, link: str, words: list[str]) -> None:
    path = ws.project / ".vance" / link
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    refused = ws.run(*words).expect(2)
    assert f"{path}: {REFUSED}" in refused.stderr
    assert [item.name for item in outside.iterdir()] == ["held.yaml"]


@pytest.mark.parametrize("target", ["held.yaml", "not-there.yaml"])
def test_a_file_that_is_a_link(ws: Workspace, outside: Path, target: str) -> None:
    path = ws.project / ".vance" / "recipes" / "x.yaml"
    path.parent.mkdir(parents=True)
    path.symlink_to(outside / target)
    ws.run("recipes", "new", "x").expect(2)
    ws.run("recipes", "edit", "x", env={"EDITOR": "true"}).expect(2)
    drawn = ws.run("recipes", "map", "--svg", ".vance/recipes/x.yaml").expect(2)
    assert f"{path}: {REFUSED}" in drawn.stderr
    assert (outside / "held.yaml").read_text() == YAML
    assert [item.name for item in outside.iterdir()] == ["held.yaml"]


def test_the_recipe_author_writes_through_no_link(ws: Workspace, messages: MessagesServer, outside: Path) -> None:
    ws.model(messages)
    ws.recipe("P/recipes/good.yaml", engine="slartibartfast", triggers=["fix tests"])
    link = ws.path("P/recipes/_slart")
    link.symlink_to(outside)
    messages.reply(scripted.text(f"name: notes\n```yaml\n{YAML}```"))
    failed = ws.run("delegate", "fix tests").expect(3)
    assert f"{link}: {REFUSED}" in failed.stderr
    assert [item.name for item in outside.iterdir()] == ["held.yaml"]


def test_the_users_own_links_are_followed(ws: Workspace, outside: Path) -> None:
    """A tenant's folder of recipes may lie with other dotfiles; nothing of it came with a clone."""
    ws.tenant.mkdir(parents=True)
    (ws.tenant / "recipes").symlink_to(outside)
    ws.run("recipes", "new", "team/x", "--to", "tenant").expect()
    assert (outside / "team" / "x.yaml").exists()
    (ws.root / "elsewhere").symlink_to(outside)
    ws.run("recipes", "map", "--svg", ws.root / "elsewhere" / "map.svg").expect()
    assert (outside / "map.svg").exists()


def test_what_is_no_text_leaves_no_file(ws: Workspace) -> None:
    assert "is not UTF-8" in ws.run("recipes", "new", "x", "--description", "caf\udce9").expect(2).stderr
    assert not ws.path("P/recipes/x.yaml").exists()


# The functions themselves.

WRITERS: list[Callable[[Path, Path], object]] = [
    lambda folder, path: write_below(folder, path, b"new"),
    lambda folder, path: create_below(folder, path, b"new"),
    lambda folder, path: os.close(open_below(folder, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)),
    lambda folder, path: os.close(open_below(folder, path, os.O_RDWR | os.O_APPEND)),
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("made", [lambda path: os.symlink("/dev/zero", path), os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_written_to(
    tmp_path: Path, write: Callable[[Path, Path], object], made: Callable[[Path], object]
) -> None:
    made(tmp_path / "file")
    with pytest.raises((LinkError, OSError)):
        write(tmp_path, tmp_path / "file")
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_file_keeps_its_mode_and_a_new_one_gets_the_usual(tmp_path: Path) -> None:
    held = tmp_path / "held"
    held.write_bytes(b"old")
    held.chmod(0o640)
    write_below(tmp_path, held, b"new")
    assert (held.read_bytes(), held.stat().st_mode & 0o777) == (b"new", 0o640)
    write_below(tmp_path, tmp_path / "a" / "new", b"new")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "a" / "new").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_project_is_known_by_whatever_name_leads_into_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "alias").symlink_to(project)
    assert boundary_of(tmp_path / "alias" / "docs" / "map.svg", project) == tmp_path / "alias"
    assert boundary_of(project / "docs" / "map.svg", project) == project
    assert boundary_of(tmp_path / "map.svg", project) == tmp_path
    assert boundary_of(tmp_path / "map.svg", None) == tmp_path
