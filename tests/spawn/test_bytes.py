"""Paths and sessions that are no UTF-8 keep nothing from being delegated."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.workspace import Workspace

LATIN = os.fsdecode(b"caf\xe9")


@pytest.mark.parametrize("command", [["cat"], ["cat", "{payload_file}"]], ids=["stdin", "file"])
@pytest.mark.parametrize("wait", ["--wait", "--no-wait"])
def test_a_folder_in_latin_1(ws: Workspace, command: list[str], wait: str) -> None:
    folder = ws.root / LATIN
    (folder / ".vance/recipes").mkdir(parents=True)
    (folder / ".vance/recipes/good.yaml").write_text("description: d\nengine: ford\n")
    ws.settings({"spawn.command": [*command]})
    ws.run("delegate", "--name", "a", wait, "--recipe", "good", "x", cwd=folder).expect()
    ws.run("processes", "wait", "a", cwd=folder).expect()
    if wait == "--wait":
        reply = subprocess.run(
            [*ws.command, "delegate", "--recipe", "good", "x"],
            cwd=folder, env=ws.environment(), capture_output=True, check=True,
        ).stdout  # fmt: skip
        assert json.loads(reply)["process"]["reply"]["task"] == "x"
