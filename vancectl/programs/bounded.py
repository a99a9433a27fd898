"""Calls a function in a child that has a second and some memory, and no secrets.

Templates, JSON schemas and their regular expressions come with projects. One line of them can take hours or all memory,
inside of a single operation that no check of ours could end; the kernel can.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import select
import subprocess
import sys
import threading
import time
from typing import IO, Any

SECONDS = 1.0
MEMORY = 1 << 30
MAX_ANSWER = 8_000_000
_LENGTH = 8
_START = 60.0  # a child that takes so long to start is not slow but stuck
_WAIT = 20.0  # seconds of the clock for one of the processor, on a machine that is busy


class TooCostlyError(Exception):
    """The call took more than its share, or ended its process. The text says which."""


class _Child:
    """A process that answers one call after the other, each with a line of JSON; it ends with its standard input."""

    def __init__(self) -> None:
        # -I: no module of the working directory is imported, and no variable of the caller's counts.
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", "from vancectl.programs.bounded import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"LANG": "C.UTF-8"},
            start_new_session=True,  # Ctrl-C is ours to answer
        )
        self._line(_START)

    def ask(self, call: list[Any]) -> Any:
        stdin = self.process.stdin
        assert stdin is not None
        try:
            data = pickle.dumps(call)  # only what goes to the child: what it answers is JSON, and trusted with nothing
            stdin.write(len(data).to_bytes(_LENGTH, "big") + data)
            stdin.flush()
        except OSError:
            raise TooCostlyError(self._end()) from None
        return json.loads(self._line(_WAIT))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _line(self, within: float) -> bytes:
        stdout = self.process.stdout
        assert stdout is not None
        data, end = b"", time.monotonic() + within
        while not data.endswith(b"\n"):
            if not select.select([stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TooCostlyError(f"it takes longer than {SECONDS:g} second")
            piece = os.read(stdout.fileno(), 1 << 16)
            if not piece:
                raise TooCostlyError(self._end())
            data += piece
        return data

    def _end(self) -> str:
        import signal

        status = self.process.wait()
        if status in {-signal.SIGPROF, -signal.SIGXCPU}:
            return f"it takes longer than {SECONDS:g} second"
        return "it needs too much memory" if status == -signal.SIGKILL else "it cannot be computed"


_lock = threading.Lock()
_children: list[_Child] = []


def call(module: str, function: str, *arguments: Any) -> Any:
    """What the function gives for these arguments, as JSON knows it. Raises TooCostlyError."""
    with _lock:
        if not _children:
            _children.append(_Child())
            atexit.register(_close)
        try:
            answer = _children[0].ask([module, function, arguments])
        except BaseException:
            _close()  # whatever it still does is of no use to anyone
            raise
    if "fault" in answer:
        raise TooCostlyError(answer["fault"])
    return answer["value"]


def _close() -> None:
    while _children:
        _children.pop().close()


# In the child.


def serve() -> None:
    """Answers calls from standard input."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What a function prints must not pass for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    answers.write(b"\n")
    while length := sys.stdin.buffer.read(_LENGTH):
        _answer(sys.stdin.buffer.read(int.from_bytes(length, "big")), answers)


def _answer(data: bytes, answers: IO[bytes]) -> None:
    import signal
    from importlib import import_module

    module, function, arguments = pickle.loads(data)
    work = getattr(import_module(module), function)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # no handler: the kernel ends us, whatever we are in the middle of
    try:
        text = json.dumps({"value": work(*arguments)})
        if len(text) > MAX_ANSWER:
            text = json.dumps({"fault": f"it gives more than {MAX_ANSWER:,} bytes"})
    except MemoryError:
        text = json.dumps({"fault": "it needs too much memory"})
    except RecursionError:
        text = json.dumps({"fault": "it nests too deeply"})
    except Exception as error:  # noqa: BLE001  # what a project's text brings about is its fault, not a defect here
        text = json.dumps({"fault": f"it cannot be computed ({type(error).__name__})"})
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    answers.write(text.encode() + b"\n")
