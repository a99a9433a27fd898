"""Ends what a program has started elsewhere, on a cluster or in a server of its own, by the preset's `stop` command."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from vancectl.process.output import STOP_SECONDS, ended_badly, still_there
from vancectl.programs.child import ChildError, run_child


class Elsewhere:
    """The command runs beside whatever else is done to end the program, and once at most."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv = argv
        self._environment = environment
        self._fault: str | None = None
        self._work: threading.Thread | None = None
        self._lock = threading.Lock()

    def end(self) -> None:
        with self._lock:
            if self._argv and self._work is None:
                work = threading.Thread(target=self._run, daemon=True)
                work.start()
                self._work = work

    def fault(self) -> str | None:
        """Why it may still be there, once the command has ended; None where that did well, or there was none."""
        if self._work is not None:
            self._work.join()
        return self._fault

    def _run(self) -> None:
        try:
            done = run_child(
                self._argv, stdin=None, environment=self._environment, timeout=STOP_SECONDS, capture_stderr=True
            )
        except ChildError as error:
            self._fault = still_there(error.text)
            return
        if done.exit_code:
            self._fault = still_there(ended_badly(self._argv[0], done.exit_code, done.stderr))
