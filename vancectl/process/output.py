"""What a program wrote: its reply, and never a field of its record (docs/design.md, section 5)."""

from __future__ import annotations

import json
import os
from typing import Any

from vancectl.process.log import STDOUT
from vancectl.programs.secrets import scrub
from vancectl.text.strict_json import MAX_DEPTH, depth, read_json

# Where a log may be longer, its end counts.
_LONGEST = 64 * 1024 * 1024
# Characters of a reply in a list or an event.
SHOWN = 4000
_LINE = 200
STOP_SECONDS = 20.0


def read_output(stdout: bytes) -> dict[str, Any]:
    """`reply`: the text, or the value where it is one JSON value; no key where nothing was written.

    Secrets that we know never get into a record, however a program came by them.
    """
    text = scrub(stdout.decode("utf-8", "replace"))
    return {"reply": _value(text)} if text else {}


def read_stdout(log: str) -> dict[str, Any]:
    """The same for a process with a log; before it was kept apart, standard output stood in that alone."""
    for path in (os.path.join(os.path.dirname(log), STDOUT), log):
        try:
            return read_output(end_of(path, _LONGEST))
        except OSError:
            continue
    return {}


def end_of(path: str, longest: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(os.fstat(file.fileno()).st_size - longest, 0))
        return file.read()


def shortened(process: dict[str, Any]) -> dict[str, Any]:
    """As a list or an event carries it: of a long reply the beginning, and a note that tells where the whole is."""
    reply = process.get("reply")
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    if len(text) <= SHOWN:
        return process
    note = f"the first {SHOWN:,} of {len(text):,} characters; `vancectl processes show {process['id']}` has the whole"
    cut = {"reply": text[:SHOWN], "replyNote": note}
    return {key: part for each, value in process.items() for key, part in (
        cut.items() if each == "reply" else ((each, value),)
    )}  # fmt: skip


def still_there(why: str) -> str:
    return f"what it started elsewhere may still run: {why}"


def on_exit_fault(why: str) -> str:
    return f"the command for the end: {why}"


def ended_badly(program: str, exit_code: int, said: bytes) -> str:
    """How it ended, and the last line that it said."""
    ended = f"ended with status {exit_code}" if exit_code > 0 else f"was ended by signal {-exit_code}"
    lines = scrub(said.decode("utf-8", "replace")).split("\n")
    last = next((line.strip()[:_LINE] for line in reversed(lines) if line.strip()), "")
    return f"`{program}` {ended}" + (f": {last}" if last else "")


def last_line_object(reply: object) -> dict[str, Any]:
    """The JSON object that a reply is, or that its last line holds; programs talk before they say their result."""
    if isinstance(reply, str):
        lines = reply.strip().rsplit("\n", 1)
        reply = _value(lines[-1])
    return reply if isinstance(reply, dict) else {}


def _value(text: str) -> Any:
    """A number that would be written in another way stays text: `3.10` is no 3.1."""
    try:
        value = read_json(text)
    except ValueError:
        return text
    if depth(value) > MAX_DEPTH:
        return text
    return text if isinstance(value, int | float) and json.dumps(value) != text.strip() else value
