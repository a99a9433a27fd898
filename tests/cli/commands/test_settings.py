"""`vancectl settings show`: every value, who set it, and where."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace
from vancectl.settings.keys import KINDS


def test_all_keys_in_their_order_with_source_and_file(ws: Workspace) -> None:
    path = ws.settings(spawn__stdin="none")
    shown = ws.run("settings", "show").expect().json
    assert [row["key"] for row in shown] == list(KINDS)
    assert {tuple(row) for row in shown} == {("key", "value", "source", "origin", "variable")}
    (stdin,) = [row for row in shown if row["key"] == "spawn.stdin"]
    assert stdin == {
        "key": "spawn.stdin", "value": "none", "source": "tenant", "origin": str(path),
        "variable": "VANCECTL_SPAWN__STDIN",
    }  # fmt: skip


def test_one_key(ws: Workspace) -> None:
    shown = ws.run("settings", "show", "spawn.stdin", "--set", "spawn.stdin=task").expect()
    assert [(row["key"], row["value"], row["source"]) for row in shown.json] == [("spawn.stdin", "task", "option")]
    assert shown.stderr == ""


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("spawn.stdn", "did you mean `spawn.stdin`?"),
        ("SPAWN.STDIN", "did you mean `spawn.stdin`?"),
        ("models.", "did you mean `models`?"),
        ("spawn.engines.ford.comand", "did you mean `spawn.engines.ford.command`?"),
        ("nonsense", "`vancectl settings show` lists all keys"),
    ],
)
def test_an_unknown_key(ws: Workspace, key: str, told: str) -> None:
    failed = ws.run("settings", "show", key).expect(2)
    assert (failed.stdout, failed.stderr) == ("", f"error: there is no setting `{key}`\n  help: {told}\n")


def test_at_a_terminal_it_is_a_table_with_the_place_of_the_tenant_s_file(ws: Workspace) -> None:
    ws.settings(spawn__stdin="none")
    shown = ws.run("settings", "show", "-v", tty=True, columns=500).expect()
    assert [line.split() for line in shown.stdout.splitlines() if "spawn.stdin" in line] == [
        ["spawn.stdin", '"none"', "tenant", str(ws.path("T/settings.yaml"))]
    ]
    assert not shown.stdout.startswith("[")
    assert shown.stderr == f"note: the tenant's file is {ws.path('T/settings.yaml')}\n"


@pytest.mark.parametrize("columns", [40, 80])
def test_a_narrow_terminal_still_shows_every_key_whole(ws: Workspace, columns: int) -> None:
    shown = ws.run("settings", "show", tty=True, columns=columns, env={"NO_COLOR": "1"}).expect().stdout
    assert [key for key in KINDS if key not in shown] == []


def test_json_at_a_terminal(ws: Workspace) -> None:
    shown = ws.run("settings", "show", "spawn.stdin", "--json", tty=True).expect()
    assert shown.json[0]["key"] == "spawn.stdin"


def test_a_value_cannot_act_on_the_terminal(ws: Workspace) -> None:
    ws.settings(spawn__command=["a\x1b[31m", "\u202eb"])
    shown = ws.run("settings", "show", "spawn.command", tty=True, columns=200).expect().stdout
    assert "\u202e" not in shown
    assert "\x1b[31m" not in shown


def test_without_a_home(ws: Workspace) -> None:
    nowhere = {"HOME": "", "VANCECTL_CONFIG_DIR": None}
    shown = ws.run("settings", "show", "spawn.stdin", env=nowhere).expect()
    assert (shown.json[0]["source"], shown.stderr) == ("bundled", "")


@pytest.mark.parametrize("tenant", ["../x", "a/b", "", ".", "-a"])
def test_no_tenant_s_name(ws: Workspace, tenant: str) -> None:
    failed = ws.run("settings", "show", f"--tenant={tenant}")
    assert f"error: `{tenant}` is no tenant's name" in failed.expect(2).stderr
