"""A model on loopback whose answer to each task is known beforehand, and what follows from it for the figures."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.messages_server import Behaviour, answer, match, none

_TASK = re.compile(r"<task>\n(.*)\n</task>", re.DOTALL)
_HARMLESS = {"\\u003c": "<", "\\u003e": ">"}


def task_of(body: Any) -> str:
    """The task that a request asks about."""
    content = body["messages"][0]["content"]
    text = "".join(block["text"] for block in content)
    found = _TASK.search(text)
    assert found is not None, text
    return str(json.loads(found[1]))


def answers(chosen: Callable[[str], str | None]) -> Behaviour:
    """MATCH with the name that is chosen for a task, NONE where it is None."""

    def script(body: Any) -> Behaviour:
        name = chosen(task_of(body))
        return none() if name is None else match(name)

    return answer(script)


def from_table(table: Mapping[str, str | None]) -> Behaviour:
    return answers(lambda task: table[task])


def chance(task: str, salt: str = "") -> float:
    """A number from 0 to 1 that a task always gets."""
    return int(hashlib.sha256((salt + task).encode()).hexdigest()[:8], 16) / 0xFFFFFFFF
