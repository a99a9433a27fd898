"""Layers on disk and the installed command run in them.

A workspace holds a project, a tenant, a home and, once a test writes to it, a bundled
layer, all below one folder. Paths are written in the notation `P/recipes/dep.yaml`; see
`Workspace.path`. The command sees an environment built from nothing, so that no setting,
key or program of the person who runs the tests can decide a result.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Self

import yaml

from tests.forks import Forked, can_fork
from tests.messages_server import MessagesServer

REPOSITORY = Path(__file__).resolve().parents[1]

INSTALLED = (str(Path(sys.executable).with_name("vancectl")),)

NEEDED_DEFAULTS = ("catalog/engines.yaml", "settings.yaml", "recipes/recipe-selector.yaml", "spawn/worker.yaml")
"""Without these a bundled layer is no bundled layer; a test seldom cares what they say."""


@dataclass(frozen=True)
class Result:
    """What a finished run left: its status is negative when a signal ended it."""

    argv: Sequence[str]
    status: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        shown = (
            f"$ {shlex.join(self.argv)}\nstatus {self.status}\n"
            f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}\n---"
        )
        return shown.encode("utf-8", "backslashreplace").decode()

    def expect(self, status: int = 0) -> Result:
        """Itself, once its status is checked; on failure both streams are shown."""
        assert self.status == status, f"expected status {status}\n{self}"
        return self

    @property
    def json(self) -> Any:
        """stdout as one strict JSON value."""
        return self._parse(self.stdout)

    @property
    def jsonl(self) -> list[Any]:
        """stdout as one strict JSON value a line."""
        return [self._parse(line) for line in self.stdout.splitlines()]

    def _parse(self, text: str) -> Any:
        try:
            text.encode()  # refuses what stood for bytes that are not UTF-8
            return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
        except ValueError as error:
            raise AssertionError(f"not strict JSON: {error}\n{self}") from None


def _no_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError(f"a key twice in {[key for key, _ in pairs]}")
    return members


class Workspace:
    """A folder tree with all layers, and the command to run in it."""

    def __init__(self, root: Path, command: Sequence[str] | None = None, *, installed: bool = False) -> None:
        """`installed` runs the installed command each time, and no forks; so does a `command`."""
        self.root = root
        self._forks = not installed
        self.command = command or INSTALLED
        self.project = root / "project"
        self.config = root / "config"
        self.tenant = self.config / "tenants" / "default"
        self.defaults = root / "defaults"
        self.state = root / "state"
        self.cache = root / "cache"
        self.home = root / "home"
        self.bin = root / "bin"
        self.env: dict[str, str | None] = {}
        """Variables of every later run; None takes one away."""
        self._settings: dict[str, Any] = {}
        self._started: list[subprocess.Popen[bytes]] = []
        for folder in (self.project, self.home, self.bin):
            folder.mkdir(parents=True, exist_ok=True)

    # Laying files.

    def path(self, notation: str) -> Path:
        """Where `notation` stands.

        P/recipes/…, P/project.yaml, P/routes…: `.vance` of the project; any other P/…: the
        project folder. T/ tenant `default`, B/ bundled, H/ home, S/ state, C/ cache.
        """
        letter, _, rest = notation.partition("/")
        if letter == "P":
            first = rest.partition("/")[0]
            in_vance = first in ("recipes", "project.yaml") or first.startswith("routes")
            return (self.project / ".vance" if in_vance else self.project) / rest
        roots = {
            "T": self.tenant,
            "B": self.defaults,
            "H": self.home,
            "S": self.state,
            "C": self.cache,
        }
        assert letter in roots, f"{notation!r} begins with none of P/ T/ B/ H/ S/ C/"
        return roots[letter] / rest

    def write(self, notation: str, content: str | bytes) -> Path:
        """Write exactly `content`; text as UTF-8."""
        if notation.startswith("B/") and not self.defaults.exists():
            for name in NEEDED_DEFAULTS:
                copy = self.defaults / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(REPOSITORY / "defaults" / name, copy)
        path = self.path(notation)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def recipe(
        self,
        notation: str,
        description: str = "A recipe of the test.",
        engine: str = "ford",
        triggers: Sequence[str] | Mapping[str, object] = (),
        **fields: object,
    ) -> Path:
        """Write a recipe; `triggers` are its keywords, or the whole `triggers` block."""
        recipe: dict[str, object] = {"description": description, "engine": engine, **fields}
        if triggers:
            block = triggers if isinstance(triggers, Mapping) else {"keywords": list(triggers)}
            recipe["triggers"] = dict(block)
        return self.write(notation, _yaml(recipe))

    def settings(self, values: Mapping[str, object] | None = None, **more: object) -> Path:
        """Add to the tenant's settings: `{"spawn.stdin": "task"}` or `spawn__stdin="task"`."""
        dotted = {**(values or {}), **{key.replace("__", "."): value for key, value in more.items()}}
        for key, value in dotted.items():
            *groups, last = key.split(".")
            place = self._settings
            for group in groups:
                place = place.setdefault(group, {})
            place[last] = value
        return self.write("T/settings.yaml", _yaml(self._settings))

    def program(self, name: str, script: str) -> Path:
        """Put a program first on PATH.

        A script without `#!` is one for sh; `#!python` stands for the tests' own Python.
        """
        if not script.startswith("#!"):
            script = f"#!/bin/sh\n{script}"
        if script.startswith("#!python\n"):
            script = script.replace("#!python", f"#!{sys.executable}", 1)
        program = self.bin / name
        program.write_text(script, encoding="utf-8")
        program.chmod(0o755)
        return program

    def model(self, server: MessagesServer | str) -> None:
        """Let later runs ask this server, or this URL, with a dummy key."""
        url = server if isinstance(server, str) else server.url
        self.env |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test-key"}

    # Running.

    def environment(self, extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """The whole environment of a run; `extra` goes over `env`, None takes away."""
        variables: dict[str, str | None] = {
            # Not the caller's PATH: an agent program installed there must never be started.
            "PATH": f"{self.bin}{os.pathsep}{os.defpath}",
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "VANCECTL_CONFIG_DIR": str(self.config),
            "VANCECTL_STATE_DIR": str(self.state),
            "VANCECTL_CACHE_DIR": str(self.cache),
            "VANCECTL_DEFAULTS_DIR": str(self.defaults) if self.defaults.exists() else None,
            **self.env,
            **(extra or {}),
        }
        return {name: value for name, value in variables.items() if value is not None}

    def run(
        self,
        *args: str | Path,
        stdin: str | bytes | None = None,
        env: Mapping[str, str | None] | None = None,
        cwd: str | Path | None = None,
        timeout: float = 60,
        tty: bool = False,
        typed: str | None = None,
        columns: int = 80,
    ) -> Result:
        """Run the command to its end.

        `stdin` is piped in; without it stdin is empty. `tty` puts stdout on a terminal of
        `columns`, while stderr stays apart; `typed` puts stdin on that terminal too and
        types the text (a few lines), then end-of-file.
        """
        data = stdin.encode() if isinstance(stdin, str) else stdin
        source = subprocess.DEVNULL if data is None else subprocess.PIPE
        if not tty and typed is None:
            variables = {"COLUMNS": str(columns), **(env or {})}
            process = self.start(*args, stdin=source, env=variables, cwd=cwd)
            return self.finish(process, data, timeout)
        variables = {"TERM": "xterm-256color", **(env or {})}
        with _Terminal(columns, typed) as terminal:
            source = source if typed is None else terminal.end
            process = self.start(*args, stdin=source, stdout=terminal.end, env=variables, cwd=cwd)
            try:
                result = self.finish(process, data, timeout)
            except AssertionError as late:
                late.add_note(f"--- terminal\n{_text(bytes(terminal.written))}")
                raise
        return replace(result, stdout=_text(bytes(terminal.written)))

    def start(
        self,
        *args: str | Path,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        env: Mapping[str, str | None] | None = None,
        cwd: str | Path | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start the command; `close` ends it if it then still runs.

        It leads a process group of its own, so `os.killpg(process.pid, SIGINT)` is what
        Ctrl-C does at a terminal.
        """
        assert shutil.which(self.command[0]), f"{self.command[0]} is missing: pip install -e ."
        environment = self.environment(env)
        kind = Forked if self._forks and self.command == INSTALLED and can_fork(environment) else subprocess.Popen
        process = kind(
            [*self.command, *map(str, args)],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=self.path(cwd) if isinstance(cwd, str) else cwd or self.project,
            env=environment,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def finish(self, process: subprocess.Popen[bytes], stdin: bytes | None = None, timeout: float = 60) -> Result:
        """Wait for a started process; one that takes longer is killed and fails the test."""
        argv = [str(word) for word in process.args] if isinstance(process.args, list) else []
        try:
            stdout, stderr = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired as late:
            _kill(process)
            so_far = Result(argv, process.wait(), _text(late.stdout), _text(late.stderr))
            raise AssertionError(f"after {timeout} s it runs, or what it started holds its streams\n{so_far}") from None
        return Result(argv, process.returncode, _text(stdout), _text(stderr))

    def close(self) -> None:
        """End what was started and still runs."""
        for process in self._started:
            if process.poll() is None:
                _kill(process)
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    with suppress(OSError):
                        stream.close()


class _Terminal:
    """A pseudo-terminal and what is written on it, byte for byte."""

    def __init__(self, columns: int, typed: str | None) -> None:
        self._near, self.end = pty.openpty()
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        modes = termios.tcgetattr(self.end)
        modes[1] &= ~termios.OPOST  # "\n" stays "\n"
        modes[3] &= ~termios.ECHO  # what is typed is not output
        termios.tcsetattr(self.end, termios.TCSANOW, modes)
        if typed is not None:
            os.write(self._near, typed.encode() + b"\x04")
        self.written = bytearray()
        self._done = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._reader.join()
        os.close(self._near)
        os.close(self.end)

    def _read(self) -> None:
        # Not until end-of-file: a process left in the background may keep the terminal,
        # and a person at a terminal would not wait for it either.
        while True:
            if select.select([self._near], [], [], 0.02)[0]:
                self.written += os.read(self._near, 65536)
            elif self._done.is_set():
                return


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:  # else its number may be another's by now
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _text(data: bytes | None) -> str:
    # Bytes that are not UTF-8 become lone surrogates, so that they equal no proper text.
    return (data or b"").decode("utf-8", "surrogateescape")


def _yaml(value: object) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=sys.maxsize))
