"""Runs the spawn command for an applied recipe and says what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vancectl.delegation.applied import AppliedRecipe
from vancectl.delegation.generated import Assignment
from vancectl.delegation.handover import Handover, hand_over
from vancectl.delegation.prompt import render_prompt
from vancectl.delegation.request import Request
from vancectl.errors import SpawnError, StoreError, VancectlError
from vancectl.process.caller import NOBODY, Caller, child_environment
from vancectl.process.command import Argument, CommandTemplate, fill, fill_environment, filled_text, uses
from vancectl.process.elsewhere import Elsewhere
from vancectl.process.lifeline import Lifeline, birth_of
from vancectl.process.log import BOTH, Log
from vancectl.process.output import ended_badly, on_exit_fault, read_output, shortened, still_there
from vancectl.process.preset import DEFAULT_MODEL
from vancectl.process.status import ProcessStatus, status_of
from vancectl.process.store import NameScope, ProcessRecord, ProcessStore
from vancectl.process.supervision import Job, Supervised, supervise
from vancectl.programs.child import MAX_OUTPUT, ChildError, Finished, run_child
from vancectl.programs.secrets import PieceScrubber
from vancectl.text.moment import utc_now

PAYLOAD_VERSION = 1
_UNDECODABLE = re.compile("[\ud800-\udfff]")
EVENT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Start:
    """All that one start needs: which command, for what, as whom."""

    name: str
    scope: NameScope
    project: str | None
    request: Request
    applied: AppliedRecipe
    template: CommandTemplate
    caller: Caller = NOBODY
    models: Mapping[str, str] = field(default_factory=dict)  # the aliases in force
    assignment: Assignment | None = None  # where it generates a recipe
    id: str = ""  # the process's, once it has one
    log_bytes: int = MAX_OUTPUT

    def payload(self) -> dict[str, Any]:
        """What the command reads on stdin: the applied recipe with the request (docs/design.md, section 5)."""
        return {
            "version": PAYLOAD_VERSION,
            "name": self.name,
            "task": self.request.task,
            "title": self.request.title,
            "steerContent": self.request.steer_content,
            "session": self.scope.session,
            "project": self.project,
            "tenant": self.scope.tenant,
            **({"inheritContext": self.request.inherit_context} if self.request.inherit_context is not None else {}),
            **({"generation": self.assignment.as_json()} if self.assignment is not None else {}),
            "systemPrompt": self.system(),
            "appliedRecipe": self.applied.as_json(),
        }

    def payload_text(self) -> str:
        """As UTF-8 can hold it: a byte of a path that is no text stays the escape that JSON has for it."""
        text = json.dumps(self.payload(), ensure_ascii=False)
        return _UNDECODABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"

    def prompt(self) -> str:
        """Prompt prefix and message as one text, for programs that only read text."""
        return "\n\n".join(part for part in (self.system().strip(), self.message()) if part) + "\n"

    def system(self) -> str:
        """The recipe's prompt prefix with its template filled in. Raises UsageError where that fails.

        Who generates a recipe is told where it belongs; our own worker saves it itself, as its payload says.
        """
        preset = self.template.preset
        is_worker = preset is not None and preset.is_worker
        text = render_prompt(self.applied.as_json(), self.models, DEFAULT_MODEL if is_worker else "")
        if self.assignment is None or is_worker:
            return text
        return "\n\n".join(part for part in (text.rstrip(), self.assignment.instructions(self.id)) if part) + "\n"

    def message(self) -> str:
        """Task and steerContent; a request may give its task as `steerContent` alone, which is not said twice."""
        parts = dict.fromkeys((self.request.task, self.request.steer_content))
        return "\n\n".join(part for part in parts if part)

    def argv(self, folder: Path) -> list[str]:
        """The filled command; `folder` is where its files are, or would be, and its name the process's id."""
        return [argument.text for argument in self.arguments(folder)]

    def stop(self, folder: Path) -> list[str]:
        """The preset's command that ends what its program has started elsewhere; empty where there is none."""
        preset = self.template.preset
        if preset is None or not preset.stop:
            return []
        command = replace(self.template, argv=preset.stop)
        return [argument.text for argument in fill(command, self._values(folder), self.handover.params)]

    def arguments(self, folder: Path) -> list[Argument]:
        return fill(self.template, self._values(folder), self.handover.params)

    @property
    def handover(self) -> Handover:
        foreign, applied = self.applied.foreign, self.applied
        if foreign is not None and self.template.preset is not None and foreign.preset == self.template.preset.name:
            # Its program reads the rest where it lies.
            params = {**({foreign.task_param: self.message()} if foreign.task_param else {}), **foreign.params}
            applied = replace(applied, params=params, fields={})
        return hand_over(applied, self.template, self.models)

    def _values(self, folder: Path) -> dict[str, str]:
        return {
            "id": folder.name,
            "name": self.name,
            "recipe": self.applied.recipe or "",
            "engine": self.applied.engine,
            "task": self.request.task or "",
            "message": self.message(),
            "title": self.request.title or "",
            "session": self.scope.session,
            "project": self.project or "",
            "tenant": self.scope.tenant,
            "profile": self.applied.profile or "",
            "payload_file": str(folder / "payload.json"),
            "prompt_file": str(folder / "prompt.txt"),
            "system_file": str(folder / "system.txt"),
            **self._source_values(),
            **self.handover.values,
        }

    def _source_values(self) -> dict[str, str]:
        foreign = self.applied.foreign
        if foreign is None:
            return dict.fromkeys(("source_name", "source_file", "source_folder"), "")
        path = Path(foreign.path)
        # Of a plugin's agent the plugin: the folder that holds `agents`.
        above = next((each.parent for each in path.parents if each.name == "agents"), path.parent)
        return {"source_name": foreign.name, "source_file": foreign.path, "source_folder": str(above)}

    def stdin(self) -> bytes | None:
        """What the command reads; None closes its input at once."""
        if self.template.stdin == "none":
            return None
        if self.template.stdin == "payload":
            return self.payload_text().encode()
        texts = {"prompt": self.prompt, "message": self._plain_message}
        text = texts[self.template.stdin]() if self.template.stdin in texts else self.request.task or ""
        return text.encode("utf-8", "backslashreplace")

    def _plain_message(self) -> str:
        """The message so that the preset's program takes it for text, whatever it begins with."""
        preset, message = self.template.preset, self.message()
        if preset is not None and preset.says:
            return filled_text(preset.says, {**self._source_values(), "message": message})
        return f" {message}" if preset is not None and message.startswith(tuple(preset.words)) else message

    def environment(self, record: ProcessRecord, folder: Path) -> dict[str, str]:
        listed = fill_environment(self.template, self._values(folder), self.handover.params)
        return child_environment(listed, record, self.caller)

    def event(self, record: ProcessRecord) -> dict[str, Any]:
        """What the command for the end is told, as far as it is known before the end."""
        return {"version": EVENT_VERSION, "event": "end", "process": shortened(record.as_json())}


def new_id() -> str:
    return secrets.token_hex(8)


def run_process(
    start: Start,
    record: ProcessRecord,
    store: ProcessStore,
    lifeline: Lifeline,
    timeout: float | None,
    on_output: Callable[[bytes], None] | None = None,
) -> tuple[ProcessRecord, VancectlError | None]:
    """Runs the command to its end and keeps the record true. Raises SpawnError where it cannot be started.

    The error is for a record that could not be kept: what the command did and said is not lost with it.
    """
    folder = store.folder / record.id
    begun = time.monotonic()

    def started(pid: int) -> None:
        nonlocal record
        record = replace(record, status=ProcessStatus.RUNNING, pid=pid, supervisor=os.getpid())
        lifeline.write({"supervisor": os.getpid(), "pid": pid, "birth": birth_of(pid), "stop": start.stop(folder)})
        with contextlib.suppress(StoreError):  # no reason to end the command; if it lasts, it is told at the end
            store.settle(record)

    with _starting(start, record, store, lifeline):
        argv = start.argv(folder)
        record = replace(record, argv=argv)
        _write_files(start, folder)
        streams = _Streams(Log(str(folder / BOTH), start.log_bytes), on_output)
        environment = start.environment(record, folder)
        elsewhere = Elsewhere(start.stop(folder), environment)
        finished = run_child(
            argv,
            stdin=start.stdin(),
            environment=environment,
            timeout=timeout,
            on_start=started,
            on_output=streams.output,
            on_stderr=streams.error,
            max_output=start.log_bytes,
            drop=True,
            on_end=elsewhere.end,
            on_note=streams.note,
        )
        streams.close()
    if finished.interrupted or finished.exit_code < 0:  # also where somebody has killed it
        elsewhere.end()
    ended = replace(
        record,
        log=str(folder / BOTH) if not streams.log.empty else None,
        log_truncated=streams.log.cut,
        status=_status(finished),
        exit_code=finished.exit_code,
        ended_at=utc_now(),
        seconds=round(time.monotonic() - begun, 3),
        result=read_output(finished.stdout),
        stop_error=_fault(elsewhere),
    )
    unkept = _unkept(ended, store.update)
    if unkept is None:
        lifeline.discard(but=BOTH if ended.log is not None else "")
    else:  # it tells the end until that can be recorded
        with contextlib.suppress(OSError):
            lifeline.end(ended.status, ended.exit_code, ended.ended_at, ended.seconds)
        lifeline.release()
    return _tell(start, ended, store, folder), unkept


def start_process(
    start: Start, record: ProcessRecord, store: ProcessStore, lifeline: Lifeline, timeout: float | None
) -> tuple[ProcessRecord, Supervised, VancectlError | None]:
    """Starts the command under a supervisor that outlives us; its output goes to a log. Otherwise as `run_process`."""
    folder = store.folder / record.id
    log = folder / BOTH
    with _starting(start, record, store, lifeline):
        argv = start.argv(folder)
        record = replace(record, argv=argv, log=str(log))
        _write_files(start, folder)
        data = start.stdin()
        source = folder / "stdin" if data is not None else None
        if source is not None and data is not None:
            source.write_bytes(data)
        job = Job(
            argv,
            source,
            start.log_bytes,
            start.environment(record, folder),
            timeout,
            start.request.on_exit,
            start.event(record),
            start.stop(folder),
        )
        supervised = supervise(job, lifeline)
    if source is not None:
        source.unlink(missing_ok=True)
    running = replace(record, status=ProcessStatus.RUNNING, pid=supervised.pid, supervisor=supervised.supervisor.pid)
    if supervised.on_exit_error is not None:
        running = _untold(running, supervised.on_exit_error, store)
    return running, supervised, _unkept(running, store.settle)


def _fault(elsewhere: Elsewhere) -> str | None:
    try:
        return elsewhere.fault()
    except KeyboardInterrupt:
        return still_there("the command that ends it was not waited for")


def _unkept(record: ProcessRecord, write: Callable[[ProcessRecord], None]) -> StoreError | None:
    try:
        write(record)
    except StoreError as error:
        return error
    return None


class _Streams:
    """Both outputs of a program that is waited for: into its log, and on to whoever watches."""

    def __init__(self, log: Log, on_output: Callable[[bytes], None] | None) -> None:
        self.log = log
        self._on_output = on_output
        self._scrubber = PieceScrubber()
        self._lock = threading.Lock()

    def output(self, data: bytes) -> None:
        self._keep(data)
        if self._on_output is not None:
            self._on_output(data)

    def error(self, data: bytes) -> None:
        self._keep(data)
        self._pass_on(data)

    def note(self, text: str) -> None:
        self._pass_on(f"note: {text}\n".encode())

    def close(self) -> None:
        self._pass_on(b"")
        self.log.close()

    def _keep(self, data: bytes) -> None:
        with self._lock:
            self.log.write(data)

    def _pass_on(self, data: bytes) -> None:
        rest = self._scrubber.feed(data)
        if sys.stderr is None:  # it was closed, and another file may have its number
            return
        with contextlib.suppress(OSError):
            while rest:
                rest = rest[os.write(2, rest) :]


def _tell(start: Start, ended: ProcessRecord, store: ProcessStore, folder: Path) -> ProcessRecord:
    """Calls the command for the end where we are the supervisor ourselves; how that ends is only recorded."""
    if not start.request.on_exit:
        return ended
    try:
        called = run_child(
            start.request.on_exit,
            stdin=json.dumps(start.event(ended)).encode() + b"\n",
            environment=start.environment(ended, folder),
            capture_stderr=True,
        )
    except ChildError as error:
        return _untold(ended, error.text, store)
    if called.exit_code == 0:
        return ended
    return _untold(ended, on_exit_fault(ended_badly(start.request.on_exit[0], called.exit_code, called.stderr)), store)


def _untold(record: ProcessRecord, fault: str, store: ProcessStore) -> ProcessRecord:
    with contextlib.suppress(StoreError):
        store.note_on_exit(record.id, fault)
    return replace(record, on_exit_error=fault)


@contextlib.contextmanager
def _starting(start: Start, record: ProcessRecord, store: ProcessStore, lifeline: Lifeline) -> Iterator[None]:
    """Where no process came to be, for whatever reason, its name is free again and its files are gone."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(StoreError):
            store.release(record)
        lifeline.discard()
        if isinstance(error, ChildError):
            raise SpawnError(error.text, remedy=f"check {start.template.key} in {start.template.origin}") from None
        if isinstance(error, OSError):
            raise SpawnError(
                f"the files for the process cannot be written: {error.strerror}", remedy="check space and permissions"
            ) from None
        raise


def _write_files(start: Start, folder: Path) -> None:
    """Only what the command reads is written, and only for its owner: a payload may hold secrets."""
    wanted = {
        "payload.json": (start.payload_text, uses(start.template, "payload_file")),
        "prompt.txt": (start.prompt, uses(start.template, "prompt_file")),
        "system.txt": (start.system, uses(start.template, "system_file")),
    }
    for name, (text, needed) in wanted.items():
        if needed:
            (folder / name).write_text(text(), encoding="utf-8", errors="backslashreplace")


def _status(finished: Finished) -> str:
    if finished.timed_out:
        return ProcessStatus.TIMED_OUT
    if finished.interrupted:
        return ProcessStatus.STOPPED
    return status_of(finished.exit_code)
