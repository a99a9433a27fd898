"""Folders that may not be entered: an error names them, and what does not need them goes on."""

import os
import shutil

import pytest

from tests.workspace import Result, Workspace

COMMANDS = (
    "select fix",
    "delegate --dry-run fix",
    "processes list",
    "processes remove a",
    "log",
    "settings show",
    "recipes list",
    "recipes lint",
    "check",
    "catalog show",
)
# root enters every folder as long as it has the capability to.
POWERLESS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


def run(ws: Workspace, words: str) -> Result:
    argv = words.split()
    if os.geteuid() != 0:
        return ws.run(*argv)
    if shutil.which(POWERLESS[0]) is None:
        pytest.skip("setpriv is missing, and root may enter every folder")
    return Workspace(ws.root, (*POWERLESS, *ws.command)).run(*argv)


@pytest.mark.parametrize("folder", ["state", "config", "cache", "project/.vance"])
def test_a_folder_that_may_not_be_entered_is_no_defect(ws: Workspace, folder: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix"])
    closed = ws.root / folder
    closed.mkdir(exist_ok=True)
    closed.chmod(0)
    try:
        for words in COMMANDS:
            ended = run(ws, words)
            assert ended.status in (0, 1, 2, 3), ended
            assert "unexpectedly" not in ended.stderr, ended
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize("words", ["processes list", "processes show a", "processes remove a"])
def test_records_that_cannot_be_reached_are_not_none(ws: Workspace, words: str) -> None:
    ws.state.write_text("in the place of a folder", encoding="utf-8")
    refused = ws.run(*words.split()).expect(3)
    assert str(ws.state / "processes.sqlite3") in refused.stderr
