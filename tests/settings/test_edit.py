"""`settings set`, `unset`, `edit`, `path` and `keys`: the tenant's file is changed, and what its author wrote stays."""

from __future__ import annotations

import stat

import pytest

from tests.workspace import Workspace

WRITTEN = """# mine
spawn:   # how
  preset: claude  # the program
trust:
  folders:
    - /a  # one
"""


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        (None, ("spawn.preset", "claude"), "spawn:\n  preset: claude\n"),
        ("# mine\n", ("spawn.preset", "claude"), "# mine\nspawn:\n  preset: claude\n"),
        (WRITTEN, ("spawn.preset", "worker"), WRITTEN.replace("claude", "worker")),
        (WRITTEN, ("spawn.env.DEBUG", "1"), WRITTEN.replace("program\n", "program\n  env:\n    DEBUG: '1'\n")),
        (WRITTEN, ("selector.timeout", "20"), WRITTEN + "selector:\n  timeout: 20\n"),
        (WRITTEN, ("selector.command", '["a", "b"]'), WRITTEN + "selector:\n  command:\n    - a\n    - b\n"),
        (WRITTEN, ("models.default:fast", "x"), WRITTEN + "models:\n  default:fast: x\n"),
        ("spawn: {preset: claude}\n", ("spawn.stdin", "none"), "spawn: {preset: claude, stdin: none}\n"),
        ("spawn:\r\n  preset: claude\r\n", ("spawn.stdin", "none"), "spawn:\r\n  preset: claude\r\n  stdin: none\r\n"),
        ('spawn: {preset: "claude"}\n', ("log.tasks", "true"), 'spawn: {preset: "claude"}\nlog:\n  tasks: true\n'),
    ],
)
def test_a_value_is_set_and_the_rest_stays(
    ws: Workspace, before: str | None, words: tuple[str, ...], after: str
) -> None:
    path = ws.path("T/settings.yaml")
    if before is not None:
        ws.write("T/settings.yaml", before)
    ws.run("settings", "set", *words).expect()
    assert path.read_bytes().decode() == after
    if before is None:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = ws.run("settings", "show", words[0].partition(".DEBUG")[0].partition(".default")[0]).expect().json[0]
    assert shown["source"] == "tenant"
    assert ws.run("settings", "set", *words).expect().stderr == f"note: nothing to change in {path}\n"


@pytest.mark.parametrize(
    ("key", "after"),
    [
        ("spawn.preset", WRITTEN.replace("spawn:   # how\n  preset: claude  # the program\n", "")),
        ("trust.folders", WRITTEN.split("trust", maxsplit=1)[0]),
        ("selector.model", WRITTEN),
    ],
)
def test_a_value_is_taken_out(ws: Workspace, key: str, after: str) -> None:
    path = ws.write("T/settings.yaml", WRITTEN)
    ws.run("settings", "unset", key).expect()
    assert path.read_text() == after
    assert ws.run("settings", "show", key).expect().json[0]["source"] == "bundled"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("spawn.stdn", "none"), "did you mean `spawn.stdin`?"),
        (("selector.timeout", "soon"), "`selector.timeout` in VALUE must be a number of seconds above 0"),
        (("selector.timeout", "-1"), "`selector.timeout` in VALUE must be a number of seconds above 0"),
        (("spawn.stdin", "all"), "`spawn.stdin` in VALUE must be one of"),
    ],
)
def test_what_cannot_be_set_changes_nothing(ws: Workspace, words: tuple[str, ...], said: str) -> None:
    path = ws.write("T/settings.yaml", WRITTEN)
    assert said in ws.run("settings", "set", "--", *words).expect(2).stderr
    assert path.read_text() == WRITTEN


@pytest.mark.parametrize(
    ("content", "said"),
    [("spawn: [\n", "the settings are broken"), ("trust: [/a]\n", "cannot be edited here: `trust` is not a mapping")],
)
def test_a_file_that_cannot_be_edited_stays_as_it_is(ws: Workspace, content: str, said: str) -> None:
    path = ws.write("T/settings.yaml", content)
    assert said in ws.run("settings", "set", "trust.required", "true").expect(2).stderr
    assert path.read_text() == content


def test_a_value_that_something_nearer_sets_is_said(ws: Workspace) -> None:
    ws.env["VANCECTL_SPAWN__PRESET"] = "none"
    done = ws.run("settings", "set", "spawn.preset", "claude").expect()
    assert "warning: VANCECTL_SPAWN__PRESET sets `spawn.preset` in its place" in done.stderr


def test_the_editor_opens_the_file_and_what_it_left_is_checked(ws: Workspace) -> None:
    editor = ws.write("H/bin/editor", '#!/bin/sh\nprintf \'%s\' "$TEXT" > "$1"\n')
    editor.chmod(0o755)
    ws.env["EDITOR"] = str(editor)
    ws.run("settings", "edit", env={"TEXT": "spawn: {preset: claude}\n"}).expect()
    assert ws.run("settings", "show", "spawn.preset").expect().json[0]["value"] == "claude"
    broken = ws.run("settings", "edit", env={"TEXT": "spawn: [\n"}).expect(2)
    assert f"{ws.path('T/settings.yaml')}:2:1: the settings are broken" in broken.stderr
    ws.run("settings", "edit", env={"TEXT": "log: {tasks: true}\n"}).expect()  # a broken file is opened, too


def test_paths_and_keys_need_no_file_that_is_in_order(ws: Workspace) -> None:
    path = ws.write("T/settings.yaml", "spawn: [\n")
    assert ws.run("settings", "path").expect().json[0] == {"source": "tenant", "path": str(path), "exists": True}
    keys = {row["key"]: row for row in ws.run("settings", "keys").expect().json}
    assert (keys["spawn.stdin"]["default"], keys["limits.attempts"]["holds"]) == (
        "payload",
        "a whole number, at least 1",
    )
    shown = ws.run("settings", "show", "limits").expect(2)
    assert [row["key"].partition(".")[0] for row in shown.json] == ["limits"] * 7
    assert f"error: {path}:2:1: the settings are broken" in shown.stderr


def test_a_new_file_names_the_schema_for_editors(ws: Workspace) -> None:
    ws.program("editor", "true")
    ws.run("settings", "edit", env={"EDITOR": "editor"}).expect()
    assert ws.path("T/settings.yaml").read_text().startswith("# yaml-language-server: $schema=schemas/settings.json\n")
    assert ws.path("T/schemas/settings.json").read_text() == ws.run("schema", "settings").expect().stdout
    assert ws.run("settings", "show", "spawn.preset").expect().json[0]["source"] == "bundled"
