"""Runs the command as forks of a parent that has imported vancectl and its packages once.

A start of the installed command spends most of its time on imports, with the model stage ten times what the rest
takes. `Forked` is a Popen whose process is forked by a server: one for each pytest process, single-threaded, reached
over a socket. A run is a process of its own all the same: with its own session, descriptors, signal dispositions,
environment, working directory, arguments and status. What a fork cannot repeat, since an interpreter settles it at
its start, keeps to the installed command: see `can_fork`.
"""

from __future__ import annotations

import atexit
import functools
import os
import pickle
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.fork_server import LENGTH, can_fork, receive

__all__ = ["Forked", "can_fork"]

START = ["-m", "tests.fork_server"]


class Forked(subprocess.Popen[bytes]):
    """A run of the command in a fork. Leads a session of its own; it is to be started with cwd and env."""

    def _execute_child(self, args: Sequence[str], _executable: object, *more: Any) -> None:
        cwd, environment = more[3], more[4]
        child_stdin, near_stdin, near_stdout, child_stdout, near_stderr, child_stderr = more[8:14]
        streams = [end if end != -1 else own for own, end in enumerate((child_stdin, child_stdout, child_stderr))]
        words = [os.fsencode(word) for word in args]
        if any(b"\0" in word for word in words):
            raise ValueError("embedded null byte")
        try:
            self._status = _server().run(words, os.fsencode(cwd), environment, streams)
            said = self._status.readline().split()
            if said[:1] != [b"pid"]:
                self._status.close()
                number = int(said[1]) if said else 0
                raise OSError(number, os.strerror(number), str(cwd))
            self.pid = int(said[1])
            self._child_created = True
        finally:
            self._close_pipe_fds(  # type: ignore[attr-defined]  # of Popen: the child's ends are the child's
                child_stdin, near_stdin, near_stdout, child_stdout, near_stderr, child_stderr
            )

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """As os.waitpid. Its number stays taken until we have read the status, as that of a child of ours would."""
        if wait_flags & os.WNOHANG and not select.select([self._status], [], [], 0)[0]:
            return 0, 0
        said = self._status.readline()
        self._status.close()
        return self.pid, int(said) if said else 0

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self.returncode = os.waitstatus_to_exitcode(status)
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


class _Server:
    """The process that forks."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *START, str(theirs.fileno())],
                cwd=Path(__file__).resolve().parents[1],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": "/nonexistent", "VANCECTL_CACHE_DIR": os.devnull},
                start_new_session=True,
            )
        atexit.register(self.close)
        if receive(self._socket, 1) != b"r":
            raise AssertionError("the fork server has not come up")

    def run(
        self, words: Sequence[bytes], cwd: bytes, environment: Mapping[str, str], streams: Sequence[int]
    ) -> socket.SocketIO:
        """Starts a run. What is returned says `pid N` or `errno N`, and later the status that os.waitpid gives."""
        near, far = socket.socketpair()
        with near, far:
            request = pickle.dumps((words, cwd, dict(environment)))
            with self._lock:
                socket.send_fds(self._socket, [LENGTH.pack(len(request))], [*streams, far.fileno()])
                self._socket.sendall(request)
            return near.makefile("rb", buffering=0)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


@functools.cache
def _server() -> _Server:
    return _Server()
