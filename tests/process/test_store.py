"""A process's name is unique in tenant, project and session until it is removed."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.workspace import Workspace


def good(ws: Workspace, *command: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=list(command), spawn__stdin="none")


def until(condition: Callable[[], bool], what: str, seconds: float = 10) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, f"after {seconds} s still not: {what}"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("script", "status", "exit_status", "exit_code"),
    [
        ("echo fine", "DONE", 0, 0),
        ("exit 7", "FAILED", 3, 7),
        ("kill -KILL $$", "FAILED", 3, -9),
        ("sleep 300", "TIMED_OUT", 3, -15),
    ],
)
def test_a_name_stays_taken(ws: Workspace, script: str, status: str, exit_status: int, exit_code: int) -> None:
    good(ws, "sh", "-c", f"echo x >>runs; {script}")
    first = ws.run("delegate", "--name", "a", "--timeout", "0.5", "fix tests").expect(exit_status).json["process"]
    ws.recipe("P/recipes/other.yaml", engine="marvin")
    again = ws.run("delegate", "--name", "a", "--recipe", "other", "something else").expect()
    known = again.json["process"]
    assert (known["status"], known["existingStatus"], known["exitCode"]) == ("already_exists", status, exit_code)
    assert [known[key] for key in ("id", "recipe", "engine")] == [first["id"], "good", "ford"]
    assert known["hint"] == (
        "a process `a` exists in the session `default`; take another name to start another, or free this one with "
        "`vancectl processes remove a`"
    )
    assert (again.json["decision"], again.json["recipe"]) == ("MATCH", "good")  # what was decided then
    assert ws.path("P/runs").read_text() == "x\n"
    warning = "the process `a` was asked for something else; what is asked for now is not started"
    assert again.json["warnings"][-1] == warning
    assert again.stderr == f"warning: {warning}\n"


def test_what_the_command_said_is_kept(ws: Workspace) -> None:
    good(ws, "sh", "-c", "echo '{{\"answer\": 42}}'")
    ws.run("delegate", "--name", "a", "fix tests").expect()
    assert ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]["reply"]["answer"] == 42


def test_a_running_process_is_left_alone(ws: Workspace) -> None:
    good(ws, "sh", "-c", "echo x >>runs; while [ ! -e go ]; do sleep 0.05; done; echo done")
    running = ws.start("delegate", "--name", "a", "fix tests")
    until(lambda: ws.path("P/runs").exists(), "it runs")
    # `wait` is for a process that one starts: this one would not end before `go` is there.
    known = ws.run("delegate", "--name", "a", "fix tests", timeout=10).expect().json["process"]
    assert (known["status"], known["existingStatus"]) == ("already_exists", "RUNNING")
    assert (known["exitCode"], known["endedAt"]) == (None, None)
    ws.write("P/go", "")
    first = ws.finish(running, timeout=10).expect().json["process"]
    assert (first["id"], first["pid"], first["reply"]) == (known["id"], known["pid"], "done\n")
    assert ws.path("P/runs").read_text() == "x\n"


def test_a_process_left_to_itself_is_known_while_it_runs_and_when_it_has_ended(ws: Workspace) -> None:
    good(ws, "sleep", "300")
    started = ws.run("delegate", "--no-wait", "--name", "a", "fix tests").expect().json["process"]
    known = ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]
    assert (known["existingStatus"], known["pid"], known["log"]) == ("RUNNING", started["pid"], started["log"])
    os.kill(started["pid"], signal.SIGKILL)
    ws.run("processes", "wait", "a", "--timeout", "10").expect(1)
    ended = ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]
    assert (ended["existingStatus"], ended["exitCode"]) == ("FAILED", -9)


def test_another_session_is_free(ws: Workspace) -> None:
    good(ws, "true")
    sessions = [[], ["--session", "s"], ["--session", "S"]]
    for session in sessions:
        done = ws.run("delegate", "--name", "a", *session, "fix tests").expect()
        assert done.json["process"]["status"] == "DONE"
    for session in sessions:
        again = ws.run("delegate", "--name", "a", *session, "fix tests").expect()
        assert again.json["process"]["status"] == "already_exists"


def test_the_session_from_the_environment(ws: Workspace) -> None:
    good(ws, "true")
    done = ws.run("delegate", "--name", "a", "fix tests", env={"VANCECTL_SESSION": "s"}).expect()
    assert done.json["process"]["session"] == "s"
    again = ws.run("delegate", "--name", "a", "--session", "s", "fix tests").expect()
    assert again.json["process"]["status"] == "already_exists"


@pytest.mark.parametrize("name", ["a", "A b/ü 🚀", "'; DROP TABLE process; --", "../../x", "-", "x" * 5000, "a\nb"])
def test_any_name_is_a_name(ws: Workspace, name: str) -> None:
    good(ws, "true")
    for status in ("DONE", "already_exists"):
        process = ws.run("delegate", f"--name={name}", "fix tests").expect().json["process"]
        assert (process["name"], process["status"]) == (name, status)


@pytest.mark.parametrize("name", ["", " ", "\t"])
def test_a_blank_name(ws: Workspace, name: str) -> None:
    good(ws, "true")
    failed = ws.run("delegate", "--name", name, "fix tests").expect(2)
    assert (failed.stdout, "error: the name is blank" in failed.stderr) == ("", True)


def test_a_name_left_out_is_made(ws: Workspace) -> None:
    good(ws, "echo", "{name}")
    names = [ws.run("delegate", "fix tests").expect().json["process"] for _ in range(2)]
    assert all(re.fullmatch(r"good-[0-9a-f]{6}", process["name"]) for process in names)
    assert [process["reply"] for process in names] == [f"{process['name']}\n" for process in names]
    assert names[0]["name"] != names[1]["name"]


def test_a_name_made_for_an_engine_without_a_recipe(ws: Workspace) -> None:
    ws.recipe("B/recipes/default.yaml")
    ws.settings(spawn__command=["true"])
    name = ws.run("delegate", "--engine", "marvin", "x").expect().json["process"]["name"]
    assert re.fullmatch(r"marvin-[0-9a-f]{6}", name)


@pytest.mark.parametrize("mode", [[], ["--no-wait"]], ids=["wait", "no-wait"])
def test_of_twenty_at_once_exactly_one_starts(ws: Workspace, mode: list[str]) -> None:
    good(ws, "sh", "-c", "echo x >>runs")
    running = [ws.start("delegate", *mode, "--name", "a", "fix tests") for _ in range(20)]
    done = [ws.finish(process).expect().json["process"] for process in running]
    statuses = [process["status"] for process in done]
    assert statuses.count("already_exists") == 19
    assert statuses.count("DONE" if not mode else "RUNNING") == 1
    assert len({process["id"] for process in done}) == 1
    until(lambda: ws.path("P/runs").exists(), "it has run")
    assert ws.path("P/runs").read_text() == "x\n"


def test_twenty_names_at_once_all_start(ws: Workspace) -> None:
    good(ws, "sh", "-c", "echo {name} >>runs")
    running = [ws.start("delegate", "--name", f"n{number}", "fix tests") for number in range(20)]
    assert {ws.finish(process).expect().json["process"]["status"] for process in running} == {"DONE"}
    assert sorted(ws.path("P/runs").read_text().split()) == sorted(f"n{number}" for number in range(20))


@pytest.mark.parametrize("command", [["no-such-agent"], ["echo", "{params.gone}"], ["{recipe}"], ["echo", "{oops}"]])
@pytest.mark.parametrize("mode", [[], ["--no-wait"]], ids=["wait", "no-wait"])
def test_a_failed_start_frees_the_name(ws: Workspace, command: list[str], mode: list[str]) -> None:
    good(ws, *command)
    assert ws.run("delegate", *mode, "--name", "a", "fix tests").status in {2, 3}
    done = ws.run("delegate", "--name", "a", "--set", 'spawn.command=["true"]', "fix tests").expect()
    assert done.json["process"]["status"] == "DONE"


def test_none_takes_no_name(ws: Workspace) -> None:
    good(ws, "true")
    ws.run("delegate", "--name", "a", "--no-fallback", "paint the fence").expect()
    assert ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]["status"] == "DONE"


def test_a_taken_name_asks_no_model(ws: Workspace) -> None:
    good(ws, "true")
    ws.run("delegate", "--name", "a", "fix tests").expect()
    ws.program("oracle", "touch asked")
    ws.settings(selector__backend="command", selector__command=["oracle"])
    again = ws.run("delegate", "--name", "a", "paint the fence").expect()
    assert (again.json["process"]["status"], ws.path("P/asked").exists()) == ("already_exists", False)


# The record.


def test_the_record_is_for_its_owner_only(ws: Workspace) -> None:
    good(ws, "true")
    ws.run("delegate", "fix tests").expect()
    assert stat.S_IMODE(ws.state.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda ws: ws.write("S/processes.sqlite3", b"not a database, not at all, not even close"),
            "move the file away",
        ),
        (lambda ws: ws.write("S/processes.sqlite3/x", ""), "check space and permissions"),
        (lambda ws: ws.state.write_text(""), "check space and permissions"),
        (lambda ws: ws.state.symlink_to("/dev/null"), "check space and permissions"),
    ],
    ids=["corrupt", "a-folder", "state-is-a-file", "state-is-a-device"],
)
@pytest.mark.parametrize("options", [["--name", "a"], [], ["--no-wait"]], ids=["named", "generated", "no-wait"])
def test_a_record_that_cannot_be_used(
    ws: Workspace, spoil: Callable[[Workspace], object], told: str, options: list[str]
) -> None:
    good(ws, "touch", "started")
    spoil(ws)
    failed = ws.run("delegate", *options, "fix tests").expect(3)
    assert failed.stderr.startswith(
        f"error: {ws.state / 'processes.sqlite3'}: the record of processes cannot be used: "
    )
    assert f"  help: {told}" in failed.stderr
    assert len(failed.stderr.splitlines()) == 2
    assert not ws.path("P/started").exists()
    if not options:
        assert failed.json["recipe"] == "good"


def test_a_state_directory_that_cannot_be_written(ws: Workspace) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    good(ws, "touch", "started")
    ws.state.mkdir(mode=0o500)
    failed = ws.run("delegate", "fix tests").expect(3)
    assert "the record of processes cannot be used" in failed.stderr
    assert not ws.path("P/started").exists()


def test_without_a_home_there_is_no_place_for_the_record(ws: Workspace) -> None:
    good(ws, "touch", "started")
    nowhere = {"HOME": "", "VANCECTL_STATE_DIR": None}
    failed = ws.run("delegate", "fix tests", env=nowhere).expect(3)
    assert failed.json["recipe"] == "good"
    assert failed.stderr.endswith(
        "error: there is no place for the record of processes\n  help: set HOME or VANCECTL_STATE_DIR\n"
    )
    assert not ws.path("P/started").exists()


def test_a_record_lost_while_the_command_ran_does_not_lose_its_answer(ws: Workspace) -> None:
    good(ws, "sh", "-c", 'sleep 0.3; rm -r "$1"; touch "$1"; echo answer', "sh", str(ws.state))
    failed = ws.run("delegate", "fix tests").expect(3)
    assert (failed.json["process"]["status"], failed.json["process"]["reply"]) == ("DONE", "answer\n")
    assert "the record of processes cannot be used" in failed.json["error"]


def test_who_dies_before_the_command_ends_leaves_a_record(ws: Workspace) -> None:
    good(ws, "sh", "-c", "sleep 0.5; echo $$ >pid.part; mv pid.part pid; exec sleep 300")
    running = ws.start("delegate", "--name", "a", "fix tests")
    until(lambda: ws.path("P/pid").exists(), "it runs")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    known = ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]
    command = int(ws.path("P/pid").read_text())
    os.kill(command, signal.SIGKILL)
    assert (known["existingStatus"], known["pid"]) == ("RUNNING", command)


def test_the_record_waits_for_its_turn(ws: Workspace) -> None:
    good(ws, "true")
    ws.run("delegate", "fix tests").expect()
    hold = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); print(flush=True); "
        "time.sleep(1)"
    )
    path = str(ws.state / "processes.sqlite3")
    with subprocess.Popen([sys.executable, "-c", hold, path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert ws.run("delegate", "fix tests").expect().json["process"]["status"] == "DONE"


def test_the_state_directory_may_lie_deep_and_not_exist_yet(ws: Workspace) -> None:
    good(ws, "true")
    deep = ws.root / "a" / "b" / "c"
    ws.run("delegate", "fix tests", env={"VANCECTL_STATE_DIR": str(deep)}).expect()
    assert sorted(path.name for path in deep.iterdir()) == ["log", "processes", "processes.sqlite3"]
    assert not Path(ws.state).exists()


# Where a name is unique.


def other_project(ws: Workspace, content: str = "") -> Path:
    folder = ws.root / "other"
    (folder / ".vance" / "recipes").mkdir(parents=True)
    if content:
        (folder / ".vance" / "project.yaml").write_text(content)
    return folder


def test_a_name_belongs_to_its_project(ws: Workspace) -> None:
    good(ws, "echo", "{task}")
    here = ws.run("delegate", "--name", "a", "fix tests here").expect().json["process"]
    other, outside = other_project(ws), ws.root / "outside"
    outside.mkdir()
    for folder in (other, outside):
        there = ws.run("delegate", "--name", "a", "--engine", "ford", "x", cwd=folder).expect().json["process"]
        assert (there["status"], there["reply"]) == ("DONE", "x\n")
    assert here["project"] == str(ws.project)
    assert [row["id"] for row in ws.run("processes", "list").expect().json] == [here["id"]]
    rows = ws.run("processes", "list", "--all-projects").expect().json
    assert [row["project"] for row in rows] == [str(ws.project), str(other), None]
    assert "other" in ws.run("processes", "list", "--all-projects", tty=True, columns=200).expect().stdout
    assert ws.run("processes", "show", "a", cwd=other).expect().json["reply"] == "x\n"
    assert ws.run("processes", "show", here["id"], cwd=other).expect().json["reply"] == "fix tests here\n"
    assert "name it by its id" in ws.run("processes", "show", "a", "--all-projects").expect(2).stderr
    gone = ws.run("processes", "show", "b", cwd=other).expect(2)
    assert "`vancectl processes list` shows all" in gone.stderr


def test_two_folders_of_one_project_share_their_names(ws: Workspace) -> None:
    good(ws, "echo", "{task}")
    ws.write("P/project.yaml", "id: shop\n")
    first = ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]
    other = other_project(ws, "id: shop\n")
    again = ws.run("delegate", "--name", "a", "--engine", "ford", "fix tests", cwd=other).expect().json["process"]
    assert (again["status"], again["id"], again["project"]) == ("already_exists", first["id"], "shop")


def test_a_name_belongs_to_its_tenant(ws: Workspace) -> None:
    good(ws, "echo", "{task}")
    ws.write("T/../acme/settings.yaml", "spawn: {command: [echo, acme], stdin: none}\n")
    ws.run("delegate", "--name", "a", "fix tests").expect()
    other = ws.run("delegate", "--name", "a", "--tenant", "acme", "fix tests").expect().json["process"]
    assert (other["reply"], other["tenant"]) == ("acme\n", "acme")
    assert ws.run("processes", "show", "a", "--tenant", "acme").expect().json["id"] == other["id"]


EARLIER = """
CREATE TABLE process (id TEXT PRIMARY KEY, session TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL, recipe TEXT,
engine TEXT NOT NULL, pid INTEGER, exit_code INTEGER, log TEXT, started_at TEXT NOT NULL, ended_at TEXT,
decision TEXT NOT NULL, result TEXT NOT NULL DEFAULT '{}', argv TEXT NOT NULL DEFAULT 'null', parent TEXT,
supervisor INTEGER, seconds REAL, asked TEXT, UNIQUE (session, name));
INSERT INTO process (id, session, name, status, engine, started_at, ended_at, decision, result)
VALUES ('aa', 'default', 'a', 'DONE', 'ford', '2026-01-01', '2026-01-01',
'{"version": 1, "decision": "MATCH", "recipe": "good", "warnings": []}', '{"answer": 1}');
"""


def database(ws: Workspace, script: str) -> None:
    ws.state.mkdir(exist_ok=True)
    with closing(sqlite3.connect(ws.state / "processes.sqlite3")) as connection, connection:
        connection.executescript(script)


def test_records_of_an_earlier_version_keep_their_names(ws: Workspace) -> None:
    database(ws, EARLIER)
    good(ws, "echo", "{task}")
    assert ws.run("processes", "show", "a").expect().json["reply"] == {"answer": 1}
    again = ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]
    assert (again["status"], again["id"]) == ("already_exists", "aa")
    ws.run("delegate", "--name", "b", "fix tests").expect()
    assert [row["name"] for row in ws.run("processes", "list", cwd=other_project(ws)).expect().json] == ["a"]
    assert [row["name"] for row in ws.run("processes", "list").expect().json] == ["a", "b"]


def test_a_file_of_a_later_version_lists_and_stops(ws: Workspace) -> None:
    good(ws, "sh", "-c", "echo $$ >pid; exec sleep 300")
    process = ws.run("delegate", "--no-wait", "--name", "a", "fix tests").expect().json["process"]
    database(ws, "ALTER TABLE process ADD COLUMN mood TEXT DEFAULT 'good'; UPDATE process SET status = 'DREAMING'")
    [row] = ws.run("processes", "list").expect().json
    assert (row["id"], row["status"]) == (process["id"], "RUNNING")
    assert ws.run("processes", "stop", "a").expect().json["status"] == "STOPPED"


@pytest.mark.parametrize(
    "spoilt",
    [
        "decision = '{'",
        "result = '[['",
        "argv = x'ff'",
        "decision = '[1]'",
        "status = x'05'",
        "started_at = x'00'",
        "pid = 'x'",
    ],
)
def test_a_spoilt_row_hides_no_other(ws: Workspace, spoilt: str) -> None:
    good(ws, "echo", "{task}")
    for name in ("a", "b"):
        ws.run("delegate", "--name", name, "fix tests").expect()
    database(ws, f"UPDATE process SET {spoilt} WHERE name = 'a'")
    listed = ws.run("processes", "list").expect()
    assert [row["name"] for row in listed.json] == ["a", "b"]
    assert "the record is damaged" in listed.json[0]["error"]
    assert "error" not in listed.json[1]
    assert "a: the record is damaged" in listed.stderr
    ws.run("processes", "show", "a").expect()
    again = ws.run("delegate", "--name", "a", "fix tests")
    if "status" not in spoilt:  # how it stands is known from elsewhere, and is recorded again
        assert "vancectl processes remove a" in again.expect(3).stderr
    ws.run("processes", "remove", "a").expect()
    assert ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]["status"] == "DONE"


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_records_are_their_owner_s(ws: Workspace, mode: int) -> None:
    ws.state.mkdir(mode=mode)
    good(ws, "echo", "{task}")
    ws.run("delegate", "--no-wait", "--name", "a", "fix tests").expect()
    ws.run("processes", "wait", "a").expect()
    files = [path for path in ws.state.rglob("*") if path.is_file()]
    assert ws.state / "processes.sqlite3" in files
    assert [str(path) for path in files if path.stat().st_mode & 0o077] == []


# The end of a name.


def test_removing(ws: Workspace) -> None:
    good(ws, "sh", "-c", "test {task} = stay && exec sleep 300; echo {task}")
    ws.recipe("P/recipes/good.yaml")
    for name in ("a", "b", "c"):
        ws.run("delegate", "--recipe", "good", "--no-wait", "--name", name, "go").expect()
        ws.run("processes", "wait", name).expect()
    ws.run("delegate", "--recipe", "good", "--no-wait", "--name", "r", "stay").expect()
    refused = ws.run("processes", "remove", "a", "r").expect(2)
    assert refused.stderr.startswith("error: still running: r\n  help: `vancectl processes stop r`")
    assert len(list((ws.state / "processes").iterdir())) == 4
    assert [each["name"] for each in ws.run("processes", "remove", "a").expect().json["removed"]] == ["a"]
    assert ws.run("delegate", "--recipe", "good", "--name", "a", "go").expect().json["process"]["reply"] == "go\n"
    assert ws.run("processes", "remove", "--older-than", "1d").expect().json["removed"] == []
    assert len(ws.run("processes", "remove", "--ended").expect().json["removed"]) == 3
    assert [row["name"] for row in ws.run("processes", "list").expect().json] == ["r"]
    assert len(list((ws.state / "processes").iterdir())) == 1
    ws.run("processes", "stop", "r").expect()
    assert "say which ones" in ws.run("processes", "remove").expect(2).stderr


def test_stopping_several(ws: Workspace) -> None:
    good(ws, "sleep", "300")
    for name in ("a", "b"):
        ws.run("delegate", "--no-wait", "--name", name, "fix tests").expect()
    stopped = ws.run("processes", "stop", "a", "b").expect().json
    assert [(each["name"], each["status"]) for each in stopped] == [("a", "STOPPED"), ("b", "STOPPED")]


# Secrets.


@pytest.mark.parametrize("wait", ["--wait", "--no-wait"])
def test_what_a_program_says_is_scrubbed_of_secrets(ws: Workspace, wait: str) -> None:
    key = "sk-ant-not-a-real-key-1234"
    good(ws, "sh", "-c", f'echo "the key is {key}"')
    keyed = {"ANTHROPIC_API_KEY": key}
    ws.run("delegate", wait, "--name", "a", "fix tests", env=keyed).expect()
    ended = ws.run("processes", "wait", "a", env=keyed).expect().json
    assert ended["reply"] == "the key is ***\n"
    assert ws.run("processes", "logs", "a", env=keyed).expect().stdout == "the key is ***\n"
    with closing(sqlite3.connect(ws.state / "processes.sqlite3")) as connection:
        [(result,)] = connection.execute("SELECT result FROM process").fetchall()
    assert key not in result


def test_a_live_reply_is_scrubbed_of_secrets(ws: Workspace) -> None:
    key = "sk-ant-not-a-real-key-1234"
    good(ws, "sh", "-c", f"printf 'a {key[:9]}'; sleep 0.2; printf '{key[9:]} b'")
    shown = ws.run("delegate", "fix tests", tty=True, env={"ANTHROPIC_API_KEY": key}).expect().stdout
    assert "a *** b" in shown
    assert key[9:] not in shown
