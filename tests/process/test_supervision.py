"""What is recorded of a process is true, whoever of the three is killed, and whenever."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import Workspace

# Ten moments for each, from before the start to behind the end; the same ones in each run.
MOMENTS = [round(random.Random(number).uniform(0, 0.5), 3) for number in range(10)]


def good(ws: Workspace, script: str, **more: object) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", script.replace("{", "{{").replace("}", "}}"), "sh", "{name}"],
                 "spawn.stdin": "none", **more})  # fmt: skip


def start(ws: Workspace, *args: str, name: str = "a") -> dict[str, Any]:
    answer = ws.run("delegate", "--recipe", "good", "--no-wait", "--name", name, *args).expect().json
    return dict(answer["process"])


def show(ws: Workspace, name: str = "a") -> dict[str, Any]:
    return dict(ws.run("processes", "show", name).expect().json)


def listed(ws: Workspace) -> list[dict[str, Any]]:
    return list(ws.run("processes", "list").expect().json)


def runs(ws: Workspace) -> str:
    """What the command has written so far."""
    path = ws.path("P/runs")
    return path.read_text() if path.exists() else ""


def until(condition: Callable[[], object], what: str, seconds: float = 10) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, f"after {seconds} s still not: {what}"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout.strip()[:1] not in {"", "Z"}


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# The ordinary way.


def test_the_end_is_known_without_vancectl(ws: Workspace) -> None:
    good(ws, "echo out; echo err >&2; sleep 0.3; exit 7")
    begun = start(ws)
    assert (begun["status"], begun["exitCode"], begun["endedAt"]) == ("RUNNING", None, None)
    waited = ws.run("processes", "wait", "a").expect(1).json
    assert (waited["status"], waited["exitCode"], waited["pid"]) == ("FAILED", 7, begun["pid"])
    shown = show(ws)
    assert 0.3 <= shown["seconds"] < 5
    assert shown["endedAt"] > shown["startedAt"]
    assert shown["argv"][:2] == ["sh", "-c"]
    assert shown["decision"]["recipe"] == "good"
    assert ws.run("processes", "logs", "a").expect().stdout == "out\nerr\n"
    assert not alive(shown["supervisor"])


def test_the_supervisor_costs_nothing_while_it_waits(ws: Workspace) -> None:
    good(ws, "exec sleep 60")
    start(ws)
    supervisor = show(ws)["supervisor"]

    def ticks() -> int:
        fields = Path(f"/proc/{supervisor}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    time.sleep(0.3)
    before = ticks()
    time.sleep(1.5)
    assert ticks() == before
    memory = next(line for line in Path(f"/proc/{supervisor}/status").read_text().splitlines() if "VmRSS" in line)
    assert int(memory.split()[1]) < 20_000, memory
    ws.run("processes", "stop", "a").expect()


def test_logs_can_be_followed(ws: Workspace) -> None:
    good(ws, "for i in 1 2 3; do echo line $i; sleep 0.3; done")
    start(ws)
    begun = time.monotonic()
    assert ws.run("processes", "logs", "a", "--follow").expect().stdout == "line 1\nline 2\nline 3\n"
    assert time.monotonic() - begun > 0.5
    assert show(ws)["status"] == "DONE"


def test_a_wait_has_an_end(ws: Workspace) -> None:
    good(ws, "exec sleep 60")
    start(ws)
    begun = time.monotonic()
    assert ws.run("processes", "wait", "a", "--timeout", "0.5").expect(1).json["status"] == "RUNNING"
    assert 0.5 < time.monotonic() - begun < 3
    ws.run("processes", "stop", "a").expect()


@pytest.mark.parametrize(
    ("script", "exit_code", "seconds"),
    [
        ("exec sleep 60", -15, 3),
        ("trap '' TERM; while :; do sleep 0.1; done", -9, 5),
        ("trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done", 0, 3),
        ("(trap '' TERM; exec sleep 61) & echo $! >inner; exec sleep 60", -15, 5),
    ],
    ids=["goes", "does-not-go", "tidies-up", "leaves-something-behind"],
)
def test_stop_ends_the_whole_group(ws: Workspace, script: str, exit_code: int, seconds: float) -> None:
    good(ws, f"{script}")
    process = start(ws)
    time.sleep(0.3)
    begun = time.monotonic()
    stopped = ws.run("processes", "stop", "a", "--grace", "1").expect().json
    assert time.monotonic() - begun < seconds
    assert (stopped["status"], stopped["exitCode"]) == ("STOPPED", exit_code)
    until(lambda: not alive(process["pid"]), "it is gone")
    if ws.path("P/inner").exists():
        assert not alive(int(ws.path("P/inner").read_text()))
    assert ws.run("processes", "stop", "a").expect().json["status"] == "STOPPED"  # again: nothing to do


def test_stop_ends_a_process_that_somebody_waits_for(ws: Workspace) -> None:
    good(ws, "exec sleep 60")
    waiting = ws.start("delegate", "--recipe", "good", "--name", "a")
    until(lambda: any(each["pid"] for each in listed(ws)), "it runs")
    assert ws.run("processes", "stop", "a").expect().json["status"] == "STOPPED"
    assert ws.finish(waiting, timeout=5).expect(130).json["process"]["status"] == "STOPPED"


def test_an_unknown_process(ws: Workspace) -> None:
    good(ws, "true")
    start(ws, name="notes")
    for command in ("show", "logs", "wait", "stop"):
        failed = ws.run("processes", command, "note").expect(2)
        assert "there is no process `note` in the session `default`" in failed.stderr
        assert "did you mean `notes`?" in failed.stderr


def test_by_id_from_any_session(ws: Workspace) -> None:
    good(ws, "true")
    process = start(ws, "--session", "s")
    assert ws.run("processes", "wait", process["id"]).expect().json["name"] == "a"
    assert ws.run("processes", "list", "--session", "default").expect().json == []


@pytest.mark.parametrize("mode", [[], ["--no-wait"]], ids=["wait", "no-wait"])
def test_a_command_is_told_of_the_end(ws: Workspace, mode: list[str]) -> None:
    good(ws, "sleep 0.2; exit 3")
    ws.program("told", 'echo "$1" >word; cat >event.part; mv event.part event')
    on_exit = json.dumps(["told", "a b; $HOME"])
    ws.run("delegate", "--recipe", "good", "--name", "a", *mode, "--on-exit", on_exit).expect(0 if mode else 3)
    until(ws.path("P/event").exists, "it is told")
    event = json.loads(ws.path("P/event").read_text())
    assert (event["version"], event["event"]) == (1, "end")
    process = event["process"]
    assert [process[key] for key in ("name", "status", "exitCode")] == ["a", "FAILED", 3]
    assert 0.2 <= process["seconds"] < 5
    assert ws.path("P/word").read_text() == "a b; $HOME\n"


@pytest.mark.parametrize(
    "said",
    ["true", "null", "42", "3.10", '"q"', "[1]", '{"id": "x"}', '{"a": NaN}', '{"a": 1, "a": 2}', "1e999", "talk"],
)
def test_the_event_and_the_record_have_the_same_reply(ws: Workspace, said: str) -> None:
    good(ws, f"echo {shlex.quote(said)}")
    ws.program("told", "cat >event.part; mv event.part event")
    process = start(ws, "--on-exit", "told")
    until(ws.path("P/event").exists, "it is told")
    event = json.loads(ws.path("P/event").read_text(), parse_constant=pytest.fail)["process"]
    recorded = ws.run("processes", "wait", "a").expect().json
    assert (event["id"], event["reply"]) == (process["id"], recorded["reply"])


@pytest.mark.parametrize("mode", [[], ["--no-wait"]], ids=["wait", "no-wait"])
@pytest.mark.parametrize(
    ("on_exit", "why"),
    [
        ("no-such-program", "the program `no-such-program` is not on the PATH"),
        ('["false"]', "the command for the end: `false` ended with status 1"),
        ('["sh", "-c", "echo first; echo why >&2; exit 3"]', "the command for the end: `sh` ended with status 3: why"),
        ('["sh", "-c", "kill -9 $$"]', "the command for the end: `sh` was ended by signal 9"),
        ("unreadable", "names an interpreter in its first line that is not there"),
    ],
    ids=["missing", "fails", "says-why", "killed", "cannot-run"],
)
def test_a_command_for_the_end_that_fails_is_recorded_and_changes_nothing_else(
    ws: Workspace, mode: list[str], on_exit: str, why: str
) -> None:
    good(ws, "sleep 0.2")
    ws.program("unreadable", "#!/no-such-interpreter\n")
    done = ws.run("delegate", "--recipe", "good", "--name", "a", *mode, "--on-exit", on_exit).expect()
    if not mode:
        assert done.json["process"]["status"] == "DONE"
        assert why in done.json["process"]["onExitError"]
    if not mode or on_exit in {"no-such-program", "unreadable"}:
        assert done.stderr.count(why) == 1, done
    until(lambda: "onExitError" in show(ws), "it is recorded")
    for command in (["show", "a"], ["wait", "a"], ["list"]):
        shown = ws.run("processes", *command).expect()
        assert why in shown.stderr
    (process,) = shown.json
    assert (process["status"], process["exitCode"]) == ("DONE", 0)
    assert why in process["onExitError"]


def test_a_command_for_the_end_that_does_well_is_not_spoken_of(ws: Workspace) -> None:
    good(ws, "true")
    start(ws, "--on-exit", '["sh", "-c", "cat >event.part; mv event.part event"]')
    until(ws.path("P/event").exists, "it is told")
    time.sleep(0.2)
    assert "onExitError" not in show(ws)


# Killed.


@pytest.mark.parametrize("moment", MOMENTS)
def test_vancectl_is_killed(ws: Workspace, moment: float) -> None:
    """Whether or not it came to start anything, what is recorded of it is so."""
    good(ws, "echo x >>runs; sleep 0.4; echo y >>runs")
    running = ws.start("delegate", "--recipe", "good", "--no-wait", "--name", "a")
    time.sleep(moment)
    kill(running.pid)
    running.wait()
    until(lambda: all(each["status"] not in {"STARTING", "RUNNING"} for each in listed(ws)), "it has ended")
    statuses = [each["status"] for each in listed(ws)]
    assert (statuses, runs(ws)) in [([], ""), (["ABANDONED"], ""), (["DONE"], "x\ny\n")]


@pytest.mark.parametrize("moment", MOMENTS)
def test_vancectl_is_killed_while_it_waits(ws: Workspace, moment: float) -> None:
    good(ws, "echo x >>runs; sleep 0.4; echo y >>runs")
    running = ws.start("delegate", "--recipe", "good", "--name", "a")
    time.sleep(moment)
    kill(running.pid)
    running.wait()
    for each in listed(ws):
        # It may have come to its end by itself since it was listed; then the next listing knows.
        if each["status"] == "RUNNING" and not alive(each["pid"]):
            assert [later["status"] for later in listed(ws)] == ["ABANDONED"]
    until(lambda: all(each["status"] not in {"STARTING", "RUNNING"} for each in listed(ws)), "it has ended")
    statuses = [each["status"] for each in listed(ws)]
    assert statuses in [[], ["ABANDONED"], ["DONE"]]
    assert statuses != ["DONE"] or runs(ws) == "x\ny\n"
    # What runs goes on, also where the kill came before its process id could be noted: nobody can tell of it then.
    until(lambda: runs(ws) in {"", "x\ny\n"}, "it has come to its end")


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_supervisor_is_killed(ws: Workspace, moment: float) -> None:
    good(ws, "sleep 0.3; echo x >>runs; exec sleep 0.3")
    process = start(ws)
    supervisor = show(ws)["supervisor"]
    time.sleep(moment)
    kill(supervisor)
    until(lambda: not alive(supervisor), "the supervisor is gone")
    seen = show(ws)["status"]
    running = alive(process["pid"])
    assert seen in ({"RUNNING"} if running else {"RUNNING", "ABANDONED", "DONE"})
    until(lambda: not alive(process["pid"]), "the program has ended by itself")
    ended = show(ws)
    assert ended["status"] in {"ABANDONED", "DONE"}  # DONE only where it was recorded before
    assert (ended["exitCode"] is None) == (ended["status"] == "ABANDONED")
    assert ws.path("P/runs").read_text() == "x\n"
    again = ws.run("delegate", "--recipe", "good", "--name", "a").expect().json["process"]
    assert (again["status"], again["existingStatus"]) == ("already_exists", ended["status"])


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_program_is_killed(ws: Workspace, moment: float) -> None:
    good(ws, "sleep 0.3")
    process = start(ws)
    time.sleep(moment)
    kill(process["pid"])
    ended = ws.run("processes", "wait", "a", "--timeout", "10").json
    assert (ended["status"], ended["exitCode"]) in [("FAILED", -9), ("DONE", 0)]


def test_all_three_are_killed_and_the_number_is_taken_by_another(ws: Workspace) -> None:
    """As after a reboot: the process with that number is not the one that was meant."""
    good(ws, "exec sleep 60")
    process = start(ws)
    kill(show(ws)["supervisor"])
    kill(process["pid"])
    until(lambda: not alive(process["pid"]), "it is gone")
    with subprocess.Popen(["sleep", "60"]) as other:
        lifeline = ws.state / "processes" / process["id"] / "lifeline"
        said = json.loads(lifeline.read_text())
        lifeline.write_text(json.dumps({**said, "pid": other.pid}))
        assert show(ws)["status"] == "ABANDONED"
        assert ws.run("processes", "stop", "a").expect().json["status"] == "ABANDONED"
        assert other.poll() is None, "a stranger was killed"
        other.kill()


def test_an_orphan_can_be_stopped(ws: Workspace) -> None:
    good(ws, "exec sleep 60")
    process = start(ws)
    kill(show(ws)["supervisor"])
    until(lambda: show(ws)["status"] == "RUNNING", "it still runs")
    assert ws.run("processes", "stop", "a").expect().json["status"] == "STOPPED"
    assert not alive(process["pid"])


def test_a_supervisor_that_is_stuck(ws: Workspace) -> None:
    good(ws, "exec sleep 60")
    process = start(ws)
    supervisor = show(ws)["supervisor"]
    os.kill(supervisor, signal.SIGSTOP)
    ws.run("processes", "stop", "a", "--grace", "0.5")
    assert not alive(process["pid"])
    os.kill(supervisor, signal.SIGCONT)
    until(lambda: show(ws)["status"] in {"STOPPED", "FAILED"}, "its end is recorded")


# Many, and in bad times.


def test_a_hundred_at_once(ws: Workspace) -> None:
    good(ws, 'echo "$1" >>runs; sleep 1')
    running = [ws.start("delegate", "--recipe", "good", "--no-wait", "--name", f"n{number}") for number in range(100)]
    started = [ws.finish(process).expect().json["process"] for process in running]
    assert len({process["id"] for process in started}) == 100
    until(lambda: all(each["status"] == "DONE" for each in listed(ws)), "all have ended", 30)
    assert len(listed(ws)) == 100
    assert sorted(ws.path("P/runs").read_text().split()) == sorted(f"n{number}" for number in range(100))


@contextmanager
def small_disk(ws: Workspace) -> Iterator[Path]:
    """A disk of 400 KB for the state directory."""
    ws.state.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(ws.state)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("NO DISK COULD BE MOUNTED: what happens on a full one was not tested (needs root)")
    try:
        yield ws.state
    finally:
        subprocess.run(["umount", "-l", str(ws.state)], check=True)


def test_a_full_disk(ws: Workspace) -> None:
    if not shutil.which("mount"):
        pytest.skip("MOUNT IS NOT INSTALLED: what happens on a full disk was not tested")
    good(ws, "while [ ! -e go ]; do sleep 0.05; done; exit 5")
    with small_disk(ws) as disk:
        start(ws)
        filler = disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        failed = ws.run("delegate", "--recipe", "good", "--name", "b", "--no-wait").expect(3)
        assert "Traceback" not in failed.stderr
        ws.write("P/go", "")
        # Its end found a place, and can be told though the table cannot be written.
        assert ws.run("processes", "wait", "a", "--timeout", "10").expect(1).json["exitCode"] == 5
        filler.unlink()
        assert [(each["name"], each["status"]) for each in listed(ws)] == [("a", "FAILED")]
        assert start(ws, name="b")["status"] == "RUNNING"


CLOCK = """
import sys, time
offset = float(sys.argv[1]); real = time.time
time.time = lambda: real() + offset
"""


def test_a_clock_that_jumps(ws: Workspace) -> None:
    """Neither order nor duration, nor what counts as alive, depends on the clock."""
    good(ws, "sleep 0.5")
    start(ws)
    row = "UPDATE process SET started_at = '2099-01-01T00:00:00.000+00:00' WHERE name = 'a'"
    change = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
    subprocess.run([sys.executable, "-c", change, str(ws.state / "processes.sqlite3"), row], check=True)
    start(ws, name="b")
    assert [each["name"] for each in listed(ws)] == ["a", "b"]
    ended = ws.run("processes", "wait", "a").expect().json
    assert ended["status"] == "DONE"
    assert 0.5 <= show(ws)["seconds"] < 5


def test_records_of_an_earlier_version(ws: Workspace) -> None:
    good(ws, "true")
    table = (
        "CREATE TABLE process (id TEXT PRIMARY KEY, session TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL, "
        "recipe TEXT, engine TEXT NOT NULL, pid INTEGER, exit_code INTEGER, log TEXT, started_at TEXT NOT NULL, "
        "ended_at TEXT, decision TEXT NOT NULL, result TEXT NOT NULL DEFAULT '{}', UNIQUE (session, name)); "
        "INSERT INTO process (id, session, name, status, engine, pid, started_at, decision) "
        "VALUES ('x', 'default', 'old', 'RUNNING', 'ford', 999999, '2026-01-01T00:00:00.000+00:00', '{}')"
    )
    ws.state.mkdir(parents=True)
    make = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
    subprocess.run([sys.executable, "-c", make, str(ws.state / "processes.sqlite3"), table], check=True)
    start(ws)
    ws.run("processes", "wait", "a").expect()
    assert [(each["name"], each["status"]) for each in listed(ws)] == [("old", "ABANDONED"), ("a", "DONE")]
