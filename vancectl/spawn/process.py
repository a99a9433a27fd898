"""Runs the spawn command for an applied recipe and says what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vancectl.child import ChildError, Finished, run_child, start_detached
from vancectl.errors import SpawnError, StoreError, VancectlError
from vancectl.spawn.applied import AppliedRecipe
from vancectl.spawn.command import CommandTemplate, fill, uses
from vancectl.spawn.request import MAX_DEPTH, Request, depth, strict_json
from vancectl.spawn.session import DONE, FAILED, RUNNING, STOPPED, TIMED_OUT, ProcessRecord, ProcessStore

PAYLOAD_VERSION = 1


@dataclass(frozen=True, slots=True)
class Start:
    """All that one start needs: which command, for what, as whom."""

    name: str
    session: str
    tenant: str
    project: str | None
    request: Request
    applied: AppliedRecipe
    template: CommandTemplate

    def payload(self) -> dict[str, Any]:
        """What the command reads on stdin: the applied recipe with the request (design, section 5)."""
        return {
            "version": PAYLOAD_VERSION,
            "name": self.name,
            "task": self.request.task,
            "title": self.request.title,
            "steerContent": self.request.steer_content,
            "session": self.session,
            "project": self.project,
            "tenant": self.tenant,
            "appliedRecipe": self.applied.as_json(),
        }

    def payload_text(self) -> str:
        return json.dumps(self.payload(), ensure_ascii=False) + "\n"

    def prompt(self) -> str:
        """Prompt prefix and task as one text, for programs that only read text."""
        prefix = str(self.applied.fields.get("promptPrefix", "")).strip()
        # A request may give its task as `steerContent` alone; it is not said twice.
        parts = dict.fromkeys((prefix, self.request.task, self.request.steer_content))
        return "\n\n".join(part for part in parts if part) + "\n"

    def argv(self, folder: Path) -> list[str]:
        """The filled command; `folder` is where its files are, or would be."""
        values = {
            "name": self.name,
            "recipe": self.applied.recipe or "",
            "engine": self.applied.engine,
            "task": self.request.task or "",
            "title": self.request.title or "",
            "session": self.session,
            "project": self.project or "",
            "tenant": self.tenant,
            "profile": self.applied.profile or "",
            "payload_file": str(folder / "payload.json"),
            "prompt_file": str(folder / "prompt.txt"),
        }
        return fill(self.template, values, self.applied.params)

    def stdin(self) -> bytes | None:
        """What the command reads; None closes its input at once."""
        if self.template.stdin == "none":
            return None
        text = self.payload_text() if self.template.stdin == "payload" else self.request.task or ""
        return text.encode()

    def environment(self) -> dict[str, str]:
        environment = dict(os.environ)
        for variable, value in self.template.environment.items():
            if value is None:
                environment.pop(variable, None)
            else:
                environment[variable] = value
        return environment


def new_id() -> str:
    return secrets.token_hex(8)


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def run_process(
    start: Start, record: ProcessRecord, store: ProcessStore, timeout: float | None
) -> tuple[ProcessRecord, VancectlError | None]:
    """Runs the command to its end and keeps the record true. Raises SpawnError where it cannot be started.

    The error is for a record that could not be kept: what the command did and said is not lost with it.
    """
    folder = store.folder / record.id

    def started(pid: int) -> None:
        nonlocal record
        record = replace(record, status=RUNNING, pid=pid)
        with contextlib.suppress(StoreError):  # no reason to end the command; if it lasts, it is told at the end
            store.update(record)

    with _starting(start, record, store, folder):
        argv = start.argv(folder)
        _write_files(start, folder)
        finished = run_child(
            argv, stdin=start.stdin(), environment=start.environment(), timeout=timeout, on_start=started
        )
    shutil.rmtree(folder, ignore_errors=True)
    ended = replace(
        record,
        status=_status(finished),
        exit_code=finished.exit_code,
        ended_at=utc_now(),
        result=read_output(finished.stdout),
    )
    return ended, _unkept(ended, store)


def start_process(
    start: Start, record: ProcessRecord, store: ProcessStore
) -> tuple[ProcessRecord, VancectlError | None]:
    """Starts the command and leaves it to itself; its output goes to a log. Otherwise as `run_process`."""
    folder = store.folder / record.id
    with _starting(start, record, store, folder):
        argv = start.argv(folder)
        _write_files(start, folder, always=True)
        data = start.stdin()
        source = folder / "stdin" if data is not None else None
        if source is not None and data is not None:
            source.write_bytes(data)
        pid = start_detached(argv, stdin=source, log=folder / "output.log", environment=start.environment())
    if source is not None:
        source.unlink(missing_ok=True)
    running = replace(record, status=RUNNING, pid=pid, log=str(folder / "output.log"))
    return running, _unkept(running, store)


def _unkept(record: ProcessRecord, store: ProcessStore) -> StoreError | None:
    try:
        store.update(record)
    except StoreError as error:
        return error
    return None


@contextlib.contextmanager
def _starting(start: Start, record: ProcessRecord, store: ProcessStore, folder: Path) -> Iterator[None]:
    """Where no process came to be, for whatever reason, its name is free again and its files are gone."""
    try:
        yield
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(StoreError):
            store.release(record)
        if isinstance(error, ChildError):
            raise SpawnError(error.text, remedy=f"check {start.template.key} in {start.template.origin}") from None
        if isinstance(error, OSError):
            raise SpawnError(
                f"the files for the process cannot be written: {error.strerror}", remedy="check space and permissions"
            ) from None
        raise


def read_output(stdout: bytes) -> dict[str, Any]:
    """stdout that is one JSON object is the process's own fields, other text its reply (design, section 5)."""
    text = stdout.decode("utf-8", "replace")
    try:
        document = strict_json(text)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict) and depth(document) <= MAX_DEPTH:
        return document
    return {"reply": text} if text else {}


def _write_files(start: Start, folder: Path, *, always: bool = False) -> None:
    """Only what the command reads is written, and only for its owner: a payload may hold secrets."""
    wanted = {
        "payload.json": (start.payload_text, uses(start.template, "payload_file")),
        "prompt.txt": (start.prompt, uses(start.template, "prompt_file")),
    }
    if always or any(needed for _, needed in wanted.values()):
        folder.mkdir(mode=0o700, parents=True)
    for name, (text, needed) in wanted.items():
        if needed:
            (folder / name).write_text(text(), encoding="utf-8")


def _status(finished: Finished) -> str:
    if finished.timed_out:
        return TIMED_OUT
    if finished.interrupted:
        return STOPPED
    return DONE if finished.exit_code == 0 else FAILED
