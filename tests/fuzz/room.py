"""Runs the command on one bad input, and says what no input may bring about."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace

STATUSES = (0, 1, 2, 3, 4)
SECONDS = 10.0
MEMORY = 2_000_000_000
"""Of address space: the parent of the forks has imported everything, and takes a third of it."""
OUTPUT = 50_000_000
_DEFECT = re.compile(
    r"failed unexpectedly|Traceback \(most recent|^\w*(?:Error|Exception): |AssertionError", re.MULTILINE
)


class FaultError(Exception):
    """The command did what it never may. `kind` stays the same while the input is made smaller."""

    def __init__(self, kind: str, shown: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.shown = shown


class Room(Workspace):
    """A project with one good recipe, beside which a target lays its input."""

    def __init__(self, root: Path, server: MessagesServer) -> None:
        super().__init__(root)
        self.server = server
        self.recipe("P/recipes/good.yaml", triggers=["fix tests"])
        self.settings(spawn__command=["true"], spawn__stdin="none")
        self.runs = 0

    def ask(
        self, *args: str, names: Iterable[str] = (), stdin: bytes | None = None, statuses: Iterable[int] = STATUSES
    ) -> Result:
        """Runs it. With status 2, stderr must hold one of `names` where there are any.

        Raises FaultError.
        """
        self.runs += 1
        began = time.monotonic()
        process = self.start(*args, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
        self._started.clear()
        try:
            out, err = process.communicate(stdin, SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise FaultError(f"{args[0]}: longer than {SECONDS:.0f} s", " ".join(args)) from None
        words = [str(word) for word in process.args] if isinstance(process.args, list) else []
        result = Result(
            words, process.returncode, out.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape")
        )
        shown = f"after {time.monotonic() - began:.1f} s: {result}"[:4000]
        if defect := _DEFECT.search(result.stderr):
            line = next(line for line in result.stderr[defect.start() :].splitlines() if line)
            raise FaultError(f"{args[0]}: {line[:100]}", shown)
        if result.status not in set(statuses):
            raise FaultError(f"{args[0]}: status {result.status}", shown)
        if len(out) + len(err) > OUTPUT:
            raise FaultError(f"{args[0]}: more than {OUTPUT} bytes are said", args[0])
        if result.status == 2 and not result.stderr.strip() and '"error": ' not in result.stdout:
            raise FaultError(f"{args[0]}: status 2 without a word", shown)
        if result.status == 2 and (wanted := list(names)) and not any(name in result.stderr for name in wanted):
            raise FaultError(f"{args[0]}: an error that names none of {wanted}", shown)
        if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u202e]", result.stderr):
            raise FaultError(f"{args[0]}: a control character on stderr", shown)
        return result

    def json(self, *args: str, **options: Any) -> Any:
        """The value on stdout, or None where it failed. Raises FaultError."""
        result = self.ask(*args, **options)
        if result.status in (2, 3) and not result.stdout:
            return None
        try:
            return result.json
        except AssertionError as error:
            raise FaultError(f"{args[0]}: stdout is no strict JSON", str(error)[:4000]) from None

    def good_works(self) -> None:
        """The recipe beside the bad input is still found. Raises FaultError."""
        decision = self.json("select", "--json", "fix tests")
        hit = {match["recipe"] for match in (decision or {}).get("matched", [])}
        if "good" not in hit | {(decision or {}).get("recipe")}:
            raise FaultError("select: the good recipe is lost", str(decision)[:2000])
