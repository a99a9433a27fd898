"""The error for a process that did not end well, with what helps: its limit, and where it said why."""

from __future__ import annotations

import json
import os
import re
import signal

from vancectl.errors import InterruptError, SpawnError, VancectlError
from vancectl.process.command import CommandTemplate
from vancectl.process.status import ProcessStatus
from vancectl.process.store import ProcessRecord
from vancectl.programs.environment import withheld

# How programs say that they may not, in what they write to standard output.
_UNAUTHORISED = (
    r"(?i)log(ged)?[ -]?in\b|api[ _-]?key|authenti|authoriz|authoris|credential|\btoken|\b40[13]\b|forbidden"
)


def missed_key(record: ProcessRecord, template: CommandTemplate) -> list[str]:
    """Which credentials a program that failed was not given, unless what it says has nothing to do with them.

    Most programs say it on standard error, which is not ours to read.
    """
    kept = withheld(template.environment) if record.status == ProcessStatus.FAILED else []
    said = record.reply or ""
    text = said if isinstance(said, str) else json.dumps(said)
    if not kept or (text.strip() and not re.search(_UNAUTHORISED, text)):
        return []
    example = f'{{{kept[0]}: "{{env.{kept[0]}}}"}}'
    return [
        f"vancectl did not pass {', '.join(kept)} on to the program that failed; if that is what it misses, set "
        f"spawn.env: {example}"
    ]


def failure_of(
    record: ProcessRecord, timeout: float | None, limit: str = "--timeout or spawn.timeout"
) -> VancectlError | None:
    """None where it ended well, or still runs; its status stays in the output. `limit` is what limited its time."""
    if record.status == ProcessStatus.TIMED_OUT:
        return SpawnError(f"the spawn command was ended after {timeout:g} seconds", remedy=f"raise {limit}")
    if record.status == ProcessStatus.STOPPED:
        return InterruptError("interrupted: the spawn command was passed the signal and has ended")
    if record.status == ProcessStatus.FAILED:
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
