"""`--quiet` and `--verbose` are taken by every command, also by one that reads neither recipes nor settings."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace

COMMANDS = [
    ("processes", "list"),
    ("processes", "show"),
    ("processes", "logs"),
    ("processes", "wait"),
    ("processes", "stop"),
    ("catalog", "show"),
    ("catalog", "reload"),
    ("spawn", "list"),
    ("spawn", "test"),
    ("worker",),
    ("chat",),
    ("select",),
    ("delegate",),
    ("check",),
    ("log",),
    ("settings", "show"),
    ("recipes", "list"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_takes_them(ws: Workspace, command: tuple[str, ...]) -> None:
    # `--help` ends a run before anything is done, but behind the reading of the options in front of it.
    for options in (["--quiet"], ["-q"], ["--verbose"], ["-vv"]):
        shown = ws.run(*command, *options, "--help").expect().stdout
        assert "--quiet" in shown
        assert "--verbose" in shown


def test_quiet_leaves_out_the_warnings_of_the_catalog(ws: Workspace) -> None:
    ws.write("B/catalog/engines.yaml", "engines:\n  ford: {purpose: p, when_to_use: w, not_for: n}\n")
    ws.run("catalog", "show").expect()  # so that there is a last good one of this file
    ws.write("B/catalog/engines.yaml", "engines: 5\n")
    loud = ws.run("catalog", "show").expect()
    quiet = ws.run("catalog", "show", "--quiet").expect()
    assert loud.stderr.startswith("warning: the engine catalog is broken")
    assert (quiet.stdout, quiet.stderr) == (loud.stdout, "")


def test_a_process_that_is_missing_is_an_error_however_quiet(ws: Workspace) -> None:
    assert ws.run("processes", "show", "nope", "-q").expect(2).stderr.startswith("error: there is no process `nope`")
    assert ws.run("processes", "list", "-q", "-v").expect().json == []
