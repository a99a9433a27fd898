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
from collections.abc import Callable

from vancectl.process.lifeline import Lifeline, birth_of
from vancectl.process.log import BOTH, STDOUT, Log, keep
from vancectl.process.status import ProcessStatus, status_of
from vancectl.text.moment import utc_now

_STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_WAITED = {signal.SIGCHLD, signal.SIGALRM, *_STOPPING}
# After TERM; a second signal to the supervisor shortens it.
_GRACE = 10.0
_GROUP_GRACE = 1.0
_LAST_WORDS = 1.0
_TAIL = 4096


def main() -> None:
    try:
        job = json.loads(sys.stdin.buffer.read())
    except ValueError:
        sys.exit(1)  # who started us has died in the middle of the sentence
    lifeline = Lifeline(job["folder"], job["lifeline"])
    os.set_inheritable(lifeline.handle, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED)
    begun = time.monotonic()
    pid, keeper, number = _start(job, lifeline)
    if number:
        _answer({"errno": number})
        sys.exit(1)
    stood: dict[str, object] = {
        "supervisor": os.getpid(), "pid": pid, "birth": birth_of(pid), "stop": job["stop"],
    }  # fmt: skip
    lifeline.write(stood)
    _answer({"pid": pid})
    stopper = _Stopper(job)
    exit_code, reason = _wait(pid, job["timeout"], stopper)
    if exit_code < 0:  # also where somebody else has killed it
        stopper.begin()
    _let_finish(keeper, _LAST_WORDS)
    end = {
        "status": reason or status_of(exit_code),
        "exitCode": exit_code,
        "endedAt": utc_now(),
        "seconds": round(time.monotonic() - begun, 3),
        **stopper.end(),
    }
    lifeline.write({**stood, **end})
    if job["onExit"]:
        said, _ = lifeline.read()
        lifeline.release()
        _tell(job, said)


def _start(job: dict[str, object], lifeline: Lifeline) -> tuple[int, int, int]:
    """The process id, who keeps its logs, and 0; or the number of the error. The program is in the lifeline first."""
    limit = job["limit"]
    assert isinstance(limit, int)
    both, stdout = (Log(os.path.join(lifeline.folder, name), limit) for name in (BOTH, STDOUT))
    out, err = os.pipe(), os.pipe()
    keeper = os.fork()
    if keeper == 0:
        try:
            os.close(out[1])
            os.close(err[1])
            _keep_logs([(out[0], (both, stdout)), (err[0], (both,))], lifeline)
        finally:
            os._exit(0)
    both.close()
    stdout.close()

    def begin() -> None:
        lifeline.write({"supervisor": os.getppid(), "pid": os.getpid(), "birth": birth_of(os.getpid())})

    words = job["argv"]
    assert isinstance(words, list)
    pid, number = _run(str(job["program"]), words, str(job["stdin"] or os.devnull), out[1], err[1], begin)
    for end in (*out, *err):
        os.close(end)
    return pid, keeper, number


def _keep_logs(streams: list[tuple[int, tuple[Log, ...]]], lifeline: Lifeline) -> None:
    """In a process of its own, so that the program can go on writing should the supervisor be killed.

    It must not hold the lifeline, which is the supervisor's alone, nor what the supervisor answers on.
    """
    lifeline.release()
    _turn_away()
    keep(streams, lifeline.mark_truncated)


def _run(
    program: str, words: list[str], source: str | int, out: int, err: int, begin: Callable[[], None]
) -> tuple[int, int]:
    """The process id and 0, or 0 and the number of the error. Bytes are Latin-1 here, as they came through the JSON."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            begin()
            os.dup2(os.open(source, os.O_RDONLY) if isinstance(source, str) else source, 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
            # Python ignores these two, and a program would inherit that.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, set())
            os.execve(program.encode("latin-1"), [word.encode("latin-1") for word in words], os.environb)
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


def _answer(document: dict[str, object]) -> None:
    """Whoever asked may be gone; the program runs all the same."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(document).encode() + b"\n")
    _turn_away()


def _turn_away() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


class _Stopper:
    """The preset's command that ends what the program has started elsewhere: once, beside the program's own end."""

    def __init__(self, job: dict[str, object]) -> None:
        self._job = job
        self._log = os.path.join(str(job["folder"]), "stop.log")
        self._pid = 0
        self._fault = ""

    def begin(self) -> None:
        words = self._job["stop"]
        if self._pid or self._fault or not words:
            return
        assert isinstance(words, list)
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._pid, number = _run(str(self._job["stopProgram"]), words, os.devnull, log, log, lambda: None)
        os.close(log)
        if number:
            self._fault = os.strerror(number).lower()

    def end(self) -> dict[str, object]:
        """What is to be recorded of it."""
        if not (self._pid or self._fault):
            return {}
        from vancectl.process.output import STOP_SECONDS, end_of, ended_badly, still_there

        if self._pid:
            status = _let_finish(self._pid, STOP_SECONDS)
            words = self._job["stop"]
            assert isinstance(words, list)
            if status is None:
                _signal(self._pid, signal.SIGKILL)
                self._fault = f"`{words[0]}` did not end within {STOP_SECONDS:g} seconds"
            elif code := os.waitstatus_to_exitcode(status):
                self._fault = ended_badly(words[0], code, end_of(self._log, _TAIL))
        return {"stopError": still_there(self._fault)} if self._fault else {}


def _wait(pid: int, timeout: object, stopper: _Stopper) -> tuple[int, ProcessStatus | None]:
    """Exit code and, where it was made to end, TIMED_OUT or STOPPED."""
    if isinstance(timeout, int | float):
        signal.setitimer(signal.ITIMER_REAL, min(timeout, 1e9))
    reason = None
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
        reason = ProcessStatus.TIMED_OUT if came == signal.SIGALRM else ProcessStatus.STOPPED
        _signal(pid, signal.SIGTERM)
        stopper.begin()
        signal.setitimer(signal.ITIMER_REAL, _GROUP_GRACE if reason is ProcessStatus.TIMED_OUT else _GRACE)
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


def _let_finish(pid: int, seconds: float) -> int | None:
    """How another child of ours ended, None where it has not.

    What the program itself wrote has been kept soon; what it left behind may hold the streams for long.
    """
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if done:
            return status
        signal.sigtimedwait({signal.SIGCHLD}, 0.05)
    return None


def _tell(job: dict[str, object], end: dict[str, object]) -> None:
    """Calls the command for the end with the event on its standard input. The supervisor does not wait for it."""
    if os.fork() == 0:
        try:
            os.setsid()
            fault = _call(job, _event(job, end))
            if fault:
                _note(str(job["folder"]), fault)
        finally:
            os._exit(0)


def _event(job: dict[str, object], end: dict[str, object]) -> bytes:
    from vancectl.process.output import (
        last_line_object,
        read_stdout,
        shortened,
    )  # at the end, so that who waits is small

    event = dict(job["event"])  # type: ignore[call-overload]  # an object, as JSON has it
    process = {**event["process"], **{key: end[key] for key in _EVENT_KEYS}}
    if end.get("logTruncated"):
        process["logTruncated"] = True
    process.update(read_stdout(os.path.join(str(job["folder"]), BOTH)))
    generated = last_line_object(process.get("reply")).get("generatedRecipe")
    if isinstance(generated, str):
        event["generatedRecipe"] = generated
    return json.dumps({**event, "process": shortened(process)}).encode() + b"\n"


_EVENT_KEYS = ("status", "exitCode", "endedAt", "seconds", "pid")


def _call(job: dict[str, object], event: bytes) -> str:
    """What went wrong, in words."""
    from vancectl.process.output import end_of, ended_badly, on_exit_fault

    words, limit = job["onExit"], job["limit"]
    assert isinstance(words, list)
    assert isinstance(limit, int)
    source, sink = os.pipe()
    said, say = os.pipe()
    pid, number = _run(str(job["onExitProgram"]), words, source, say, say, lambda: None)
    os.close(source)
    os.close(say)
    program = str(words[0]).encode("latin-1").decode("utf-8", "replace")
    if number:
        return on_exit_fault(f"`{program}` cannot be started: {os.strerror(number).lower()}")
    with contextlib.suppress(OSError):  # it need not read it
        os.write(sink, event)
    os.close(sink)
    path = os.path.join(str(job["folder"]), "on-exit.log")
    keep([(said, (Log(path, limit),))], lambda: None)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code == 0:
        return ""
    try:
        last = end_of(path, _TAIL)
    except OSError:
        last = b""
    return on_exit_fault(ended_badly(program, code, last))


def _note(folder: str, fault: str) -> None:
    from pathlib import Path

    from vancectl.errors import StoreError
    from vancectl.process.store import ProcessStore

    path = Path(folder)
    with contextlib.suppress(StoreError):  # the log of the command says it, too
        ProcessStore(path.parent.parent).note_on_exit(path.name, fault)


if __name__ == "__main__":
    main()
