"""The compiled inventory: never a wrong answer and never an error, at worst a slower start."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tests.workspace import Workspace
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.compiled import CompiledLayer
from vancectl.inventory.layer import Layer, LayerKind, find_layers
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.reading.compiled import stamp_of

LONG_AGO = 1_600_000_000


def library(ws: Workspace, count: int = 3) -> Path:
    for number in range(count):
        ws.recipe(f"P/library/job-{number}.yaml", f"Job {number}.", triggers=[f"do job {number}"])
    return ws.path("P/library")


def settle(folder: Path) -> None:
    """Waits until the files are older than the coarsest clock of a file system."""
    newest = max(path.stat().st_ctime for path in folder.iterdir())
    time.sleep(max(0.0, newest + 2.1 - time.time()))


def parsed(folder: Path) -> int:
    """How many files a run reads."""
    cascade = Cascade(find_layers(folder.parent, directories=[folder]))
    list(cascade.entries())
    return cascade.parsed


def compiled_file(ws: Workspace) -> Path:
    [found] = (ws.cache / "inventory").iterdir()
    return found


def names(ws: Workspace, folder: Path, *more: str) -> list[str]:
    return [row["description"] for row in ws.run("recipes", "list", "--recipes", folder, *more).expect().json]


def test_a_file_is_parsed_once_and_again_when_it_changes(ws: Workspace) -> None:
    folder = library(ws)
    settle(folder)
    assert parsed(folder) == 3
    assert parsed(folder) == 0
    ws.recipe("P/library/job-1.yaml", "Changed.")
    assert parsed(folder) == 1
    (folder / "job-2.yaml").unlink()
    ws.recipe("P/library/job-3.yaml", "New.")
    assert parsed(folder) == 2  # the new one, and the changed one, which is still too young to be believed
    settle(folder)
    assert parsed(folder) == 2
    assert parsed(folder) == 0


@pytest.mark.parametrize("put_back", [False, True], ids=["within one tick", "and its time put back"])
def test_an_edit_within_the_same_second_and_of_the_same_size_is_seen(ws: Workspace, put_back: bool) -> None:
    path = ws.recipe("P/library/a.yaml", "old", triggers=["alpha"])
    for turn in range(5):
        expected = f"{turn:03d}"
        before = path.stat()
        with path.open("r+") as file:  # in place: the same inode
            content = file.read().replace("old" if turn == 0 else f"{turn - 1:03d}", expected)
            file.seek(0)
            file.write(content)
        if put_back:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size
        assert names(ws, path.parent) == [expected]


def test_a_file_with_an_old_time_is_seen_when_it_is_replaced(ws: Workspace) -> None:
    folder = library(ws, 1)
    os.utime(folder / "job-0.yaml", (LONG_AGO, LONG_AGO))
    settle(folder)
    assert names(ws, folder) == ["Job 0."]
    other = ws.recipe("P/other.yaml", "Job X.", triggers=["do job X"])
    os.utime(other, (LONG_AGO, LONG_AGO))
    os.replace(other, folder / "job-0.yaml")
    assert names(ws, folder) == ["Job X."]


def test_broken_recipes_and_warnings_come_back_as_they_were(ws: Workspace) -> None:
    folder = library(ws, 1)
    ws.write("P/library/bad.yaml", "engine: ford\n")
    ws.write("P/library/odd.yaml", "description: Odd.\nengine: ford\ncolour: red\n")
    settle(folder)
    first = ws.run("recipes", "show", "bad", "--recipes", folder)
    listed = ws.run("recipes", "list", "--recipes", folder).expect()
    again = ws.run("recipes", "list", "--recipes", folder).expect()
    assert (again.stdout, again.stderr) == (listed.stdout, listed.stderr)
    assert parsed(folder) == 0
    assert ws.run("recipes", "show", "bad", "--recipes", folder) == first.expect(2)
    shown = ws.run("recipes", "show", "odd", "--recipes", folder).expect()
    assert shown.stderr.count("`colour`") == 1
    assert shown.json["applied"]["colour"] == "red"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\0" * 100),
        lambda path: path.write_bytes(path.read_bytes()[:-7]),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\xff"),
        lambda path: path.write_bytes(path.read_bytes().replace(b"job-1", b"job-9")),
        lambda path: path.write_bytes(path.read_bytes().replace(b"'directory'", b"'bundled--'")),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), path.symlink_to("/nope/at/all")),
        lambda path: shutil.rmtree(path.parent),
    ],
    ids=["empty", "zeros", "cut", "one byte", "other names", "another layer's", "a folder", "a dead link", "gone"],
)
def test_a_spoilt_cache_is_read_past(ws: Workspace, spoil: object) -> None:
    folder = library(ws)
    settle(folder)
    expected = names(ws, folder)
    assert callable(spoil)
    spoil(compiled_file(ws))
    result = ws.run("recipes", "list", "--recipes", folder).expect()
    assert [row["description"] for row in result.json] == expected == ["Job 0.", "Job 1.", "Job 2."]
    assert result.stderr == ""


@pytest.mark.parametrize("place", ["a file", "/dev/full/cache", "/proc/nowhere"])
def test_a_cache_that_cannot_be_written_is_no_error(ws: Workspace, place: str) -> None:
    folder = library(ws)
    if place == "a file":
        ws.write("C/../taken", "a file")
        place = str(ws.root / "taken")
    result = ws.run("recipes", "list", "--recipes", folder, env={"VANCECTL_CACHE_DIR": place}).expect()
    assert (len(result.json), result.stderr) == (3, "")


def test_without_cache_every_file_is_read_and_nothing_is_kept(ws: Workspace) -> None:
    folder = library(ws)
    settle(folder)
    assert names(ws, folder, "--no-cache") == ["Job 0.", "Job 1.", "Job 2."]
    assert not (ws.cache / "inventory").exists()


def test_many_runs_at_once_all_answer_rightly(ws: Workspace) -> None:
    folder = library(ws, 40)
    settle(folder)
    started = [ws.start("recipes", "list", "--recipes", folder) for _ in range(8)]
    answers = [ws.finish(process).expect() for process in started]
    assert {len(answer.json) for answer in answers} == {40}
    assert {answer.stderr for answer in answers} == {""}
    assert parsed(folder) == 0
    assert [path.name for path in (ws.cache / "inventory").iterdir()] == [compiled_file(ws).name]  # no left-overs


def test_what_one_layer_shadows_stays_compiled_for_where_it_is_in_force(ws: Workspace) -> None:
    ws.recipe("T/recipes/shared.yaml", "The tenant's.")
    ws.recipe("P/recipes/shared.yaml", "The project's.")
    ws.write("P/elsewhere/.git", "")
    settle(ws.path("T/recipes"))
    found = {}
    for turn in range(2):
        for cwd in (ws.project, ws.path("P/elsewhere")):
            cascade = Cascade(find_layers(cwd))
            list(cascade.entries())
            found[turn, cwd] = cascade.parsed
    assert [found[1, cwd] for cwd in (ws.project, ws.path("P/elsewhere"))] == [0, 0]


def test_a_young_entry_is_not_believed(ws: Workspace) -> None:
    path = ws.recipe("P/library/a.yaml", "A.")
    layer = Layer(LayerKind.DIRECTORY, path.parent)
    recipe = Recipe("a", layer, str(path), {"description": "A.", "engine": "ford"})
    compiled = CompiledLayer(layer)
    compiled.put("a.yaml", stamp_of(path.stat()), recipe)
    assert compiled.get("a.yaml", stamp_of(path.stat()), "a", str(path)) is None
    settle(path.parent)
    compiled.put("a.yaml", stamp_of(path.stat()), recipe)
    known = compiled.get("a.yaml", stamp_of(path.stat()), "a", str(path))
    assert known is not None
    assert not isinstance(known, BrokenRecipe)
    assert known.fields == recipe.fields


def test_a_full_disk_is_no_error(ws: Workspace) -> None:
    folder = library(ws)
    settle(folder)
    shell = Workspace(ws.root, ("/bin/sh",))
    listing = f"ulimit -f 0; exec {ws.command[0]} recipes list --recipes {folder} | cat"
    result = shell.run("-c", listing).expect()
    assert (len(result.json), result.stderr) == (3, "")
    assert not list((ws.cache / "inventory").glob("*"))  # no half of a file is left
