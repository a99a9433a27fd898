"""The spawn command as a real program: what it reads, what becomes of what it writes, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import REPOSITORY, Workspace
from vancectl.programs.child import run_child

# Puts the command on a terminal of its own, and types there what comes in on stdin.
ON_A_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
# Runs the command as a shell with job control does: in a group of its own, in the shell's session.
AS_A_JOB = "import subprocess, sys; sys.exit(subprocess.Popen(sys.argv[1:], process_group=0).wait())"


def spawn(ws: Workspace, *command: str, stdin: str = "none", **settings: object) -> None:
    ws.recipe("P/recipes/good.yaml", "Fix failing unit tests.", triggers=["fix tests"])
    ws.settings({"spawn.command": list(command), "spawn.stdin": stdin}, **settings)


def spawn_sh(ws: Workspace, script: str, **settings: Any) -> None:
    spawn(ws, "sh", "-c", script.replace("{", "{{").replace("}", "}}"), **settings)


def until(condition: Callable[[], bool], what: str, seconds: float = 10) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, f"after {seconds} s still not: {what}"
        time.sleep(0.02)


def state_of(pid: int) -> str:
    """The state as `ps` names it: empty for a process that is gone, or dead and not yet buried."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state = shown.stdout.strip()  # `Z`, or `ZN` where the tests run under nice
    return "" if state.startswith("Z") else state[:1]


def pid_in(path: Path) -> int:
    """The process id that a script writes with `echo $$`, once it is there."""
    until(lambda: path.exists() and path.read_text().endswith("\n"), f"{path.name} is written")
    return int(path.read_text())


def pids_in(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()]


# What it reads.


def test_the_payload_is_read_by_default(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], params={"depth": 2}, promptPrefix="Be brief.")
    ws.settings(spawn__command=["cat"])
    answer = ws.run("delegate", "--name", "a", "--title", "T", "--steer", "Go.", "fix tests").expect().json
    payload = answer["process"]["reply"]
    applied = payload["appliedRecipe"]
    assert [payload[key] for key in ("version", "task", "title", "steerContent")] == [1, "fix tests", "T", "Go."]
    assert [payload[key] for key in ("session", "project", "tenant")] == ["default", "project", "default"]
    assert [applied[key] for key in ("recipe", "engine", "layer", "profile")] == ["good", "ford", "project", None]
    assert [applied[key] for key in ("params", "overridden", "promptPrefix")] == [{"depth": 2}, [], "Be brief."]
    assert applied["path"] == str(ws.path("P/recipes/good.yaml"))
    assert not applied.keys() & {"triggers", "profiles", "internal"}


@pytest.mark.parametrize(
    "task",
    [
        'fix tests: a: b\n"quotes" ünï 🚀',
        "fix tests {task} {{ $HOME `id` 'x' \\ %s",
        "fix tests\0now",
        "fix tests\u2028\u2029\x1b[31m",
        "fix tests\r\nin two lines",
    ],
    ids=["colon-quotes-emoji", "braces-and-shell", "nul", "separators", "crlf"],
)
def test_the_payload_is_one_line_of_json_with_the_task_as_given(ws: Workspace, task: str) -> None:
    spawn_sh(ws, "cat >payload", stdin="payload")
    ws.run("delegate", "-", stdin=task).expect()
    payload = ws.path("P/payload").read_bytes()
    assert payload.count(b"\n") == 1
    assert payload.endswith(b"}\n")
    assert json.loads(payload)["task"] == task


@pytest.mark.parametrize(
    ("stdin", "reply"),
    [
        ("task", "ARGS:-p --agent good -- fix tests;STDIN:fix tests"),
        ("none", "ARGS:-p --agent good -- fix tests;STDIN:"),
    ],
)
def test_an_agent_program_that_reads_stdin_besides_its_arguments(ws: Workspace, stdin: str, reply: str) -> None:
    ws.program("claude", "printf 'ARGS:%s;' \"$*\"; printf STDIN:; cat")
    spawn(ws, "claude", "-p", "--agent", "{recipe}", "--", "{task}", stdin=stdin)
    done = ws.run("delegate", "fix tests", timeout=10).expect()
    assert done.json["process"]["reply"] == reply
    assert done.stderr == ""


def test_a_task_as_argument_beside_the_payload_by_default_is_warned_of(ws: Workspace) -> None:
    spawn(ws, "echo", "{task}")
    ws.settings({"spawn.stdin": None})
    done = ws.run("delegate", "fix tests").expect()
    assert "also reads the payload on stdin" in done.stderr
    assert "set spawn.stdin to none, or to payload if that is meant" in done.stderr
    assert ws.run("delegate", "--set", "spawn.stdin=payload", "fix tests").expect().stderr == ""


def test_payload_and_prompt_as_files_for_their_owner_only_and_gone_afterwards(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], promptPrefix="Be brief.\n")
    script = 'cat "$2"; cp "$1" payload; ls -ld "$(dirname "$1")" | cut -c1-10; echo "$1" >where'
    ws.settings(spawn__command=["sh", "-c", script, "sh", "{payload_file}", "{prompt_file}"], spawn__stdin="none")
    process = ws.run("delegate", "--steer", "Go on.", "fix tests ünï").expect().json["process"]
    assert process["reply"] == "Be brief.\n\nfix tests ünï\n\nGo on.\ndrwx------\n"
    assert json.loads(ws.path("P/payload").read_text(encoding="utf-8"))["task"] == "fix tests ünï"
    where = Path(ws.path("P/where").read_text().strip())
    assert where.parent.parent == ws.state / "processes"
    assert [path.name for path in where.parent.iterdir()] == ["output.log"]


# What it writes.


@pytest.mark.parametrize(
    ("script", "fields"),
    [
        ("""echo '{"answer": 42, "status": "fine"}'""", {"reply": {"answer": 42, "status": "fine"}, "status": "DONE"}),
        ("""printf '\\n {"answer":\\n 42}\\n\\n'""", {"reply": {"answer": 42}, "status": "DONE"}),
        ("""echo '{"exitCode": 9}'""", {"reply": {"exitCode": 9}, "exitCode": 0}),
        ("""echo '{"reply": {"a": 1}}'""", {"reply": {"reply": {"a": 1}}}),
        ("""echo '{"existingStatus": "DONE", "hint": "x"}'""", {"reply": {"existingStatus": "DONE", "hint": "x"}}),
        ("echo talk; echo '{\"id\": 1}'", {"reply": 'talk\n{"id": 1}\n'}),
        ("echo 42", {"reply": 42}),
        ("echo 3.10", {"reply": "3.10\n"}),
        ("echo '\"hello\"'", {"reply": "hello"}),
        ("echo hello; echo world", {"reply": "hello\nworld\n"}),
        ("echo '[1]'", {"reply": [1]}),
        ("echo '{} {}'", {"reply": "{} {}\n"}),
        ("echo '{\"a\": NaN}'", {"reply": '{"a": NaN}\n'}),
        ("echo '{\"a\": 1e999}'", {"reply": '{"a": 1e999}\n'}),
        ("printf '\\377\\376x'", {"reply": "\ufffd\ufffdx"}),
        ("printf '\\0'", {"reply": "\0"}),
    ],
    ids=[
        "object", "spread-object", "own-exit-code", "its-own-reply", "its-own-existing", "object-in-the-last-line",
        "number",
        "number-that-is-a-version", "string", "text", "array", "two-objects", "nan",
        "too-large-a-number",
        "not-utf-8", "nul",
    ],
)  # fmt: skip
def test_what_the_command_writes(ws: Workspace, script: str, fields: dict[str, object]) -> None:
    spawn_sh(ws, script)
    process = ws.run("delegate", "fix tests").expect().json["process"]
    assert {key: process[key] for key in fields} == fields
    assert "existingStatus" not in process


def test_a_program_cannot_forge_its_record(ws: Workspace) -> None:
    forged = {
        "id": "5", "name": "Tea", "session": "x", "status": "RUNNING", "pid": 1, "log": "/etc/passwd", "recipe": "p",
        "engine": "e", "parent": "p", "startedAt": "1970", "endedAt": None, "exitCode": 9,
    }  # fmt: skip
    spawn_sh(ws, f"echo '{json.dumps(forged)}'")
    waited = ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]
    ws.run("delegate", "--name", "b", "--no-wait", "fix tests").expect()
    ws.run("processes", "wait", "b").expect()
    for process in (waited, *ws.run("processes", "list").expect().json, ws.run("processes", "show", "b").expect().json):
        assert process.pop("reply") == forged
        assert all(process[key] != value for key, value in forged.items() if key not in ("endedAt", "parent"))
        assert (process["status"], process["exitCode"]) == ("DONE", 0)


def test_a_command_that_writes_nothing_has_no_reply(ws: Workspace) -> None:
    spawn(ws, "true")
    process = ws.run("delegate", "fix tests").expect().json["process"]
    assert "reply" not in process
    assert [process[key] for key in ("status", "exitCode", "log")] == ["DONE", 0, None]
    assert process["startedAt"] <= process["endedAt"]
    assert process["pid"] > 1


def test_json_too_deep_to_be_passed_on_is_text(ws: Workspace) -> None:
    text = '{"a":' + "[" * 900 + "]" * 900 + "}"
    ws.write("P/deep.json", text)
    spawn(ws, "cat", "deep.json")
    assert ws.run("delegate", "fix tests").expect().json["process"]["reply"] == text


def test_a_long_output_is_complete(ws: Workspace) -> None:
    spawn(ws, "seq", "1", "300000")
    reply = ws.run("delegate", "fix tests").expect().json["process"]["reply"]
    assert reply == "".join(f"{number}\n" for number in range(1, 300_001))


def test_a_background_job_that_keeps_the_pipe_does_not_keep_us(ws: Workspace) -> None:
    spawn_sh(ws, "sleep 300 2>&- & echo $! >pid; echo done")
    begun = time.monotonic()
    done = ws.run("delegate", "fix tests").expect()
    took = time.monotonic() - begun
    server = pid_in(ws.path("P/pid"))
    assert state_of(server) == "S"  # it may be a server that was meant to stay
    os.kill(server, signal.SIGKILL)
    assert done.json["process"]["reply"] == "done\n"
    assert took < 3


# How it ends.


@pytest.mark.parametrize(
    ("script", "code", "why"),
    [
        ("echo partial; exit 7", 7, "the spawn command ended with status 7"),
        ("echo partial; kill -KILL $$", -9, "the spawn command was ended by the signal SIGKILL"),
        ("echo partial; kill -TERM $$", -15, "the spawn command was ended by the signal SIGTERM"),
        ("echo partial; exit 130", 130, "the spawn command ended with status 130"),
    ],
    ids=["status", "kill", "term", "status-130"],
)
def test_a_command_that_fails(ws: Workspace, script: str, code: int, why: str) -> None:
    spawn_sh(ws, script)
    failed = ws.run("delegate", "fix tests").expect(3)
    assert (failed.json["decision"], failed.json["recipe"], failed.json["error"]) == ("MATCH", "good", why)
    process = failed.json["process"]
    assert (process["status"], process["exitCode"], process["reply"]) == ("FAILED", code, "partial\n")
    assert f"error: {why}" in failed.stderr


def test_a_failed_command_cannot_call_itself_done(ws: Workspace) -> None:
    spawn_sh(ws, """echo '{"status": "DONE", "answer": 42}'; exit 1""")
    process = ws.run("delegate", "fix tests").expect(3).json["process"]
    assert (process["status"], process["reply"]["answer"]) == ("FAILED", 42)


def test_what_the_command_says_on_stderr_stays_there(ws: Workspace) -> None:
    spawn_sh(ws, "echo ouch >&2; echo fine")
    done = ws.run("delegate", "fix tests").expect()
    assert (done.stderr, done.json["process"]["reply"]) == ("ouch\n", "fine\n")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["no-such-agent", "{task}"], "the program `no-such-agent` is not on the PATH"),
        (["P/no-such-agent"], "the program `{P}/no-such-agent` is not there"),
        (["P/plain"], "the program `{P}/plain` is not executable"),
        (["P/plain/below"], "the program `{P}/plain/below` is not there"),
        (["/"], "the program `/` is a folder"),
        (["P/bare"], "the program `{P}/bare` is no program: a script needs a first line such as `#!/bin/sh`"),
        (["P/lost"], "the program `{P}/lost` names an interpreter in its first line that is not there"),
        (["lost-on-path"], "the program `lost-on-path` names an interpreter in its first line that is not there"),
        (
            ["lost-by-env"],
            "the program `lost-by-env` names an interpreter in its first line that is not on the PATH: "
            "`no-such-interpreter`",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_program_that_cannot_be_started(ws: Workspace, command: list[str], why: str) -> None:
    ws.write("P/plain", "#!/bin/sh\n")
    ws.write("P/bare", "echo no first line\n").chmod(0o755)
    ws.write("P/lost", "#!/no/such/interpreter\n").chmod(0o755)
    ws.program("lost-on-path", "#!/no/such/interpreter\n")
    ws.program("lost-by-env", "#!/usr/bin/env no-such-interpreter\n")
    command, why = [word.replace("P/", f"{ws.project}/") for word in command], why.replace("{P}", str(ws.project))
    spawn(ws, *command)
    failed = ws.run("delegate", "--name", "a", "fix tests").expect(3)
    assert (failed.json["decision"], failed.json["recipe"], failed.json["error"]) == ("MATCH", "good", why)
    assert "process" not in failed.json
    assert failed.stderr == f"error: {why}\n  help: check spawn.command in {ws.path('T/settings.yaml')}\n"
    ws.run("delegate", "--name", "a", "--set", 'spawn.command=["true"]', "fix tests").expect()


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("fix tests\0now", "an argument holds a NUL character, which no program can be given; pass the task on stdin"),
        (
            "fix tests" + "!" * 3_000_000,
            "the arguments are too long to start the program `echo`; pass the task on stdin or as a file",
        ),
    ],
    ids=["nul", "too-long"],
)
def test_a_task_that_cannot_be_an_argument(ws: Workspace, task: str, why: str) -> None:
    spawn(ws, "echo", "{task}")
    failed = ws.run("delegate", "-", stdin=task).expect(3)
    assert failed.json["error"] == why
    assert "Traceback" not in failed.stderr


def test_a_task_that_the_locale_cannot_express(ws: Workspace) -> None:
    spawn(ws, "echo", "{task}")
    ascii_only: dict[str, str | None] = {"LANG": None, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    failed = ws.run("delegate", "-", stdin="fix tests ünï", env=ascii_only).expect(3)
    assert "take a UTF-8 locale, or pass the task on stdin" in failed.json["error"]
    done = ws.run("delegate", "--set", "spawn.stdin=task", "--set", 'spawn.command=["cat"]', "-",
                  stdin="fix tests ünï", env=ascii_only).expect()  # fmt: skip
    assert done.json["process"]["reply"] == "fix tests ünï"


@pytest.mark.parametrize("stdin", ["payload", "task", "none"])
def test_bytes_that_are_not_utf_8_are_replaced(ws: Workspace, stdin: str) -> None:
    spawn(ws, "sh", "-c", 'printf %s "$1"; cat', "sh", "{task}", stdin=stdin)
    bytes_in_an_argument = b"fix tests \xff\xe9".decode("utf-8", "surrogateescape")
    done = ws.run("delegate", "--title", bytes_in_an_argument, bytes_in_an_argument).expect()
    assert done.json["process"]["reply"].startswith("fix tests \ufffd\ufffd")
    assert (done.json["process"]["reply"].count("\ufffd"), done.stderr) == (
        {"payload": 6, "task": 4, "none": 2}[stdin],
        "",
    )


@pytest.mark.parametrize(
    "script",
    ["true", "exec <&-; sleep 0.3", "head -c 10 >/dev/null", "sleep 300 <&0 2>&- & echo $! >pid"],
    ids=["ends-at-once", "closes-stdin", "reads-a-little", "leaves-a-job-with-stdin"],
)
def test_a_command_that_does_not_read_a_long_payload(ws: Workspace, script: str) -> None:
    spawn_sh(ws, script, stdin="payload")
    done = ws.run("delegate", "-", stdin="fix tests " + "y" * 1_000_000, timeout=10).expect()
    if ws.path("P/pid").exists():
        os.kill(pid_in(ws.path("P/pid")), signal.SIGKILL)
    assert done.json["process"]["status"] == "DONE"
    assert done.stderr == ""


# The time limit.

FAMILIES = {
    "itself": "echo $$ >>pids; exec sleep 300",
    "grandchild-holds-the-pipe": "sleep 300 & echo $! >>pids; echo $$ >>pids; sleep 300",
    "ignores-term": "trap '' TERM; echo $$ >>pids; while :; do sleep 0.1; done",
    "grandchild-ignores-term": "sh -c 'trap \"\" TERM; echo $$ >>pids; while :; do sleep 0.1; done' & wait",
    "stopped": "echo $$ >>pids; kill -STOP $$",
    "reads-nothing": "exec <&-; echo $$ >>pids; exec sleep 300",
}


@pytest.mark.parametrize("script", FAMILIES.values(), ids=FAMILIES.keys())
def test_a_time_out_ends_the_whole_family(ws: Workspace, script: str) -> None:
    spawn_sh(ws, f"echo partial; {script}", spawn__timeout=1)
    begun = time.monotonic()
    late = ws.run("delegate", "fix tests").expect(3)
    took = time.monotonic() - begun
    assert took < 1 + 3
    assert [pid for pid in pids_in(ws.path("P/pids")) if state_of(pid)] == []
    process = late.json["process"]
    assert (process["status"], process["reply"]) == ("TIMED_OUT", "partial\n")
    assert late.json["error"] == "the spawn command was ended after 1 seconds"
    assert late.stderr == (
        "error: the spawn command was ended after 1 seconds\n  help: raise --timeout or spawn.timeout\n"
    )


def test_a_program_may_tidy_up_when_its_time_is_over(ws: Workspace) -> None:
    spawn_sh(ws, "trap 'echo tidied; exit 0' TERM; sleep 300 & wait")
    late = ws.run("delegate", "--timeout", "0.5", "fix tests").expect(3)
    assert (late.json["process"]["status"], late.json["process"]["reply"]) == ("TIMED_OUT", "tidied\n")


def test_the_nearest_time_limit_holds(ws: Workspace) -> None:
    spawn_sh(ws, "sleep 1", spawn__timeout=0.2, spawn__engines={"ford": {"timeout": 0.3}})
    assert "after 0.3 seconds" in ws.run("delegate", "fix tests").expect(3).json["error"]
    assert "after 0.4 seconds" in ws.run("delegate", "--timeout", "0.4", "fix tests").expect(3).json["error"]
    ws.run("delegate", "--timeout", "30", "fix tests").expect()


def test_a_program_that_ends_just_at_the_limit_is_one_or_the_other() -> None:
    for delay in (0.0, 0.0005, 0.001, 0.0015, 0.002) * 4:
        finished = run_child(["sleep", "0.05"], stdin=None, timeout=0.05 + delay)
        assert finished.exit_code == 0 or finished.timed_out
        assert finished.exit_code in {0, -signal.SIGTERM}


def test_a_program_runs_from_any_thread() -> None:
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(run_child(["cat"], stdin=b"x" * 200_000, timeout=10).stdout))
    thread.start()
    thread.join()
    assert found == [b"x" * 200_000]


# Signals.


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_a_signal_reaches_the_command_and_ends_everything(ws: Workspace, name: str) -> None:
    spawn_sh(ws, f"trap 'echo got {name}; exit 0' {name}; sleep 300 & echo $! >job; echo $$ >pid; wait")
    running = ws.start("delegate", "--name", "a", "fix tests")
    command, job = pid_in(ws.path("P/pid")), pid_in(ws.path("P/job"))
    os.killpg(running.pid, getattr(signal, f"SIG{name}"))
    ended = ws.finish(running, timeout=5).expect(130)
    assert ended.json["process"]["status"] == "STOPPED"
    assert ended.json["process"]["reply"] == f"got {name}\n"
    assert ended.json["error"] == "interrupted: the spawn command was passed the signal and has ended"
    assert "Traceback" not in ended.stderr
    assert (state_of(command), state_of(job)) == ("", "")
    known = ws.run("delegate", "--name", "a", "fix tests").expect().json["process"]
    assert (known["status"], known["existingStatus"]) == ("already_exists", "STOPPED")


def test_an_interrupt_ends_a_command_that_does_not_handle_it(ws: Workspace) -> None:
    spawn_sh(ws, "echo $$ >pid; exec sleep 300")
    running = ws.start("delegate", "fix tests")
    command = pid_in(ws.path("P/pid"))
    os.kill(running.pid, signal.SIGINT)
    process = ws.finish(running, timeout=5).expect(130).json["process"]
    assert (process["status"], process["exitCode"]) == ("STOPPED", -signal.SIGINT)
    assert state_of(command) == ""


def test_who_ignores_the_first_interrupt_is_killed_by_a_later_one(ws: Workspace) -> None:
    spawn_sh(ws, "trap '' INT; echo $$ >pid; while :; do sleep 0.1; done")
    running = ws.start("delegate", "fix tests")
    command = pid_in(ws.path("P/pid"))
    os.kill(running.pid, signal.SIGINT)
    os.kill(running.pid, signal.SIGINT)  # at once: a shell and a wrapper often both pass on one Ctrl-C
    time.sleep(1.2)
    assert state_of(command) in {"S", "R"}
    os.kill(running.pid, signal.SIGINT)
    process = ws.finish(running, timeout=5).expect(130).json["process"]
    assert process["exitCode"] == -signal.SIGKILL
    assert state_of(command) == ""


def test_other_signals_are_passed_on_and_end_nothing(ws: Workspace) -> None:
    spawn_sh(ws, "trap 'echo woken; exit 0' USR1; echo $$ >pid; while :; do sleep 0.1; done")
    running = ws.start("delegate", "fix tests")
    pid_in(ws.path("P/pid"))
    os.kill(running.pid, signal.SIGUSR1)
    assert ws.finish(running, timeout=5).expect().json["process"]["reply"] == "woken\n"


def test_what_nohup_ignores_stays_ignored(ws: Workspace) -> None:
    spawn_sh(ws, "echo $$ >pid; sleep 1; echo done")
    ws.command = ("nohup", *ws.command)
    running = ws.start("delegate", "fix tests")
    command = pid_in(ws.path("P/pid"))
    os.killpg(running.pid, signal.SIGHUP)
    os.killpg(command, signal.SIGHUP)
    assert ws.finish(running, timeout=5).expect().json["process"]["reply"] == "done\n"


def test_a_suspended_run_suspends_the_command(ws: Workspace) -> None:
    spawn_sh(ws, "echo $$ >pid; while [ ! -e go ]; do sleep 0.1; done; echo done")
    ws.command = (sys.executable, "-c", AS_A_JOB, *ws.command)
    running = ws.start("delegate", "fix tests")
    command = pid_in(ws.path("P/pid"))
    ours = subprocess.run(["ps", "-o", "ppid=", "-p", str(command)], capture_output=True, text=True, check=True)
    vancectl = int(ours.stdout)
    os.kill(vancectl, signal.SIGTSTP)
    until(lambda: state_of(vancectl) == state_of(command) == "T", "both are stopped")
    ws.write("P/go", "")
    os.kill(vancectl, signal.SIGCONT)
    assert ws.finish(running, timeout=5).expect().json["process"]["reply"] == "done\n"


def test_ctrl_c_at_a_terminal_ends_everything(ws: Workspace) -> None:
    spawn_sh(ws, "sleep 300 & echo $! >job; echo $$ >pid; wait")
    ws.command = (sys.executable, "-c", ON_A_TERMINAL, *ws.command)
    running = ws.start("delegate", "fix tests", stdin=subprocess.PIPE)
    command, job = pid_in(ws.path("P/pid")), pid_in(ws.path("P/job"))
    ended = ws.finish(running, stdin=b"\x03", timeout=5).expect(130)
    assert "good-" in ended.stdout
    assert "STOPPED" in ended.stdout
    assert "interrupted" in ended.stdout
    assert (state_of(command), state_of(job)) == ("", "")


def test_a_question_at_the_terminal_fails_instead_of_hanging(ws: Workspace) -> None:
    spawn_sh(ws, "read answer </dev/tty || echo nobody to ask")
    ws.command = (sys.executable, "-c", ON_A_TERMINAL, *ws.command)
    assert "nobody to ask" in ws.run("delegate", "fix tests", stdin="", timeout=10).expect().stdout


def test_an_interrupt_while_the_model_is_asked(ws: Workspace) -> None:
    ws.program("oracle", f"echo $$ >{ws.path('P/pid')}; exec sleep 300")
    ws.settings(selector__backend="command", selector__command=["oracle"], spawn__command=["touch", "started"])
    running = ws.start("delegate", "paint the fence")
    oracle = pid_in(ws.path("P/pid"))
    os.killpg(running.pid, signal.SIGINT)
    ended = ws.finish(running, timeout=5).expect(130)
    assert (ended.stdout, state_of(oracle)) == ("", "")
    assert "Traceback" not in ended.stderr
    assert not ws.path("P/started").exists()


# Left to itself.


def test_a_command_left_to_itself_goes_on(ws: Workspace) -> None:
    spawn_sh(ws, "cat >payload; echo begun; echo note >&2; sleep 1.5; echo done; touch ended", stdin="payload")
    started = ws.run("delegate", "--no-wait", "--name", "a", "fix tests").expect()
    assert not ws.path("P/ended").exists()
    process = started.json["process"]
    assert [process[key] for key in ("name", "status", "exitCode", "endedAt")] == ["a", "RUNNING", None, None]
    log = Path(process["log"])
    assert log == ws.state / "processes" / process["id"] / "output.log"
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    assert os.getsid(process["pid"]) == process["pid"]  # no terminal that closes can end it
    until(lambda: ws.path("P/ended").exists(), "the command has ended")
    assert log.read_text() == "begun\nnote\ndone\n"
    assert json.loads(ws.path("P/payload").read_text())["task"] == "fix tests"
    assert {path.name for path in log.parent.iterdir()} == {"output.log", "stdout.log", "lifeline"}


@pytest.mark.parametrize(("stdin", "read"), [("task", "fix tests"), ("none", "")])
def test_stdin_of_a_command_left_to_itself(ws: Workspace, stdin: str, read: str) -> None:
    spawn_sh(ws, "cat >read.part; mv read.part read", stdin=stdin)
    ws.run("delegate", "--no-wait", "fix tests").expect()
    until(lambda: ws.path("P/read").exists(), "stdin is read to its end")
    assert ws.path("P/read").read_text() == read


def test_files_of_a_command_left_to_itself_stay(ws: Workspace) -> None:
    spawn(ws, "sh", "-c", 'sleep 0.5; cp "$1" copy.part; mv copy.part copy', "sh", "{payload_file}")
    ws.run("delegate", "--no-wait", "fix tests").expect()
    until(lambda: ws.path("P/copy").exists(), "the payload is copied")
    assert json.loads(ws.path("P/copy").read_text())["task"] == "fix tests"


def test_a_program_left_to_itself_that_cannot_be_started(ws: Workspace) -> None:
    spawn(ws, "no-such-agent")
    failed = ws.run("delegate", "--no-wait", "--name", "a", "fix tests").expect(3)
    assert failed.json["error"] == "the program `no-such-agent` is not on the PATH"
    assert list((ws.state / "processes").glob("*")) == []
    ws.run("delegate", "--name", "a", "--set", 'spawn.command=["true"]', "fix tests").expect()


def test_the_time_limit_of_a_command_left_to_itself_is_kept(ws: Workspace) -> None:
    spawn_sh(ws, "echo $$ >pid; exec sleep 300")
    started = ws.run("delegate", "--no-wait", "--timeout", "0.5", "--name", "a", "fix tests").expect()
    assert started.stderr == ""
    ended = ws.run("processes", "wait", "a", "--json").expect(1).json
    assert [ended[key] for key in ("status", "exitCode")] == ["TIMED_OUT", -15]
    assert state_of(pid_in(ws.path("P/pid"))) == ""


# Environment and engines.


def test_variables_are_set_and_unset(ws: Workspace) -> None:
    ws.program("claude", '[ -n "$CLAUDECODE" ] && { echo nested >&2; exit 1; }; echo "ok $DEPTH $EMPTY. $HOME"')
    spawn(ws, "claude", spawn__env={"CLAUDECODE": None, "DEPTH": 3, "EMPTY": ""})
    done = ws.run("delegate", "fix tests", env={"CLAUDECODE": "1", "EMPTY": "no"}).expect()
    assert done.json["process"]["reply"] == f"ok 3 . {ws.home}\n"
    failed = ws.run("delegate", "--set", "spawn.env={}", "fix tests", env={"CLAUDECODE": "1"}).expect(3)
    assert failed.stderr.startswith("nested\n")


def test_the_readme_s_spawn_command_works_from_inside_an_agent_session(ws: Workspace) -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (example,) = [block for block in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL) if "settings.yaml" in block]
    ws.write("T/settings.yaml", example)
    ws.program("claude", '[ -n "$CLAUDECODE" ] && { echo nested >&2; exit 1; }; printf "%s\\n" "$@"; cat')
    done = ws.run("delegate", "use marvin for this", env={"CLAUDECODE": "1"}).expect()
    assert done.json["process"]["reply"].endswith(
        "system.txt\n--model=claude-opus-5-5\n--setting-sources\nuser\nuse marvin for this"
    )
    assert done.stderr == ""


def test_the_program_is_looked_for_on_the_command_s_own_path(ws: Workspace) -> None:
    ws.write("P/tools/agent", "#!/bin/sh\necho from tools\n").chmod(0o755)
    spawn(ws, "agent", spawn__env={"PATH": f"{ws.project}/tools:{os.defpath}"})
    assert ws.run("delegate", "fix tests").expect().json["process"]["reply"] == "from tools\n"


def test_an_engine_has_a_command_of_its_own(ws: Workspace) -> None:
    spawn(ws, "sh", "-c", 'echo "common $A $B"; cat', stdin="task", spawn__env={"A": "1", "B": "2"})
    ws.recipe("P/recipes/deep.yaml", engine="marvin")
    ws.recipe("P/recipes/plan.yaml", engine="vogon")
    own = {"command": ["sh", "-c", 'echo "{engine} $A $B"; cat'], "stdin": "none", "env": {"B": "3"}}
    ws.settings({"spawn.engines": {"marvin": own, "vogon": {"stdin": "none"}}})
    replies = [
        ws.run("delegate", "--recipe", recipe, "the task").expect().json["process"]["reply"]
        for recipe in ("good", "deep", "plan")
    ]
    assert replies == ["common 1 2\nthe task", "marvin 1 3\n", "common 1 2\n"]


def test_what_is_started_asks_with_the_callers_model(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    spawn_sh(ws, "echo $VANCECTL_MODEL")
    assert ws.run("delegate", "--model", "m-mine", "fix tests").expect().json["process"]["reply"] == "m-mine\n"
