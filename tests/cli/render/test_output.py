"""stdout carries the result and nothing else, and does no harm to a terminal, a pipe or a script."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace

HEAD = "description: x\nengine: ford\n"
C_LOCALE = {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def bare(ws: Workspace) -> Workspace:
    """Without bundled recipes to be listed."""
    ws.write("B/recipes/README.md", "")
    return ws


def shell(ws: Workspace, line: str) -> Result:
    """A line for the shell, in which `vancectl` is the command."""
    done = subprocess.run(
        ["bash", "-c", line.replace("vancectl", shlex.join(ws.command))],
        cwd=ws.project, env=ws.environment(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    return Result([line], done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode())


# JSON.


@pytest.mark.parametrize("tty", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize(
    "env",
    [{}, {"COLUMNS": "20"}, {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, C_LOCALE],
    ids=["plain", "narrow", "force color", "no color", "dumb", "C locale"],
)
def test_json_is_json_wherever_it_goes(bare: Workspace, env: dict[str, str | None], tty: bool) -> None:
    description = ("Prüfe den Entwurf – kurz 🚀 " * 20).strip()
    bare.recipe("P/recipes/review.yaml", description, triggers=["review"])
    listing = bare.run("recipes", "list", "--json", env=env, tty=tty).expect(0)
    assert [row["description"] for row in listing.json] == [description]
    shown = bare.run("recipes", "show", "review", "--json", env=env, tty=tty).expect(0)
    assert shown.json["applied"]["description"] == description
    decision = bare.run("select", "--json", "review", env=env, tty=tty).expect(0)
    assert decision.json["recipe"] == "review"
    assert "\x1b" not in listing.stdout + shown.stdout + decision.stdout


@pytest.mark.parametrize("tty", [False, True], ids=["pipe", "terminal"])
def test_what_the_model_says_is_not_wrapped(bare: Workspace, messages: MessagesServer, tty: bool) -> None:
    rationale = ("wörd " * 60).strip()
    messages.reply(scripted.match("review", rationale))
    bare.model(messages)
    bare.recipe("P/recipes/review.yaml")
    bare.recipe("P/recipes/notes.yaml")
    env = {"COLUMNS": "20", "FORCE_COLOR": "1"}
    run = bare.run("select", "--json", "look over my branch", env=env, tty=tty, columns=20).expect(0)
    assert (run.json["recipe"], run.json["rationale"]) == ("review", rationale)
    assert "\x1b" not in run.stdout


def test_stdout_holds_one_document_however_much_there_is_to_say(bare: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.match("review"))
    bare.model(messages)
    bare.recipe("P/recipes/review.yaml", colour="red")
    bare.recipe("P/recipes/notes.yaml")
    bare.write("P/recipes/bad.yaml", "[")
    bare.write("P/recipes/one.yml", HEAD)
    bare.write("P/project.yaml", "nonsense: 1\n")
    for command in (
        ["select", "look over my branch"],
        ["recipes", "list"],
        ["recipes", "show", "review"],
        ["recipes", "path"],
    ):
        run = bare.run(*command, "-vv", "--json").expect(0)
        assert run.json
        assert run.stderr.startswith("warning: ")
        assert all(line.startswith(("warning: ", "note: ")) for line in run.stderr.splitlines())
    for command in (["recipes", "show", "bad"], ["recipes", "show", "nope"], ["recipes", "nope"], ["nope"]):
        assert bare.run(*command).expect(2).stdout == ""


def test_quiet_leaves_warnings_out_but_not_errors(bare: Workspace) -> None:
    bare.recipe("P/recipes/review.yaml", colour="red", triggers=["review"])
    bare.write("P/recipes/bad.yaml", "[")
    bare.write("P/recipes/one.yml", HEAD)
    for command in (("recipes", "list"), ("recipes", "show", "review"), ("recipes", "path"), ("select", "review")):
        assert bare.run(*command, "--quiet").expect(0).stderr == ""
        assert bare.run(*command, "-q", tty=True).expect(0).stderr == ""
    assert (
        bare.run("recipes", "show", "nope", "--quiet").expect(2).stderr.startswith("error: there is no recipe `nope`")
    )


def test_keys_and_faults_show_no_secret(bare: Workspace, messages: MessagesServer) -> None:
    bare.model(messages)
    bare.recipe("P/recipes/review.yaml")
    bare.recipe("P/recipes/notes.yaml")
    secret = {"ANTHROPIC_API_KEY": "sk-test-SECRET"}
    messages.reply(scripted.not_json_200("}{"))
    for debug in ("1", "traceback"):
        run = bare.run("select", "-vv", "--json", "look over", env={**secret, "VANCECTL_DEBUG": debug}).expect(0)
        assert run.json["decision"] == "NONE"
        assert "SECRET" not in run.stdout + run.stderr
    shown = bare.run("settings", "show", "--json", env=secret).expect(0)
    assert "SECRET" not in shown.stdout + shown.stderr


# Locales.


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "LANG": None}, C_LOCALE])
def test_files_are_utf_8_whatever_the_locale(bare: Workspace, env: dict[str, str | None]) -> None:
    bare.recipe("P/recipes/brief.yaml", "Prüfe den Entwurf – kurz 🚀", triggers=["führe prüfung"])
    (row,) = bare.run("recipes", "list", "--json", env=env).expect(0).json
    assert (row["description"], row["triggers"]) == ("Prüfe den Entwurf – kurz 🚀", ["führe prüfung"])
    assert bare.run("recipes", "show", "brief", "--raw", env=env).expect(0).stdout.startswith("description: Prüfe den")
    bare.write("P/recipes/bad.yaml", "titel: grün\n")
    assert "bad.yaml" in bare.run("recipes", "show", "bad", env=env).expect(2).stderr


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, C_LOCALE])
def test_names_and_tasks_are_utf_8_whatever_the_locale(bare: Workspace, env: dict[str, str | None]) -> None:
    path = bare.recipe("P/recipes/prüfung.yaml", triggers=["führe prüfung"])
    listing = bare.run("recipes", "list", "--json", env=env).expect(0)
    assert [(row["name"], row["path"]) for row in listing.json] == [("prüfung", str(path))]
    assert listing.stderr == ""
    shown = bare.run("recipes", "show", "Prüfung", "--json", env=env).expect(0)
    assert (shown.json["name"], shown.stderr) == ("prüfung", "")
    assert bare.run("select", "--json", "führe prüfung", env=env).expect(0).json["recipe"] == "prüfung"


def test_a_terminal_without_utf_8_shows_what_it_can(bare: Workspace) -> None:
    bare.recipe("P/recipes/brief.yaml", "Prüfe 説明 kurz")
    for command in (("recipes", "list"), ("recipes", "show", "brief")):
        run = bare.run(*command, tty=True, env={**C_LOCALE, "TERM": "dumb"}).expect(0)
        assert "Pr?fe ?? kurz" in run.stdout
        assert run.stdout.isascii()


# Terminals.

EVIL = "ok\x1b[2J\x1b]0;pwn\x07 \u202eabc\u200e\u2066 \x9b31m"


def test_control_characters_of_a_cloned_project_act_on_no_terminal(bare: Workspace) -> None:
    quoted = json.dumps(EVIL)
    bare.write(
        "P/recipes/esc\x1b[2J.yaml",
        f"description: {quoted}\nengine: {quoted}\ntitle: {quoted}\nparams: {{p: {quoted}}}\n{quoted}: {quoted}\n"
        f"promptPrefix: {quoted}\ntriggers: {{keywords: [{quoted}]}}\nprofiles: {{default: {{}}, {quoted}: {{}}}}\n",
    )
    bare.write(
        "P/recipes/bad\x1b[2J\nerror: not true.yaml", f"description: x\nengine: [{quoted}]\npromptMode: {quoted}\n"
    )
    bare.write("P/recipes/odd\x1b[2J.yml", "")
    name = "esc\x1b[2J"
    for command in (
        ("recipes", "list"),
        ("recipes", "list", "--all"),
        ("recipes", "show", name),
        ("recipes", "show", name, "--raw"),
        ("recipes", "show", name, "--json"),
        ("recipes", "show", "bad\x1b[2J\nerror: not true"),
        ("recipes", "show", f"nope{EVIL}"),
        ("recipes", "path"),
        ("select", f"ok {EVIL}"),
    ):
        run = bare.run(*command, tty=True, env={"TERM": "dumb"})
        shown = run.stdout + run.stderr
        assert not set(shown) & set("\x1b\x07\x9b\u202e\u200e\u2066\r"), run
        assert not [line for line in run.stderr.splitlines() if line.startswith("error: not")], run


def test_json_keeps_control_characters_escaped(bare: Workspace) -> None:
    bare.write("P/recipes/esc.yaml", f"description: {json.dumps(EVIL)}\nengine: ford\n")
    run = bare.run("recipes", "list", "--json").expect(0)
    assert run.json[0]["description"] == EVIL
    for escaped in (r"\u001b[2J", r"\u0007", r"\u202e", r"\u200e", r"\u2066", r"\u009b"):
        assert escaped in run.stdout
    assert not set(run.stdout) & set("\x1b\x07\x9b\u202e\u200e\u2066")


def test_a_name_is_never_cut_and_a_description_is_short(bare: Workspace) -> None:
    names = ["説明", "review", "team/a-rather-long-name-for-a-recipe"]
    for name in names:
        bare.recipe(f"P/recipes/{name}.yaml", "日本語の説明 " * 10)
    for columns in (10, 20, 40, 80):
        lines = bare.run("recipes", "list", tty=True, columns=columns, env={"TERM": "xterm"}).expect(0).stdout
        plain = lines.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
        assert [name for name in names if sum(line.split()[:1] == [name] for line in plain) == 1] == names
        assert all(width(line) <= columns for line in plain if not line.startswith("team/"))
        assert sum("…" in line for line in plain) >= 3
    path = bare.run("recipes", "path", tty=True, columns=20, env={"TERM": "xterm"}).expect(0).stdout
    assert str(bare.project / ".vance/recipes") in path


def width(line: str) -> int:
    return sum(2 if "\u3000" <= character <= "\u9fff" else 1 for character in line)


@pytest.mark.parametrize(
    ("env", "bold"),
    [({}, True), ({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, False), ({"TERM": "unknown"}, False)],
    ids=["plain", "no color", "dumb", "unknown"],
)
def test_a_terminal_gets_no_more_than_bold(bare: Workspace, env: dict[str, str | None], bold: bool) -> None:
    bare.recipe("P/recipes/a.yaml", "red 12 https://example.org [bold]x[/bold] :smile:")
    run = bare.run("recipes", "list", tty=True, env=env).expect(0)
    assert ("\x1b[1mname\x1b[0m" in run.stdout) == bold
    assert "\x1b" not in run.stdout.replace("\x1b[1m", "").replace("\x1b[0m", "")
    shown = bare.run("recipes", "show", "a", tty=True, env=env).expect(0).stdout
    assert "red 12 https://example.org [bold]x[/bold] :smile:" in shown


# Pipes.


def test_a_reader_that_leaves_ends_the_command_without_a_word(bare: Workspace) -> None:
    for number in range(2000):
        bare.write(f"P/recipes/r{number:04}.yaml", "description: " + "x" * 200 + "\nengine: ford\n")
    run = shell(bare, "PYTHONUNBUFFERED=1 vancectl recipes list | head -1; echo ${PIPESTATUS[0]}")
    assert (run.stdout, run.stderr) == ("[\n141\n", "")
    run = shell(bare, "vancectl recipes list | head -1; echo ${PIPESTATUS[0]}")
    assert (run.stdout, run.stderr) == ("[\n141\n", "")


def test_a_full_disk_is_an_error_of_its_own(bare: Workspace) -> None:
    bare.recipe("P/recipes/a.yaml")
    for command in ("recipes list", "recipes show a", "recipes show a --raw", "recipes path", "catalog show --prompt"):
        run = shell(bare, f"vancectl {command} > /dev/full")
        assert run.status == 2
        assert run.stderr == (
            "error: the result cannot be written: no space left on device\n  help: fix what standard output leads to\n"
        )


def test_warnings_and_errors_that_nobody_can_read_change_no_result(bare: Workspace) -> None:
    bare.recipe("P/recipes/a.yaml")
    bare.write("P/recipes/one.yml", HEAD)
    run = shell(bare, "vancectl recipes list --json 2> /dev/full")
    assert [row["name"] for row in run.json] == ["a"]
    assert shell(bare, "vancectl recipes show nope 2> /dev/full").status == 2


def test_paths_are_absolute_wherever_one_stands(bare: Workspace) -> None:
    bare.recipe("P/recipes/a.yaml")
    bare.write("P/sub/x", "")
    (row,) = bare.run("recipes", "list", "--recipes", "../.vance/recipes", cwd="P/sub").expect(0).json
    assert Path(row["path"]).is_absolute()


@pytest.mark.parametrize(
    ("redirect", "status"),
    [
        ("2>/dev/full", 0),
        ("2>&-", 0),
        (">&-", 2),
        (">/dev/full", 2),
    ],
)
def test_only_a_lost_result_counts(ws: Workspace, redirect: str, status: int) -> None:
    ws.recipe("P/recipes/fix.yaml", "Fixes.", triggers=["fix tests"])
    ws.write("P/recipes/bad.yaml", "[")
    for words in ("select 'fix tests'", "recipes list"):
        shell = Workspace(ws.root, ("/bin/sh",))
        shell.run("-c", f"exec {ws.command[0]} {words} {redirect}").expect(status)


def test_a_deleted_working_directory_is_told(ws: Workspace) -> None:
    gone = ws.write("P/gone/x", "").parent
    shell = Workspace(ws.root, ("/bin/sh",))
    result = shell.run("-c", f"rm -r ../gone; exec {ws.command[0]} recipes path", cwd=gone).expect(2)
    assert result.stderr == "error: the working directory is gone\n  help: change to one that exists\n"


@pytest.mark.parametrize("words", ["--help", "select -h", "recipes lint --help"])
def test_a_help_text_that_cannot_be_written_ends_as_a_result_does(bare: Workspace, words: str) -> None:
    run = shell(bare, f"vancectl {words} > /dev/full")
    assert (run.status, run.stderr.partition("\n")[0]) == (
        2,
        "error: the help cannot be written: no space left on device",
    )
    assert shell(bare, f"vancectl {words} | sleep 0; echo ${{PIPESTATUS[0]}}").stdout in ("141\n", "0\n")


def test_a_usage_error_that_nobody_can_read_stays_one(bare: Workspace) -> None:
    assert shell(bare, "vancectl selct 2> /dev/full").status == 2


def test_an_error_is_one_line_whatever_name_is_in_it(ws: Workspace) -> None:
    failed = ws.run("select", "x", "--tenant", "a\nb").expect(2)
    assert failed.stderr.splitlines()[0] == r"error: `a\x0ab` is no tenant's name"
