"""The record of started processes: a name is unique in its session, whatever became of the process.

One SQLite table; the unique key makes the claim of a name atomic between processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vancectl.errors import Place, StoreError

DEFAULT_SESSION = "default"
STARTING, RUNNING, DONE, FAILED, TIMED_OUT, STOPPED = "STARTING", "RUNNING", "DONE", "FAILED", "TIMED_OUT", "STOPPED"
ENDED = "ENDED"  # nobody waited, so nobody knows how
_BUSY_SECONDS = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS process (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    recipe TEXT,
    engine TEXT NOT NULL,
    pid INTEGER,
    exit_code INTEGER,
    log TEXT,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    decision TEXT NOT NULL,
    result TEXT NOT NULL DEFAULT '{}',
    UNIQUE (session, name)
)
"""


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One started process. Times are ISO 8601 in UTC; `result` holds what the program said of itself."""

    id: str
    session: str
    name: str
    status: str
    recipe: str | None
    engine: str
    started_at: str
    decision: dict[str, Any]
    pid: int | None = None
    exit_code: int | None = None
    log: str | None = None
    ended_at: str | None = None
    result: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """What the output's `process` holds.

        The program's own fields win, since it knows its process best; but how it ended is known here.
        """
        own = {
            "id": self.id,
            "name": self.name,
            "session": self.session,
            "status": self.status,
            "recipe": self.recipe,
            "engine": self.engine,
            "pid": self.pid,
            "exitCode": self.exit_code,
            "log": self.log,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
        }
        known = (
            {"exitCode": self.exit_code} if self.status == DONE else {"exitCode": self.exit_code, "status": self.status}
        )
        return {**own, **(self.result or {}), **known}


class ProcessStore:
    """The records of one state directory. Every method raises StoreError where the file cannot be used."""

    def __init__(self, state: Path | None) -> None:
        self._path = state / "processes.sqlite3" if state is not None else None

    @property
    def folder(self) -> Path:
        """Where a process's own files belong."""
        return self._required().parent / "processes"

    def find(self, session: str, name: str) -> ProcessRecord | None:
        if self._path is None or not self._path.exists():
            return None
        with self._connection() as connection:
            row = connection.execute("SELECT * FROM process WHERE session = ? AND name = ?", (session, name)).fetchone()
        return _record(row) if row is not None else None

    def claim(self, record: ProcessRecord) -> ProcessRecord | None:
        """Takes the name for this record; gives back the record that has it already, or None where it was free."""
        values = {**_columns(record)}
        with self._connection() as connection:
            cursor = connection.execute(
                f"INSERT INTO process ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
                "ON CONFLICT (session, name) DO NOTHING",
                tuple(values.values()),
            )
            if cursor.rowcount == 1:
                return None
        existing = self.find(record.session, record.name)
        return existing if existing is not None else self.claim(record)

    def update(self, record: ProcessRecord) -> None:
        values = _columns(record)
        with self._connection() as connection:
            connection.execute(
                f"UPDATE process SET {', '.join(f'{column} = ?' for column in values)} WHERE id = ?",
                (*values.values(), record.id),
            )

    def release(self, record: ProcessRecord) -> None:
        """Frees the name of a process that never came to be."""
        with self._connection() as connection:
            connection.execute("DELETE FROM process WHERE id = ?", (record.id,))

    def _required(self) -> Path:
        if self._path is None:
            raise StoreError("there is no place for the record of processes", remedy="set HOME or VANCECTL_STATE_DIR")
        return self._path

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        path = self._required()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
                connection.row_factory = sqlite3.Row
                with connection:
                    connection.execute(_TABLE)
                    yield connection
        except (sqlite3.Error, OSError) as error:
            # Anything but an operational error means that this is not, or no longer, our file.
            spoilt = isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.OperationalError)
            raise StoreError(
                f"the record of processes cannot be used: {getattr(error, 'strerror', None) or error}",
                where=Place(path),
                remedy="move the file away; a new one is made" if spoilt else "check space and permissions",
            ) from None


def existing_process(record: ProcessRecord) -> dict[str, Any]:
    """The soft success of a name that is taken (design, section 5)."""
    if record.status == RUNNING and record.pid is not None and not _alive(record.pid):
        record = replace(record, status=ENDED)
    known = record.as_json()
    hint = f"a process `{record.name}` exists in the session `{record.session}`; take another name to start another"
    return {**known, "status": "already_exists", "existingStatus": known["status"], "hint": hint}


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it may not be asked
    # In a container without an init nobody buries an orphan; Linux shows that it is dead all the same.
    with contextlib.suppress(OSError):
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] != "Z"
        )
    return True


def _columns(record: ProcessRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "session": record.session,
        "name": record.name,
        "status": record.status,
        "recipe": record.recipe,
        "engine": record.engine,
        "pid": record.pid,
        "exit_code": record.exit_code,
        "log": record.log,
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "decision": json.dumps(record.decision),
        "result": json.dumps(record.result or {}),
    }


def _record(row: sqlite3.Row) -> ProcessRecord:
    values = dict(row)
    record = ProcessRecord(**values)
    return replace(record, decision=json.loads(values["decision"]), result=json.loads(values["result"]))
