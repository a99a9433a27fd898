"""The decision log: a line for each decision, appended in one write; read back for a look at what is chosen and how.

It stands on the way of every start, so it reads no settings where nobody has set any of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vancectl.text.moment import utc_now

if TYPE_CHECKING:
    from vancectl.settings.settings import Settings

FOLDER = "log"
FILE = "decisions.jsonl"
MAX_BYTES = 1_000_000
KEPT = 4
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_HASH_CHARACTERS = 16


class Policy(NamedTuple):
    """Whether decisions are logged, and whether with the task's text; its defaults are the bundled settings'."""

    decisions: bool = True
    tasks: bool = False


def find_policy(tenant: Path | None, assignments: Iterable[str], load: Callable[[], Settings]) -> Policy:
    """`log.decisions` and `log.tasks`; settings are loaded only where some source speaks of the log.

    Broken settings never let a task's text into the log, nor stop a decision that did not need them.
    """
    if not _spoken_of(tenant, assignments):
        return Policy()
    from vancectl.errors import SettingsError

    try:
        settings = load()
    except SettingsError:
        return Policy()
    return Policy(settings["log.decisions"], settings["log.tasks"])


def _spoken_of(tenant: Path | None, assignments: Iterable[str]) -> bool:
    if os.environ.get("VANCECTL_DEFAULTS_DIR") or any(name.startswith("VANCECTL_LOG__") for name in os.environ):
        return True
    if any(assignment.lstrip().startswith("log.") for assignment in assignments):
        return True
    if tenant is None:
        return False
    try:
        data = (tenant / "settings.yaml").read_bytes()
    except OSError:
        return False
    return b"log" in data or b"\\" in data  # a key may be written with escapes


def entry(
    command: str,
    decision: dict[str, Any],
    task: str,
    policy: Policy,
    fallback: str | None = None,
    *,
    tenant: str = "",
    project: str | None = None,
) -> dict[str, Any]:
    """What is remembered of a decision, given in its JSON form."""
    model = decision["model"]
    return {
        "time": utc_now(),
        "command": command,
        "decision": decision["decision"],
        "recipe": decision["recipe"],
        "engine": decision["engine"],
        "layer": decision["layer"],
        "shadows": decision["shadows"],
        "stage": decision["stage"],
        "reason": decision["reason"],
        "triggerObserved": decision["triggerObserved"],
        "fallback": fallback,
        "model": model and model["model"],
        "latencyMs": model and model["latencyMs"],
        "taskHash": task_hash(task),
        "taskLength": len(task),
        "tenant": tenant,
        "project": project,
        **({"task": task} if policy.tasks else {}),
    }


def task_hash(task: str) -> str:
    """Tells tasks apart without saying them; the same in the log and in the answers of a batch."""
    from hashlib import sha256

    return sha256(task.encode("utf-8", "replace")).hexdigest()[:_HASH_CHARACTERS]


class Journal:
    """The log in a state directory: the newest file, and older ones with a number, 1 the youngest of them."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self.path = self._folder / FILE

    def append(self, value: dict[str, Any]) -> None:
        """One line in one write, so that processes side by side do not mix theirs. Raises OSError."""
        line = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            handle = self._open()
        except FileNotFoundError:
            self._folder.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
            self._folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
            handle = self._open()
        try:
            size = os.fstat(handle).st_size
            if size + len(line) > MAX_BYTES:
                os.close(handle)
                self._rotate(len(line))
                handle = self._open()
                size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":  # a line that a full disk or a crash has cut
                line = b"\n" + line
            os.write(handle, line)
        finally:
            os.close(handle)

    def read(self) -> Iterator[dict[str, Any] | None]:
        """The entries, oldest first; None for a line that is none. Raises OSError."""
        for path in [*(self._numbered(number) for number in range(KEPT, 0, -1)), self.path]:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except FileNotFoundError:
                continue
            for line in text.split("\n"):
                if line:
                    yield _parse(line)

    def _open(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, _PRIVATE_FILE)

    def _numbered(self, number: int) -> Path:
        return self._folder / f"decisions.{number}.jsonl"

    def _rotate(self, coming: int) -> None:
        """Makes room. Of several processes that meet here one does it, the others find it done."""
        import fcntl

        lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.path.stat().st_size + coming <= MAX_BYTES:
                return
            for number in range(KEPT, 0, -1):
                younger = self._numbered(number - 1) if number > 1 else self.path
                if younger.exists():
                    os.replace(younger, self._numbered(number))
        finally:
            os.close(lock)


def _parse(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and {"time", "stage", "recipe", "decision"} <= value.keys() else None
