"""Runs another program: argv only, in a process group of its own, with signals passed on and a time limit kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any

_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP")
_GRACE = 1.0
_DRAIN = 1.0


class ChildError(Exception):
    """The program could not be started. `text` says why, and names it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `exit_code` is negative for a signal, as `subprocess` has it.

    `interrupted` is the signal that ended the waiting, or 0.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    interrupted: int = 0


def run_child(
    argv: Sequence[str],
    *,
    stdin: bytes | None,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    capture_stderr: bool = False,
    on_start: Callable[[int], None] | None = None,
) -> Finished:
    """Runs a program to its end and returns its output; without `stdin` it reads an end of file at once.

    A time-out ends the whole process group (TERM, then KILL); what was written until then is kept. Raises ChildError
    where it cannot be started.
    """
    process = _start(
        argv,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if capture_stderr else None,
        env=environment,
        process_group=0,
    )
    if on_start is not None:
        on_start(process.pid)
    if stdin is not None:
        _thread(_feed, process.stdin, stdin)
    stdout, stderr = bytearray(), bytearray()
    readers = [_thread(_drain, process.stdout, stdout)]
    if capture_stderr:
        readers.append(_thread(_drain, process.stderr, stderr))
    timed_out = False
    with _passing_signals(process) as received:
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            end_group(process, _GRACE)
            process.wait()
    # A grandchild may keep the pipe open long after: what the program itself wrote has arrived by then.
    limit = time.monotonic() + _DRAIN
    for reader in readers:
        reader.join(max(limit - time.monotonic(), 0.01))
    return Finished(process.returncode, bytes(stdout), bytes(stderr), timed_out, received[0] if received else 0)


def start_detached(
    argv: Sequence[str], *, stdin: Path | None, log: Path, environment: Mapping[str, str] | None = None
) -> int:
    """Starts a program in a session of its own, with both outputs in `log`, and returns its process id.

    Input comes from a file, since nobody stays to feed a pipe. Raises ChildError.
    """
    with open(stdin or os.devnull, "rb") as source, open(log, "ab") as output:
        process = _start(argv, stdin=source, stdout=output, stderr=output, env=environment, start_new_session=True)
    # Not waited for, on purpose: it outlives this process, and must not be reported as left behind.
    process.returncode = 0
    return process.pid


def end_group(process: subprocess.Popen[bytes], grace: float) -> None:
    """Ends a program and its process group: TERM, and after `grace` seconds KILL for whatever is left of it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
        limit = time.monotonic() + grace
        while time.monotonic() < limit:
            time.sleep(0.02)
            process.poll()  # an ended leader that nobody waited for would keep its group in being
            os.killpg(process.pid, 0)
        os.killpg(process.pid, signal.SIGKILL)


def _start(argv: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(argv, **options)
    except FileNotFoundError:
        where = "is not there" if os.sep in argv[0] else "is not on the PATH"
        raise ChildError(f"the program `{argv[0]}` {where}") from None
    except PermissionError:
        raise ChildError(f"the program `{argv[0]}` is not executable") from None
    except ValueError:
        raise ChildError(
            "an argument holds a NUL character, which no program can be given; pass the task on stdin"
        ) from None
    except OSError as error:
        raise ChildError(f"the program `{argv[0]}` cannot be started: {error.strerror}") from None


def _thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _feed(pipe: IO[bytes], data: bytes) -> None:
    """A program may end without having read its input; that is its right."""
    with contextlib.suppress(OSError):
        pipe.write(data)
    with contextlib.suppress(OSError):
        pipe.close()


def _drain(pipe: IO[bytes], into: bytearray) -> None:
    with contextlib.suppress(OSError, ValueError):
        while chunk := os.read(pipe.fileno(), 65536):
            into += chunk


@contextlib.contextmanager
def _passing_signals(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Passes our signals on to the program's group, and remembers them. Only the main thread may set handlers."""
    received: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        received.append(number)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {name: signal.signal(getattr(signal, name), pass_on) for name in _PASSED_ON if hasattr(signal, name)}
    try:
        yield received
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
