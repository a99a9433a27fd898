"""The progress bar: on stderr, where that is a terminal, and gone when the work is done."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from tests.messages_server import MessagesServer, delay, none
from tests.workspace import Workspace


def on_a_terminal(ws: Workspace, *arguments: str) -> tuple[str, str]:
    """What goes to stdout, a pipe, and to stderr, a terminal."""
    near, far = pty.openpty()
    process = subprocess.Popen(
        [*ws.command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=far,
        cwd=ws.project, env=ws.environment(),
    )  # fmt: skip
    os.close(far)
    stdout, _ = process.communicate(timeout=60)
    written = b""
    try:
        while data := os.read(near, 65536):
            written += data
    except OSError:  # the terminal is gone with its last user
        pass
    os.close(near)
    assert process.returncode == 0, written
    return stdout.decode(), written.decode()


@pytest.fixture
def shop(ws: Workspace, messages: MessagesServer) -> Workspace:
    ws.recipe("P/own/trigger.yaml", triggers=["trigger it"])
    ws.write("P/tasks.txt", "".join(f"task {number}\n" for number in range(10)))
    ws.write("P/cases.jsonl", "".join(f'{{"task": "task {number}", "expect": "NONE"}}\n' for number in range(10)))
    messages.reply(delay(0.1, none()))
    ws.model(messages)
    return ws


def test_a_batch_shows_how_far_it_is(shop: Workspace) -> None:
    stdout, stderr = on_a_terminal(shop, "batch", "--recipes", "own", "tasks.txt", "--jobs", "2")
    assert len(stdout.splitlines()) == 10
    assert "/10" in stderr
    assert stderr.endswith("\r\x1b[K")
    assert "/10" not in on_a_terminal(shop, "batch", "-q", "--recipes", "own", "tasks.txt")[1]


def test_recording_shows_how_far_it_is(shop: Workspace) -> None:
    _, stderr = on_a_terminal(shop, "check", "cases.jsonl", "--recipes", "own", "--record", "--jobs", "2")
    assert "recording [" in stderr
    assert "10/10" in stderr
    assert stderr.endswith("\r\x1b[K")
