"""Starts a supervisor for a program that shall outlive vancectl, and knows how a recorded process stands."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vancectl.errors import SpawnError, StoreError
from vancectl.process.elsewhere import Elsewhere
from vancectl.process.lifeline import Lifeline, lives
from vancectl.process.log import BOTH
from vancectl.process.output import STOP_SECONDS, read_stdout
from vancectl.process.status import ProcessStatus
from vancectl.process.store import ProcessRecord, ProcessStore
from vancectl.programs.child import ChildError, program_of, refusal
from vancectl.programs.environment import program_environment

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_SLOWEST = 0.5
_LAST_WAIT = 5.0


@dataclass(frozen=True, slots=True)
class Job:
    """All that a supervisor needs. `limit` is that of each log, in bytes.

    `event` is what the command for the end is told, its own end aside; `stop` is the preset's command that ends what
    the program has started elsewhere.
    """

    argv: Sequence[str]
    stdin: Path | None
    limit: int
    environment: Mapping[str, str]
    timeout: float | None = None
    on_exit: Sequence[str] = ()
    event: Mapping[str, Any] | None = None
    stop: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Supervised:
    """A program that runs, and the supervisor that waits for it."""

    pid: int
    supervisor: subprocess.Popen[bytes]
    on_exit_error: str | None = None

    def leave(self) -> None:
        """Nobody here waits for it, on purpose: it outlives this process, and must not be reported as left behind."""
        self.supervisor.returncode = 0


def supervise(job: Job, lifeline: Lifeline) -> Supervised:
    """Starts the supervisor, and through it the program. Raises ChildError where that cannot be started.

    The lifeline changes hands without a moment in which nobody holds it. Neither arguments nor environment are
    written to any file.
    """
    program = program_of(job.argv, job.environment)
    try:
        words, on_exit, stop_words = map(_words, (job.argv, job.on_exit, job.stop))
    except UnicodeEncodeError as error:
        raise refusal(job.argv, error) from None
    if any("\0" in word for word in (*words, *on_exit)):
        raise refusal(job.argv, ValueError())
    on_exit_program, fault = "", None
    try:
        on_exit_program = program_of(job.on_exit, job.environment) if job.on_exit else ""
    except ChildError as error:
        fault = error.text
    stop_program = ""
    with contextlib.suppress(ChildError):  # then the program is none of the preset's, or cannot run either
        stop_program = program_of(job.stop, job.environment) if job.stop else ""
    document = {
        "program": os.fsencode(program).decode("latin-1"),
        "argv": words,
        "stdin": str(job.stdin) if job.stdin is not None else None,
        "limit": job.limit,
        "timeout": job.timeout,
        "onExitProgram": os.fsencode(on_exit_program).decode("latin-1"),
        "onExit": on_exit if on_exit_program else [],
        "event": job.event or {},
        "stopProgram": os.fsencode(stop_program).decode("latin-1"),
        "stop": stop_words if stop_program else [],
        "folder": lifeline.folder,
        "lifeline": lifeline.handle,
    }
    supervisor = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_SUPERVISOR)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(job.environment),
        pass_fds=(lifeline.handle,),
        start_new_session=True,
    )
    lifeline.release()
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    with supervisor.stdin, contextlib.suppress(BrokenPipeError):
        supervisor.stdin.write(json.dumps(document).encode())
    with supervisor.stdout:
        line = supervisor.stdout.readline()
    if not line:
        supervisor.wait()
        raise ChildError("the supervisor of the process has ended before it began")
    answer = json.loads(line)
    if "errno" in answer:
        supervisor.wait()
        raise refusal(job.argv, OSError(answer["errno"], os.strerror(answer["errno"])))
    return Supervised(answer["pid"], supervisor, fault)


def _words(argv: Sequence[str]) -> list[str]:
    """Bytes, as they are given to a program, in a form that JSON can hold."""
    return [os.fsencode(word).decode("latin-1") for word in argv]


def current(record: ProcessRecord, store: ProcessStore) -> ProcessRecord:
    """The record as it stands now. What has changed since it was written is written, where that can be.

    A process that nobody waits for and that is gone is ABANDONED: nobody knows how it ended.
    """
    now = _seen(record, store)
    if now != record:
        with contextlib.suppress(StoreError):
            store.settle(now)
    return now


def current_all(records: Sequence[ProcessRecord], store: ProcessStore) -> list[ProcessRecord]:
    """The same for many; what has changed is written in one transaction."""
    seen = [_seen(record, store) for record in records]
    changed = [now for now, record in zip(seen, records, strict=True) if now != record]
    if changed:
        with contextlib.suppress(StoreError):
            store.settle_all(changed)
    return seen


def _seen(record: ProcessRecord, store: ProcessStore) -> ProcessRecord:
    if record.ended:
        return record
    try:
        said, held = Lifeline(str(store.folder / record.id)).read()
    except OSError:
        said, held = {}, False
    log = store.folder / record.id / BOTH
    if record.log is None and os.path.exists(log):  # who started it did not come to write it down
        record = replace(record, log=str(log))
    now = _merged(record, said, held)
    if now.status == ProcessStatus.ABANDONED:
        # Whoever waited records the end before the lifeline goes: what was read before that is out of date.
        latest = store.get(record.id)
        if latest is not None and latest.ended:
            return latest
    return now


def _merged(record: ProcessRecord, said: Mapping[str, Any], held: bool) -> ProcessRecord:
    pid = said.get("pid", record.pid)
    truncated = record.log_truncated or "logTruncated" in said
    known = replace(record, pid=pid, supervisor=said.get("supervisor", record.supervisor), log_truncated=truncated)
    if "status" in said:
        return replace(
            known,
            status=said["status"],
            exit_code=said.get("exitCode"),
            ended_at=said.get("endedAt"),
            seconds=said.get("seconds"),
            stop_error=said.get("stopError"),
            result=record.result or (read_stdout(record.log) if record.log else {}),
        )
    if held or lives(pid, said.get("birth")):
        return replace(known, status=ProcessStatus.RUNNING if pid is not None else ProcessStatus.STARTING)
    return replace(known, status=ProcessStatus.ABANDONED)


def wait_for(record: ProcessRecord, store: ProcessStore, timeout: float | None = None) -> ProcessRecord:
    """The record once the process has ended, or as it is after `timeout` seconds.

    Sleeps until the supervisor ends, where the system can tell that; looks now and then where it cannot, and where a
    program has lost its supervisor.
    """
    limit = time.monotonic() + timeout if timeout is not None else None
    pause = 0.02
    while True:
        record = current(record, store)
        left = limit - time.monotonic() if limit is not None else None
        if record.ended or (left is not None and left <= 0):
            return record
        pause = min(pause * 2, _SLOWEST)
        longest = pause if left is None else min(pause, left)
        if record.supervisor is None or not _sleep_until_gone(record.supervisor, left):
            time.sleep(longest)


def _sleep_until_gone(pid: int, timeout: float | None) -> bool:
    """Whether it could be waited for. It may be about to end, or be someone else's by now: the caller looks again."""
    import select

    if not hasattr(os, "pidfd_open"):
        return False
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        # Not for ever: its number may be another process's, and then the lifeline knows better.
        return bool(poll.poll(min(timeout, 5.0) * 1000 if timeout is not None else 5000))
    finally:
        os.close(handle)


def remove(record: ProcessRecord, store: ProcessStore) -> None:
    """Forgets a process that has ended, with its folder: the record goes last, so that no log is left without one."""
    import shutil

    shutil.rmtree(store.folder / record.id, ignore_errors=True)
    store.release(record)


def stop(record: ProcessRecord, store: ProcessStore, grace: float) -> ProcessRecord:
    """Ends the process's group: TERM, and after `grace` seconds KILL. Raises SpawnError where it cannot be ended."""
    record = current(record, store)
    if record.status == ProcessStatus.ABANDONED:
        return _end_elsewhere(record, store)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if record.ended:
            return record
        supervised = _signal_supervisor(record, store)
        if not supervised or number == signal.SIGKILL:
            _signal_group(record, store, number)
        last = _LAST_WAIT + (STOP_SECONDS if _stop_command(record, store) else 0)
        record = wait_for(record, store, grace if number == signal.SIGTERM else last)
        if record.status == ProcessStatus.ABANDONED and not supervised:
            record = replace(record, status=ProcessStatus.STOPPED)  # that we ended it is known, though not how
            store.update(record)
            return _end_elsewhere(record, store)
    if not record.ended:
        raise SpawnError(
            f"the process `{record.name}` does not end", remedy=f"look at the process {record.pid} with ps"
        )
    return record


def _stop_command(record: ProcessRecord, store: ProcessStore) -> list[str]:
    try:
        words = Lifeline(str(store.folder / record.id)).read()[0].get("stop")
    except OSError:
        return []
    return list(map(str, words)) if isinstance(words, list) else []


def _end_elsewhere(record: ProcessRecord, store: ProcessStore) -> ProcessRecord:
    """What a process that nobody waited for may have left elsewhere."""
    words = _stop_command(record, store)
    if not words:
        return record
    elsewhere = Elsewhere(words, program_environment({}, {}))
    elsewhere.end()
    record = replace(record, stop_error=elsewhere.fault())
    store.update(record)
    return record


def _signal_supervisor(record: ProcessRecord, store: ProcessStore) -> bool:
    """TERM for the holder of the lifeline: it ends the group, and records that. Whether there is a holder."""
    try:
        said, held = Lifeline(str(store.folder / record.id)).read()
        if held and isinstance(said.get("supervisor"), int):
            os.kill(int(str(said["supervisor"])), signal.SIGTERM)
            return True
    except OSError:
        pass
    return False


def _signal_group(record: ProcessRecord, store: ProcessStore, number: int) -> None:
    with contextlib.suppress(OSError):
        said, _ = Lifeline(str(store.folder / record.id)).read()
        if lives(said.get("pid"), said.get("birth")):
            os.killpg(int(str(said["pid"])), number)
