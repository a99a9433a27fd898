"""The error for a process that did not end well, with what helps: its limit, and where it said why."""

from __future__ import annotations

import os
import signal

from vancectl.errors import InterruptError, SpawnError, VancectlError
from vancectl.process.store import FAILED, STOPPED, TIMED_OUT, ProcessRecord


def failure_of(
    record: ProcessRecord, timeout: float | None, limit: str = "--timeout or spawn.timeout"
) -> VancectlError | None:
    """None where it ended well, or still runs; its status stays in the output. `limit` is what limited its time."""
    if record.status == TIMED_OUT:
        return SpawnError(f"the spawn command was ended after {timeout:g} seconds", remedy=f"raise {limit}")
    if record.status == STOPPED:
        return InterruptError("interrupted: the spawn command was passed the signal and has ended")
    if record.status == FAILED:
        code = record.exit_code or 0
        how = f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with status {code}"
        return SpawnError(f"the spawn command {how}", remedy=where_it_speaks(record))
    return None


def where_it_speaks(record: ProcessRecord) -> str:
    """Where to look for what a process wrote."""
    try:
        silent = record.log is None or os.path.getsize(record.log) == 0
    except OSError:
        silent = False
    return "it wrote nothing" if silent else f"`vancectl processes logs {record.id}` shows what it wrote"


def _signal_name(number: int) -> str:
    try:
        return f"the signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"
