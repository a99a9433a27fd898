"""The record of started processes: a name is unique in tenant, project and session until it is removed.

One SQLite table; the unique key makes the claim of a name atomic between processes. A file that another version has
written to is read as far as it is understood: what runs must be listed and stopped whatever else a row holds.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.errors import Place, StoreError
from vancectl.process.caller import DEFAULT_SESSION
from vancectl.process.lifeline import Lifeline
from vancectl.process.status import ENDED
from vancectl.text.moment import respelt

ALREADY_EXISTS = "already_exists"
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
    tenant TEXT NOT NULL DEFAULT '',
    project TEXT NOT NULL DEFAULT '',
    log_truncated INTEGER NOT NULL DEFAULT 0,
    on_exit_error TEXT,
    stop_error TEXT,
    UNIQUE (tenant, project, session, name)
)
"""
_KEY = "tenant, project, session, name"
# What a file of an earlier version lacks.
_LATER = {
    "argv": "TEXT NOT NULL DEFAULT 'null'",
    "parent": "TEXT",
    "supervisor": "INTEGER",
    "seconds": "REAL",
    "asked": "TEXT",
    "log_truncated": "INTEGER NOT NULL DEFAULT 0",
    "on_exit_error": "TEXT",
    "stop_error": "TEXT",
}
# Tenant and project came with another key, for which the table is made anew; what was there belongs to every scope.
_ANYWHERE = ""


class NameScope(NamedTuple):
    """Within which a process's name is unique; `project` is None outside of any project."""

    tenant: str
    project: str | None
    session: str = DEFAULT_SESSION


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One started process. Times are ISO 8601 in UTC; `result` holds what the program wrote, as `reply`.

    `supervisor` is the process id of who waits for its end, `parent` the id of the process that asked for it. `seconds`
    is how long it took; no change of the clock has a part in it. `asked` is the digest of its request. A record of an
    earlier version has no tenant, and the status of a later one may be none of ours. `log_truncated`: its log did not
    take all. `on_exit_error` says why the command for the end did not do what it should; that comes after the end, and
    `note_on_exit` alone writes it. `stop_error`: what it started elsewhere may still be there. `damaged` says what of a
    row could not be read.
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
    tenant: str | None = None
    project: str | None = None
    log_truncated: bool = False
    on_exit_error: str | None = None
    stop_error: str | None = None
    damaged: str | None = None

    @property
    def scope(self) -> NameScope:
        return NameScope(self.tenant or _ANYWHERE, self.project, self.session)

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def faults(self) -> list[str]:
        """What did not go well about it, and nobody may have heard of."""
        return [fault for fault in (self.damaged, self.stop_error, self.on_exit_error) if fault is not None]

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
            "startedAt": respelt(self.started_at),
            "endedAt": respelt(self.ended_at) if self.ended_at is not None else None,
            "seconds": self.seconds,
            "parent": self.parent,
            "tenant": self.tenant,
            "project": self.project,
            **({"logTruncated": True} if self.log_truncated else {}),
            **({"onExitError": self.on_exit_error} if self.on_exit_error is not None else {}),
            **({"stopError": self.stop_error} if self.stop_error is not None else {}),
            **({"reply": self.reply} if self.result else {}),
            **({"error": self.damaged} if self.damaged is not None else {}),
        }

    @property
    def reply(self) -> Any:
        """What the program wrote; an earlier version kept an object that it wrote as the result itself."""
        return self.result["reply"] if self.result and self.result.keys() == {"reply"} else self.result


class ProcessStore:
    """The records of one state directory. Every method raises StoreError where the file cannot be used."""

    def __init__(self, state: Path | None) -> None:
        self._path = state / "processes.sqlite3" if state is not None else None

    @property
    def folder(self) -> Path:
        """Where a process's own files belong."""
        return self._required().parent / "processes"

    def _has_none(self) -> bool:
        """Nothing was recorded yet. What cannot be reached is no empty record: opening it says why."""
        if self._path is None:
            return True
        try:
            self._path.stat()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return False

    def find(self, scope: NameScope, name: str) -> ProcessRecord | None:
        """The process that has the name; a record of an earlier version has it in every project."""
        if self._has_none():
            return None
        with self._connection() as connection:
            row = connection.execute(
                "SELECT * FROM process WHERE session = ? AND name = ? "
                "AND (tenant = ? AND project = ? OR tenant = '') ORDER BY tenant DESC LIMIT 1",
                (scope.session, name, scope.tenant, scope.project or ""),
            ).fetchone()
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
        existing = self.find(record.scope, record.name)
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
                f"ON CONFLICT ({_KEY}) DO NOTHING",
                tuple(values.values()),
            )
            return cursor.rowcount == 1

    def get(self, wanted: str, scope: NameScope | None = None) -> ProcessRecord | None:
        """By id, or by the name in a scope."""
        if self._has_none():
            return None
        with self._connection() as connection:
            row = connection.execute("SELECT * FROM process WHERE id = ?", (wanted,)).fetchone()
        if row is not None:
            return _record(row)
        return self.find(scope, wanted) if scope is not None else None

    def all(self, scope: NameScope | None = None, session: str | None = None) -> list[ProcessRecord]:
        """In the order in which they were started, whatever the clock said then.

        `scope` picks its tenant and project, whatever the session, and what an earlier version has recorded.
        """
        if self._has_none():
            return []
        with self._connection() as connection:
            rows = connection.execute("SELECT * FROM process ORDER BY rowid").fetchall()
        records = map(_record, rows)
        return [
            record
            for record in records
            if (scope is None or record.tenant is None or (record.tenant, record.project) == scope[:2])
            and session in (None, record.session)
        ]

    def update(self, record: ProcessRecord) -> None:
        self._update(record, "")

    def settle(self, record: ProcessRecord) -> None:
        """The same, unless somebody has recorded an end in the meantime."""
        self.settle_all([record])

    def settle_all(self, records: Iterable[ProcessRecord]) -> None:
        """The same for many, in one transaction."""
        with self._connection() as connection:
            for record in records:
                _write(connection, record, f" AND status NOT IN ({', '.join(repr(status.value) for status in ENDED)})")

    def note_on_exit(self, wanted: str, fault: str) -> None:
        """That the command for the end of the process with this id did not do what it should."""
        with self._connection() as connection:
            connection.execute("UPDATE process SET on_exit_error = ? WHERE id = ?", (fault, wanted))

    def rename(self, record: ProcessRecord) -> None:
        """Gives up the name that it had for the one that it has."""
        with self._connection() as connection:
            _rename(connection, record)

    def _update(self, record: ProcessRecord, condition: str) -> None:
        with self._connection() as connection:
            _write(connection, record, condition)

    def release(self, record: ProcessRecord) -> None:
        """Frees the name of a process that never came to be, or is to be forgotten."""
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
            _make_private(path)
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


def _make_private(path: Path) -> None:
    """Tasks, arguments and replies are their owner's, whatever the folder's mode; SQLite's own files follow it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        return
    if mode & 0o077:
        path.chmod(0o600)


def _prepare(connection: sqlite3.Connection) -> None:
    """The table as it is now, in a new file or in one of an earlier version."""
    connection.execute(_TABLE)
    columns = _columns_of(connection)
    for column, kind in _LATER.items():
        if column not in columns:
            with contextlib.suppress(sqlite3.OperationalError):  # another has just done it
                connection.execute(f"ALTER TABLE process ADD COLUMN {column} {kind}")
    if "tenant" not in columns:
        _widen_key(connection)


def _columns_of(connection: sqlite3.Connection) -> list[str]:
    return [row["name"] for row in connection.execute("PRAGMA table_info(process)")]


def _widen_key(connection: sqlite3.Connection) -> None:
    """Makes the table anew with its present key; SQLite cannot change one."""
    if connection.in_transaction:
        connection.commit()
    connection.execute("BEGIN IMMEDIATE")
    kept = _columns_of(connection)
    if "tenant" in kept:  # another has just done it
        return
    connection.execute("ALTER TABLE process RENAME TO process_before")
    connection.execute(_TABLE)
    known = set(_columns_of(connection))
    names = ", ".join(name for name in kept if name in known)
    connection.execute(f"INSERT INTO process ({names}) SELECT {names} FROM process_before ORDER BY rowid")
    connection.execute("DROP TABLE process_before")


def _write(connection: sqlite3.Connection, record: ProcessRecord, condition: str) -> None:
    """All but the name: who has read it earlier may not know of another."""
    values = {column: value for column, value in _columns(record).items() if column != "name"}
    connection.execute(
        f"UPDATE process SET {', '.join(f'{column} = ?' for column in values)} WHERE id = ?{condition}",
        (*values.values(), record.id),
    )


class ExistingProcess(NamedTuple):
    """The soft success of a name that is taken (docs/design.md, section 5). `advice`: what helps better than usual."""

    record: ProcessRecord
    advice: str | None = None

    @property
    def status(self) -> str:
        return ALREADY_EXISTS

    @property
    def hint(self) -> str:
        if self.advice is not None:
            return self.advice
        record = self.record
        hint = f"a process `{record.name}` exists in the session `{record.session}`; take another name to start another"
        return f"{hint}, or free this one with `vancectl processes remove {record.name}`" if record.ended else hint

    def as_json(self) -> dict[str, Any]:
        known = self.record.as_json()
        return {**known, "status": self.status, "existingStatus": known["status"], "hint": self.hint}


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
        "tenant": record.tenant or _ANYWHERE,
        "project": record.project or "",
        "log_truncated": int(record.log_truncated),
        "stop_error": record.stop_error,
    }


_FIELDS = {field.name for field in fields(ProcessRecord)}
_TEXTS = ("id", "session", "name", "status", "engine", "started_at")


def _record(row: sqlite3.Row) -> ProcessRecord:
    """Columns of a later version are passed over, and what is spoilt is left out and said."""
    values = {column: value for column, value in dict(row).items() if column in _FIELDS}
    faults = [column for column in _TEXTS if not isinstance(values.get(column), str)]
    values.update({column: str(values.get(column) or "?") for column in faults})
    for column, empty in (("decision", {}), ("result", {}), ("argv", None)):
        try:
            values[column] = json.loads(values.get(column) or "null") or empty
        except (ValueError, TypeError, RecursionError):
            values[column] = empty
            faults.append(column)
    if not isinstance(values["decision"], dict) or not isinstance(values["result"], dict):
        values.update(decision={}, result={})
        faults.append("decision")
    for column in ("pid", "supervisor", "exit_code"):
        if not isinstance(values.get(column), int | None):
            values[column] = None
            faults.append(column)
    values["log_truncated"] = bool(values.get("log_truncated"))
    for column in ("on_exit_error", "stop_error"):
        if not isinstance(values.get(column), str | None):
            values[column] = None
            faults.append(column)
    values["tenant"] = values.get("tenant") or None
    values["project"] = values.get("project") or None
    damaged = f"the record is damaged ({', '.join(faults)})" if faults else None
    return ProcessRecord(**values, damaged=damaged)
