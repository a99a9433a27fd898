"""The record of started processes: a name is unique in its session, whatever became of the process.

One SQLite table; the unique key makes the claim of a name atomic between processes.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vancectl.errors import Place, StoreError
from vancectl.process.lifeline import Lifeline

DEFAULT_SESSION = "default"
STARTING, RUNNING, DONE, FAILED, TIMED_OUT, STOPPED = "STARTING", "RUNNING", "DONE", "FAILED", "TIMED_OUT", "STOPPED"
ABANDONED = "ABANDONED"  # it is gone, and so is who waited for it: nobody knows how it ended
OPEN = (STARTING, RUNNING)
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
    argv TEXT NOT NULL DEFAULT 'null',
    parent TEXT,
    supervisor INTEGER,
    seconds REAL,
    asked TEXT,
    UNIQUE (session, name)
)
"""
# What a file of an earlier version lacks.
_LATER = {
    "argv": "TEXT NOT NULL DEFAULT 'null'",
    "parent": "TEXT",
    "supervisor": "INTEGER",
    "seconds": "REAL",
    "asked": "TEXT",
}


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One started process. Times are ISO 8601 in UTC; `result` holds what the program wrote, as `reply`.

    `supervisor` is the process id of who waits for its end, `parent` the id of the process that asked for it. `seconds`
    is how long it took; no change of the clock has a part in it. `asked` is the digest of its request.
    """

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
    argv: list[str] | None = None
    parent: str | None = None
    supervisor: int | None = None
    seconds: float | None = None
    asked: str | None = None

    def as_json(self) -> dict[str, Any]:
        """What the output's `process` holds: our own fields, and under `reply` what the program wrote."""
        return {
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
            "parent": self.parent,
            **self._reply(),
        }

    def _reply(self) -> dict[str, Any]:
        """An earlier version kept an object that the program wrote as the result itself."""
        if not self.result:
            return {}
        return {"reply": self.result["reply"] if self.result.keys() == {"reply"} else self.result}


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

    def claim(
        self, record: ProcessRecord, lifeline: Lifeline | None = None, renamed: ProcessRecord | None = None
    ) -> ProcessRecord | None:
        """Takes the name for this record; gives back the record that has it already, or None where it was free.

        The lifeline begins first, so that nobody finds a record whose lifeline nobody holds. `renamed` is a record with
        the name that it shall have from now on: in the same moment it gives its former one up.
        """
        try:
            taken = self._insert(record, lifeline, renamed)
        except BaseException:
            if lifeline is not None:
                lifeline.discard()
            raise
        if taken:
            return None
        existing = self.find(record.session, record.name)
        if existing is None:
            return self.claim(record)
        if lifeline is not None:
            lifeline.discard()
        return existing

    def _insert(self, record: ProcessRecord, lifeline: Lifeline | None, renamed: ProcessRecord | None) -> bool:
        values = _columns(record)
        with self._connection() as connection:
            if lifeline is not None:
                lifeline.begin()
            if renamed is not None:
                _rename(connection, renamed)
            cursor = connection.execute(
                f"INSERT INTO process ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
                "ON CONFLICT (session, name) DO NOTHING",
                tuple(values.values()),
            )
            return cursor.rowcount == 1

    def get(self, wanted: str, session: str | None = None) -> ProcessRecord | None:
        """By id, or by the name in a session."""
        if self._path is None or not self._path.exists():
            return None
        with self._connection() as connection:
            row = connection.execute("SELECT * FROM process WHERE id = ?", (wanted,)).fetchone()
        return _record(row) if row is not None else self.find(session or DEFAULT_SESSION, wanted)

    def all(self, session: str | None = None) -> list[ProcessRecord]:
        """In the order in which they were started, whatever the clock said then."""
        if self._path is None or not self._path.exists():
            return []
        where, values = ("WHERE session = ?", (session,)) if session is not None else ("", ())
        with self._connection() as connection:
            rows = connection.execute(f"SELECT * FROM process {where} ORDER BY rowid", values).fetchall()
        return [_record(row) for row in rows]

    def update(self, record: ProcessRecord) -> None:
        self._update(record, "")

    def settle(self, record: ProcessRecord) -> None:
        """The same, unless somebody has recorded an end in the meantime."""
        self._update(record, f" AND status IN ('{STARTING}', '{RUNNING}')")

    def rename(self, record: ProcessRecord) -> None:
        """Gives up the name that it had for the one that it has."""
        with self._connection() as connection:
            _rename(connection, record)

    def _update(self, record: ProcessRecord, condition: str) -> None:
        """All but the name: who has read it earlier may not know of another."""
        values = {column: value for column, value in _columns(record).items() if column != "name"}
        with self._connection() as connection:
            connection.execute(
                f"UPDATE process SET {', '.join(f'{column} = ?' for column in values)} WHERE id = ?{condition}",
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
                    _prepare(connection)
                    yield connection
        except (sqlite3.Error, OSError) as error:
            # Anything but an operational error means that this is not, or no longer, our file.
            spoilt = isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.OperationalError)
            raise StoreError(
                f"the record of processes cannot be used: {getattr(error, 'strerror', None) or error}",
                where=Place(path),
                remedy="move the file away; a new one is made" if spoilt else "check space and permissions",
            ) from None


def _rename(connection: sqlite3.Connection, record: ProcessRecord) -> None:
    connection.execute("UPDATE process SET name = ? WHERE id = ?", (record.name, record.id))


def _prepare(connection: sqlite3.Connection) -> None:
    """The table as it is now, in a new file or in one of an earlier version."""
    connection.execute(_TABLE)
    columns = {row["name"] for row in connection.execute("PRAGMA table_info(process)")}
    for column, kind in _LATER.items():
        if column not in columns:
            with contextlib.suppress(sqlite3.OperationalError):  # another has just done it
                connection.execute(f"ALTER TABLE process ADD COLUMN {column} {kind}")


def existing_process(record: ProcessRecord) -> dict[str, Any]:
    """The soft success of a name that is taken (design, section 5)."""
    known = record.as_json()
    hint = f"a process `{record.name}` exists in the session `{record.session}`; take another name to start another"
    return {**known, "status": "already_exists", "existingStatus": known["status"], "hint": hint}


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
        "argv": json.dumps(record.argv),
        "parent": record.parent,
        "supervisor": record.supervisor,
        "seconds": record.seconds,
        "asked": record.asked,
    }


def _record(row: sqlite3.Row) -> ProcessRecord:
    values = dict(row)
    for column in ("decision", "result", "argv"):
        values[column] = json.loads(values[column])
    return ProcessRecord(**values)
