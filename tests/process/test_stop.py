"""What is made to end has ended: also what its program started elsewhere, and a program that does not want to."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import Workspace

# They keep a file for what would run on the cluster, and leave it there when they are ended, as the real ones do.
CLUSTERS = {
    "kubectl": {
        "kubectl": """
case $1 in
run) touch "$CLUSTER/$2"; exec sleep 60;;
delete) [ "$2" = pod ] && rm "$CLUSTER/$3";;
esac
""",
    },
    "slurm": {
        "srun": """
for word; do case $word in --job-name=*) touch "$CLUSTER/${word#*=}";; esac; done
trap 'echo "srun: interrupt (one more within 1 sec to abort)" >&2' INT
while :; do sleep 0.1; done
""",
        "scancel": 'for word; do case $word in --name=*) rm "$CLUSTER/${word#*=}";; esac; done',
    },
    "ray": {
        "ray": """
case $2 in
submit) for word; do case $word in --submission-id=*) touch "$CLUSTER/${word#*=}";; esac; done; exec sleep 60;;
stop) for word; do :; done; rm "$CLUSTER/$word";;
esac
""",
    },
}
PRESETS = pytest.mark.parametrize("preset", CLUSTERS)


def until(condition: Callable[[], object], what: str, seconds: float = 15) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, f"after {seconds} s still not: {what}"
        time.sleep(0.02)


def cluster(ws: Workspace, preset: str) -> Path:
    folder = ws.root / "cluster"
    folder.mkdir()
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.preset": preset})
    ws.env |= {"CLUSTER": str(folder), "ANTHROPIC_API_KEY": "test-key"}
    for name, script in CLUSTERS[preset].items():
        ws.program(name, script)
    return folder


def start(ws: Workspace, folder: Path, *args: str) -> dict[str, Any]:
    begun = ws.run("delegate", "--recipe", "good", "--no-wait", "--name", "a", *args, "x").expect().json["process"]
    until(lambda: os.listdir(folder), "it runs elsewhere")
    assert os.listdir(folder) == [f"vancectl-{begun['id']}"]
    return dict(begun)


def show(ws: Workspace) -> dict[str, Any]:
    return dict(ws.run("processes", "show", "a").expect().json)


@PRESETS
def test_stop_ends_what_runs_elsewhere(ws: Workspace, preset: str) -> None:
    folder = cluster(ws, preset)
    start(ws, folder)
    stopped = ws.run("processes", "stop", "a").expect()
    assert (stopped.json["status"], os.listdir(folder)) == ("STOPPED", [])
    assert "stopError" not in stopped.json


@PRESETS
@pytest.mark.parametrize("wait", [True, False], ids=["wait", "no-wait"])
def test_a_time_limit_ends_what_runs_elsewhere(ws: Workspace, preset: str, wait: bool) -> None:
    folder = cluster(ws, preset)
    if wait:
        ws.run("delegate", "--recipe", "good", "--name", "a", "--timeout", "1", "x").expect(3)
    else:
        start(ws, folder, "--timeout", "1")
        ws.run("processes", "wait", "a").expect(1)
    assert (show(ws)["status"], os.listdir(folder)) == ("TIMED_OUT", [])


@PRESETS
@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_a_signal_ends_what_runs_elsewhere(ws: Workspace, preset: str, name: str) -> None:
    folder = cluster(ws, preset)
    running = ws.start("delegate", "--recipe", "good", "--name", "a", "x")
    until(lambda: os.listdir(folder), "it runs elsewhere")
    os.kill(running.pid, getattr(signal, f"SIG{name}"))
    until(lambda: not os.listdir(folder), "it has ended elsewhere")
    if (preset, name) == ("slurm", "INT"):  # this one wants to be asked twice
        time.sleep(0.3)
        os.kill(running.pid, signal.SIGINT)
    assert ws.finish(running, timeout=15).expect(130).json["process"]["status"] == "STOPPED"


@PRESETS
@pytest.mark.parametrize("wait", [True, False], ids=["wait", "no-wait"])
def test_a_program_that_is_killed_leaves_nothing_elsewhere(ws: Workspace, preset: str, wait: bool) -> None:
    folder = cluster(ws, preset)
    waiting = None
    if wait:
        waiting = ws.start("delegate", "--recipe", "good", "--name", "a", "x")
    else:
        start(ws, folder)
    until(lambda: os.listdir(folder), "it runs elsewhere")
    os.killpg(show(ws)["pid"], signal.SIGKILL)
    ws.run("processes", "wait", "a").expect(1)
    assert (show(ws)["status"], os.listdir(folder)) == ("FAILED", [])
    if waiting is not None:
        ws.finish(waiting).expect(3)


@PRESETS
@pytest.mark.parametrize("also", [True, False], ids=["all-are-killed", "supervisor-is-killed"])
def test_what_nobody_waits_for_can_be_ended_elsewhere(ws: Workspace, preset: str, also: bool) -> None:
    folder = cluster(ws, preset)
    process = start(ws, folder)
    os.kill(show(ws)["supervisor"], signal.SIGKILL)
    if also:
        os.killpg(process["pid"], signal.SIGKILL)
        until(lambda: show(ws)["status"] == "ABANDONED", "it is gone")
        assert os.listdir(folder) != []
    ws.run("processes", "stop", "a").expect()
    assert os.listdir(folder) == []


@pytest.mark.parametrize("wait", [True, False], ids=["wait", "no-wait"])
def test_what_may_still_run_elsewhere_is_said(ws: Workspace, wait: bool) -> None:
    folder = cluster(ws, "kubectl")
    script = CLUSTERS["kubectl"]["kubectl"]
    ws.program("kubectl", script.replace('rm "$CLUSTER/$3"', "{ echo no connection >&2; exit 1; }"))
    why = "what it started elsewhere may still run: `kubectl` ended with status 1: no connection"
    if wait:
        ended = ws.run("delegate", "--recipe", "good", "--name", "a", "--timeout", "1", "x").expect(3)
        assert why in ended.stderr
    else:
        start(ws, folder)
        ended = ws.run("processes", "stop", "a").expect()
        assert ended.stderr == f"warning: {why}\n"
    assert show(ws)["stopError"] == why


# A program that does not end.

STUBBORN = "trap '' INT TERM HUP QUIT; echo $$ >pid; while :; do sleep 0.1; done"


def stubborn(ws: Workspace) -> tuple[subprocess.Popen[bytes], int]:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", STUBBORN], "spawn.stdin": "none"})
    running = ws.start("delegate", "--recipe", "good", "--name", "a", "x")
    until(lambda: ws.path("P/pid").exists() and ws.path("P/pid").read_text().strip(), "it runs")
    return running, int(ws.path("P/pid").read_text())


@pytest.mark.parametrize("name", ["TERM", "HUP", "QUIT"])
def test_a_program_that_goes_on_after_a_signal_is_killed(ws: Workspace, name: str) -> None:
    running, pid = stubborn(ws)
    begun = time.monotonic()
    os.kill(running.pid, getattr(signal, f"SIG{name}"))
    os.kill(running.pid, getattr(signal, f"SIG{name}"))  # `timeout` sends its signal to us and to our group
    if name == "QUIT":
        os.killpg(pid, signal.SIGSTOP)  # not even a stopped one stays
    ended = ws.finish(running, timeout=20).expect(130)
    assert ended.json["process"]["status"] == "STOPPED"
    assert 4 < time.monotonic() - begun < 15
    assert "note: the program goes on 5 seconds after the signal: it is killed\n" in ended.stderr
    assert not Path(f"/proc/{pid}").exists()


def test_a_second_ctrl_c_kills_at_once_and_both_are_said(ws: Workspace) -> None:
    running, pid = stubborn(ws)
    os.kill(running.pid, signal.SIGINT)
    assert running.stderr is not None
    said = running.stderr.readline()
    assert said == b"note: interrupted: waiting for the program to end; Ctrl-C again kills it\n"
    time.sleep(1)
    assert Path(f"/proc/{pid}").exists()
    begun = time.monotonic()
    os.kill(running.pid, signal.SIGINT)
    ended = ws.finish(running, timeout=10).expect(130)
    assert time.monotonic() - begun < 4
    assert ended.json["process"]["exitCode"] == -signal.SIGKILL
    assert "note: asked again: the program is killed\n" in ended.stderr


def test_a_program_that_ends_when_asked_is_not_spoken_of(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", "touch up; exec sleep 60"], "spawn.stdin": "none"})
    running = ws.start("delegate", "--recipe", "good", "--name", "a", "x")
    until(ws.path("P/up").exists, "it runs")
    os.kill(running.pid, signal.SIGINT)
    assert "note" not in ws.finish(running, timeout=10).expect(130).stderr
