"""`recipes diff REV:path` reads blobs: no program of the repository runs, and odd files hide nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workspace import Workspace

LONG = "Does one clearly named thing for people; take it when they ask for that thing and nothing else."
SIDES = ("HEAD:.vance/recipes", ".vance/recipes")


def git(ws: Workspace, *arguments: str, cwd: Path | None = None) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always", *arguments],
        cwd=cwd or ws.project, env=ws.environment(), check=True, capture_output=True,
    )  # fmt: skip


def commit(ws: Workspace) -> None:
    git(ws, "add", "-A")
    git(ws, "commit", "-qm", "state")


@pytest.fixture
def repository(ws: Workspace) -> Workspace:
    ws.recipe("P/.vance/recipes/ship.yaml", LONG, triggers=["ship it"])
    ws.recipe("P/.vance/recipes/sub/deep.yaml", LONG, triggers=["deep thing"])
    git(ws, "init", "-q", "-b", "main")
    commit(ws)
    return ws


def same(ws: Workspace, *sides: str, cwd: str = "P") -> None:
    ws.run("recipes", "diff", *(sides or SIDES), "--alone", "--exit-code", cwd=cwd).expect(0)


def evil(ws: Workspace) -> tuple[Path, Path]:
    left = ws.path("P/left")
    program = ws.path("P/evil")
    program.write_text(f"#!/bin/sh\ntouch '{left}'\ncat\n")
    program.chmod(0o755)
    return program, left


@pytest.mark.parametrize("key", ["filter.x.smudge", "filter.x.process", "diff.x.textconv", "core.fsmonitor"])
def test_no_program_of_the_configuration_runs(repository: Workspace, key: str) -> None:
    repository.path("P/.vance/recipes/.gitattributes").write_text("* filter=x diff=x\n")
    commit(repository)
    program, left = evil(repository)
    git(repository, "config", key, str(program))
    same(repository)
    assert not left.exists()


def test_no_program_of_a_folder_shaped_like_a_bare_repository_runs(repository: Workspace) -> None:
    program, left = evil(repository)
    inner = repository.path("P/inner")
    git(repository, "clone", "-q", "--bare", ".", "inner")
    git(repository, "config", "filter.x.smudge", str(program), cwd=inner)
    (inner / "info/attributes").write_text("* filter=x\n")
    same(repository, SIDES[0], "HEAD:.vance/recipes", cwd="P/inner")
    assert not left.exists()


def test_objects_that_are_not_here_are_not_fetched(repository: Workspace) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    partial = repository.path("P/partial")
    git(repository, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repository.project}", "partial")
    program, left = evil(repository)
    git(repository, "config", "remote.origin.uploadpack", str(program), cwd=partial)
    done = repository.run("recipes", "diff", SIDES[0], SIDES[0], cwd="P/partial").expect(2)
    assert "cannot be read" in done.stderr
    assert not left.exists()


def test_a_large_file_is_not_read(repository: Workspace) -> None:
    repository.path("P/.vance/recipes/large.yaml").write_bytes(b"#" * 5_000_000)
    commit(repository)
    same(repository)


def test_attributes_leave_nothing_out(repository: Workspace) -> None:
    repository.path("P/.vance/recipes/.gitattributes").write_text("sub export-ignore\n")
    commit(repository)
    same(repository)


def test_a_submodule_is_named(repository: Workspace) -> None:
    git(repository, "clone", "-q", ".", ".vance/recipes/lib")
    commit(repository)
    done = repository.run("recipes", "diff", *SIDES).expect(2)
    assert "`lib` in it is a submodule" in done.stderr


@pytest.mark.parametrize("target", ["../../shared.yaml", "/etc/passwd", "nowhere"])
def test_a_link_that_leaves_breaks_one_recipe(repository: Workspace, target: str) -> None:
    shutil.copy(repository.path("P/.vance/recipes/ship.yaml"), repository.path("P/shared.yaml"))
    os.symlink(target, repository.path("P/.vance/recipes/poem.yaml"))
    commit(repository)
    same(repository)


def test_a_shallow_clone_says_how_to_get_the_rest(repository: Workspace) -> None:
    commit_file = repository.path("P/more")
    commit_file.write_text("x")
    commit(repository)
    git(repository, "clone", "-q", "--depth", "1", f"file://{repository.project}", "shallow")
    done = repository.run("recipes", "diff", "HEAD~1:.vance/recipes", SIDES[1], cwd="P/shallow").expect(2)
    assert "there is no revision `HEAD~1` here" in done.stderr
    assert "git fetch --unshallow" in done.stderr


def test_a_folder_that_a_revision_lacks_is_an_empty_side(repository: Workspace) -> None:
    shutil.copytree(repository.path("P/.vance/recipes"), repository.path("P/new"))
    done = repository.run("recipes", "diff", "HEAD:new", "new", "--alone").expect(0)
    assert sorted(done.json["added"]) == ["ship", "sub/deep"]
    assert "there is no `HEAD:new`, so that side is empty" in done.stderr


def test_a_folder_that_the_working_tree_lacks_is_an_empty_side(repository: Workspace) -> None:
    shutil.rmtree(repository.path("P/.vance/recipes"))
    found = repository.run("recipes", "diff", *SIDES, "--alone").expect(0).json
    assert sorted(found["removed"]) == ["ship", "sub/deep"]


@pytest.mark.parametrize("sides", [("HEAD:new", "new"), ("HEAD:new", "HEAD~0:new")])
def test_a_folder_that_neither_side_has_is_an_error(repository: Workspace, sides: tuple[str, str]) -> None:
    assert "neither" in repository.run("recipes", "diff", *sides).expect(2).stderr


@pytest.mark.parametrize("cwd", ["P", "P/.vance", "P/.vance/recipes/sub"])
def test_a_path_that_begins_with_a_dot_is_read_from_the_working_directory(repository: Workspace, cwd: str) -> None:
    here = os.path.relpath(repository.path("P/.vance/recipes"), repository.path(cwd))
    same(repository, f"HEAD:./{here}", here, cwd=cwd)


def test_what_stands_on_the_way_to_a_folder_is_named(repository: Workspace) -> None:
    git(repository, "clone", "-q", ".", "lib")
    os.symlink(".vance", repository.path("P/linked"))
    commit(repository)
    for name, said in (("lib", "`lib` is a submodule"), ("linked", "`linked` is a link to `.vance`")):
        done = repository.run("recipes", "diff", f"HEAD:{name}/recipes", ".vance/recipes").expect(2)
        assert said in done.stderr


@pytest.mark.parametrize("target", ["ship.yaml", "../recipes/ship.yaml", "../../.vance/recipes/sub/deep.yaml"])
def test_a_link_that_stays_is_followed(repository: Workspace, target: str) -> None:
    os.symlink(target, repository.path("P/.vance/recipes/alias.yaml"))
    commit(repository)
    same(repository)
    found = repository.run("recipes", "diff", "HEAD~1:.vance/recipes", SIDES[0], "--alone").expect(0)
    assert found.json["added"] == ["alias"]
    assert "broken" not in found.stderr


def test_a_tree_that_lists_itself_without_end_is_refused(repository: Workspace) -> None:
    def made(*words: str, said: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *words], cwd=repository.project, env=repository.environment(), input=said, check=True,
            capture_output=True,
        )  # fmt: skip
        return done.stdout.decode().strip()

    name, kind, mode = made("hash-object", "-w", "--stdin"), "blob", "100644"
    for _ in range(10):
        name = made("mktree", said="".join(f"{mode} {kind} {name}\tx{each}\n" for each in range(10)).encode())
        kind, mode = "tree", "040000"
    done = repository.run("recipes", "diff", f"{name}:x0", SIDES[1]).expect(2)
    assert "more than a folder of recipes would" in done.stderr


def test_the_environment_of_a_hook_names_no_other_repository(repository: Workspace) -> None:
    git(repository, "init", "-q", "--bare", "other")
    repository.env["GIT_DIR"] = str(repository.path("P/other"))
    same(repository)


def test_what_git_says_of_another_owner_is_passed_on(repository: Workspace) -> None:
    repository.env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    done = repository.run("recipes", "diff", *SIDES).expect(2)
    assert "dubious ownership" in done.stderr
    assert "git config --global --add safe.directory" in done.stderr.replace("\n", " ")


def test_two_revisions_of_a_bare_repository(repository: Workspace) -> None:
    repository.recipe("P/.vance/recipes/more.yaml", LONG)
    commit(repository)
    git(repository, "clone", "-q", "--bare", ".", "bare.git")
    sides = ("HEAD~1:.vance/recipes", "HEAD:.vance/recipes")
    found = repository.run("recipes", "diff", *sides, "--alone", cwd="P/bare.git").expect(0).json
    assert found["added"] == ["more"]
