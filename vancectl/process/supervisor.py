"""The supervisor of one process: starts it, waits without cost, records its end in the lifeline, tells who asked.

It runs as a program of its own (`supervision.py` starts it) and outlives vancectl. One waits for each process, so it
imports next to nothing: about 10 MB and no work until a signal comes. What it is to do comes as one JSON object on its
standard input, whole or not at all; its environment is the program's own. It answers with one line: the program's
process id, or why it could not be started.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

# Run by its path and without the site module, so that nothing of a project or an environment can get in between.
sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import contextlib

from vancectl.process.lifeline import Lifeline, birth_of

_STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_WAITED = {signal.SIGCHLD, signal.SIGALRM, *_STOPPING}
# After TERM; a second signal to the supervisor shortens it.
_GRACE = 10.0
_GROUP_GRACE = 1.0
_TAIL = 60_000  # what a pipe takes before anyone reads


def main() -> None:
    try:
        job = json.loads(sys.stdin.buffer.read())
    except ValueError:
        sys.exit(1)  # who started us has died in the middle of the sentence
    lifeline = Lifeline(job["folder"], job["lifeline"])
    os.set_inheritable(lifeline.handle, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED)
    begun = time.monotonic()
    pid, number = _start(job, lifeline)
    if number:
        _answer({"errno": number})
        sys.exit(1)
    stood: dict[str, object] = {"supervisor": os.getpid(), "pid": pid, "birth": birth_of(pid)}
    lifeline.write(stood)
    _answer({"pid": pid})
    exit_code, reason = _wait(pid, job["timeout"])
    end = {
        "status": reason or ("DONE" if exit_code == 0 else "FAILED"),
        "exitCode": exit_code,
        "endedAt": _now(),
        "seconds": round(time.monotonic() - begun, 3),
    }
    lifeline.write({**stood, **end})
    if job["onExit"]:
        _tell(job, {**stood, **end})


def _start(job: dict[str, object], lifeline: Lifeline) -> tuple[int, int]:
    """The process id and 0, or 0 and the number of the error. The program is in the lifeline before it runs."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            lifeline.write({"supervisor": os.getppid(), "pid": os.getpid(), "birth": birth_of(os.getpid())})
            _become(job["program"], job["argv"], job["stdin"] or os.devnull, job["log"])
        except OSError as error:
            os.write(tell, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(tell)
    failure = os.read(told, 16)
    os.close(told)
    if failure:
        os.waitpid(pid, 0)
        return 0, int(failure)
    return pid, 0


def _become(program: object, argv: object, stdin: object, log: object) -> None:
    assert isinstance(argv, list)
    assert isinstance(stdin, str | int)
    source = os.open(stdin, os.O_RDONLY) if isinstance(stdin, str) else stdin
    output = os.open(str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(source, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # Python ignores these two, and a program would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    # Bytes, as they were given; Latin-1 is how they came through the JSON.
    words = [word.encode("latin-1") for word in argv]
    os.execve(str(program).encode("latin-1"), words, os.environb)


def _answer(document: dict[str, object]) -> None:
    """Whoever asked may be gone; the program runs all the same."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(document).encode() + b"\n")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _wait(pid: int, timeout: object) -> tuple[int, str]:
    """Exit code and, where it was made to end, TIMED_OUT or STOPPED."""
    if isinstance(timeout, int | float):
        signal.setitimer(signal.ITIMER_REAL, min(timeout, 1e9))
    reason = ""
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        came = signal.sigwait(_WAITED)
        if came == signal.SIGCHLD:
            continue
        if reason:  # the grace is over, or somebody insists
            _signal(pid, signal.SIGKILL)
            continue
        reason = "TIMED_OUT" if came == signal.SIGALRM else "STOPPED"
        _signal(pid, signal.SIGTERM)
        signal.setitimer(signal.ITIMER_REAL, _GROUP_GRACE if reason == "TIMED_OUT" else _GRACE)
    if reason:
        _end_rest(pid)
    return os.waitstatus_to_exitcode(status), reason


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pid, number)
    if number == signal.SIGKILL:
        with contextlib.suppress(OSError):
            os.kill(pid, number)  # it may have left its own group


def _end_rest(pid: int) -> None:
    """What the program left behind in its group had the same TERM, and gets KILL a second later."""
    limit = time.monotonic() + _GROUP_GRACE
    try:
        while time.monotonic() < limit:
            os.killpg(pid, 0)
            time.sleep(0.02)
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        return


def _tell(job: dict[str, object], end: dict[str, object]) -> None:
    """Calls the command for the end with the event on its standard input, and does not wait for it."""
    event = dict(job["event"])  # type: ignore[call-overload]  # an object, as JSON has it
    event["process"] = {**event["process"], **_reply(str(job["log"])), **{key: end[key] for key in _EVENT_KEYS}}
    generated = _generated(event["process"].get("reply"))
    if generated is not None:
        event["generatedRecipe"] = generated
    data = json.dumps(event).encode() + b"\n"
    if len(data) > _TAIL:
        event["process"] = {
            key: value for key, value in event["process"].items() if key in (*_EVENT_KEYS, "id", "name")
        }
        data = json.dumps(event).encode() + b"\n"
    if os.fork() == 0:
        try:
            source, sink = os.pipe()
            os.write(sink, data)
            os.close(sink)
            os.setsid()
            _become(job["onExitProgram"], job["onExit"], source, os.path.join(str(job["folder"]), "on-exit.log"))
        except OSError:
            pass
        finally:
            os._exit(127)


_EVENT_KEYS = ("status", "exitCode", "endedAt", "seconds", "pid")


def _reply(log: str) -> dict[str, object]:
    """As in the record; only the end, as text, of what is too long to be passed on."""
    from vancectl.process.output import read_output  # at the end only, so that who waits stays small
    from vancectl.programs.secrets import scrub

    try:
        with open(log, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _TAIL, 0))
            data = file.read()
    except OSError:
        return {}
    return read_output(data) if size <= _TAIL else {"reply": scrub(data.decode("utf-8", "replace"))}


def _generated(reply: object) -> str | None:
    """The recipe that a generator names in its last line."""
    from vancectl.process.output import last_line_object

    said = last_line_object(reply).get("generatedRecipe")
    return said if isinstance(said, str) else None


def _now() -> str:
    now = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}+00:00"


if __name__ == "__main__":
    main()
