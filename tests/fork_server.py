"""The parent of the runs in `tests.forks`: imports once, then forks for each request. One thread, no state of a run."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import pickle
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import types
from collections.abc import Mapping
from typing import Any, NoReturn

from vancectl import __main__ as command_module
from vancectl.lint.wordlist import find_word_list
from vancectl.programs import bounded as bounded_calls

LENGTH = struct.Struct("!Q")
PACKAGES = (
    "typer", "typer.completion", "rich.console", "rich.table", "rich.text", "yaml", "anthropic", "jinja2.sandbox",
    "jsonschema", "platformdirs",
)  # fmt: skip
NOT_MODULES = {"vancectl.process.supervisor"}  # a program of its own
OWN_STATUS = 1
# What a run starts and what is ours: see `Nested`.
AGAIN = [sys.executable, "-P", "-m", "vancectl"]
BOUNDED = [sys.executable, "-I", "-c", "from vancectl.programs.bounded import serve; serve()"]
# The interpreter decides by these how it reads and writes; and the SDK, when it is imported, whether it logs.
LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")
AT_IMPORT = ("PYTHON", "ANTHROPIC_LOG", "COVERAGE", "PYDANTIC_")


def can_fork(environment: Mapping[str, str]) -> bool:
    """Whether a fork starts as the installed command would start in this environment."""
    locale = next((environment[name] for name in LOCALE if environment.get(name)), "")
    return locale == "C.UTF-8" and not any(name.startswith(AT_IMPORT) for name in environment)


def receive(near: socket.socket, count: int) -> bytes:
    """Exactly so many bytes, or fewer at the end."""
    data = bytearray()
    while len(data) < count and (part := near.recv(count - len(data))):
        data += part
    return bytes(data)


def import_all() -> None:
    for name in PACKAGES:
        importlib.import_module(name)
    package = importlib.import_module("vancectl")
    for module in pkgutil.walk_packages(package.__path__, "vancectl."):
        if module.name not in NOT_MODULES:
            importlib.import_module(module.name)
    words = find_word_list()
    if words is not None:
        assert words.lines  # worked out here once for all runs


def serve(requests: socket.socket) -> None:
    """Forks until the other end is closed.

    A child that has ended stays unburied until its status was read, so that its number is no other process's before.
    """
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    running: dict[int, socket.socket] = {}
    told: dict[int, socket.socket] = {}
    requests.sendall(b"r")
    while True:
        ready = select.select([requests, woken, *told.values()], [], [])[0]
        if woken in ready:
            woken.recv(4096)
            for pid, channel in list(running.items()):
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
                    told[pid] = running.pop(pid)
                    with contextlib.suppress(OSError):
                        channel.sendall(b"%d\n" % _status(pid))
        for pid, channel in list(told.items()):
            if channel in ready:
                channel.close()
                del told[pid]
                os.waitpid(pid, 0)
        if requests in ready:
            header, descriptors, _, _ = socket.recv_fds(requests, LENGTH.size, 4)
            if not header:
                return
            request = pickle.loads(receive(requests, *LENGTH.unpack(header)))
            pid = os.fork()
            if not pid:
                _run(request, descriptors)
            *streams, channel_end = descriptors
            for descriptor in streams:
                os.close(descriptor)
            running[pid] = socket.socket(fileno=channel_end)


def _status(pid: int) -> int:
    """What os.waitpid will give for a process that has ended."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status << 8 if ended.si_code == os.CLD_EXITED else ended.si_status


def _run(request: tuple[list[bytes], bytes, dict[str, str]], descriptors: list[int]) -> NoReturn:
    """The child: everything as an interpreter that was just started has it."""
    words, cwd, environment = request
    *streams, channel = descriptors
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        os.chdir(cwd)
    except OSError as error:
        os.write(channel, b"errno %d\n" % (error.errno or 0))
        os._exit(OWN_STATUS)
    for target, descriptor in enumerate(streams):
        os.dup2(descriptor, target)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = [os.fsdecode(word) for word in words]
    sys.path[0] = os.path.dirname(sys.argv[0])
    _open_streams()
    os.write(channel, b"pid %d\n" % os.getpid())
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    subprocess.Popen = Nested  # type: ignore[assignment,misc]
    run_command()


def run_command() -> NoReturn:
    """The command, with the arguments and streams that this process has."""
    script = types.ModuleType("__main__")  # by which the program's name in a usage text is found
    script.__file__ = sys.argv[0]
    sys.modules["__main__"] = script
    status: Any = 0
    try:
        command_module.main()
    except SystemExit as end:
        status = end.code
    except BaseException as error:  # noqa: BLE001  # an interpreter ends so
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


class Nested(subprocess.Popen[bytes]):
    """A program that a run starts. One that is vancectl again, or its child for bounded calls, is a fork once more."""

    def _execute_child(self, args: Any, executable: Any, *more: Any) -> None:
        words = [os.fsdecode(word) for word in ([args] if isinstance(args, str | bytes) else args)]
        pass_fds, cwd, environment, new_session = more[2], more[3], more[4], more[19]
        bounded = words == BOUNDED
        again = words[: len(AGAIN)] == AGAIN and can_fork(os.environ if environment is None else environment)
        if not (bounded or again) or pass_fds or not (cwd is None or os.path.isdir(cwd)):
            super()._execute_child(args, executable, *more)  # type: ignore[misc]
            return
        child_stdin, near_stdin, near_stdout, child_stdout, near_stderr, child_stderr = more[8:14]
        self.pid = os.fork()
        if not self.pid:
            if new_session:
                os.setsid()
            streams = [end if end != -1 else own for own, end in enumerate((child_stdin, child_stdout, child_stderr))]
            _become(words, cwd, environment, streams, command=again)
        self._child_created = True
        self._close_pipe_fds(  # type: ignore[attr-defined]  # of Popen: the child's ends are the child's
            child_stdin, near_stdin, near_stdout, child_stdout, near_stderr, child_stderr
        )


_KEPT: list[Any] = []
"""What the parent run held. Nothing of it may be flushed or closed here, as exec would have seen to."""


def _become(words: list[str], cwd: Any, environment: Any, streams: list[int], *, command: bool) -> NoReturn:
    """The fork of a run, in the state in which exec would leave it."""
    _KEPT.extend((sys.stdin, sys.stdout, sys.stderr, *bounded_calls._children))
    bounded_calls._children.clear()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    apart = [os.dup(descriptor) for descriptor in streams]  # one may stand in the place of another
    for target, descriptor in enumerate(apart):
        os.dup2(descriptor, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    if cwd is not None:
        os.chdir(cwd)
    if environment is not None:
        os.environ.clear()
        os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()})
    time.tzset()
    _open_streams()
    if command:
        sys.argv = [str(command_module.__file__), *words[len(AGAIN) :]]
        run_command()
    bounded_calls.serve()
    os._exit(0)


def _open_streams() -> None:
    """stdin, stdout and stderr, encoded as those of this process, which was started in the same locale."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        raw = io.FileIO(descriptor, "r" if name == "stdin" else "w", closefd=False)
        raw.name = f"<{name}>"  # as the interpreter names them
        buffer = io.BufferedReader(raw) if name == "stdin" else io.BufferedWriter(raw)
        was = getattr(sys, f"__{name}__")
        stream = io.TextIOWrapper(
            buffer,
            was.encoding,
            was.errors,
            newline=None if name == "stdin" else "\n",
            line_buffering=name == "stderr" or os.isatty(descriptor),
        )
        stream.mode = "r" if name == "stdin" else "w"  # type: ignore[misc]  # it is set all the same
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    import_all()
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
