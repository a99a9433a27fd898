"""Ctrl-C while a package is imported ends every command with 130, whatever the package makes of it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.workspace import Workspace

SLOW_PACKAGE = """
import time
from pathlib import Path
Path({marker!r}).touch()
try:
    time.sleep(30)
except KeyboardInterrupt:
    raise {raised}
"""


def slow_package(ws: Workspace, name: str, raised: str) -> Path:
    """A package of that name which is long in coming, and makes another exception of an interrupt."""
    marker = ws.root / "imported"
    ws.write(f"H/packages/{name}/__init__.py", SLOW_PACKAGE.format(marker=str(marker), raised=raised))
    ws.env["PYTHONPATH"] = str(ws.path("H/packages"))
    return marker


def interrupted(ws: Workspace, marker: Path, *arguments: str) -> tuple[int, str]:
    process = ws.start(*arguments)
    end = time.monotonic() + 30
    while not marker.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    result = ws.finish(process)
    assert marker.exists(), f"nothing imported the package\n{result}"
    return result.status, result.stderr


@pytest.mark.parametrize("raised", ["RuntimeError", "ImportError", "SystemExit(3)"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["select", "sort my mail"],
        ["delegate", "sort my mail"],
        ["batch", "tasks.txt"],
        ["check", "--record"],
    ],
    ids=["select", "delegate", "batch", "record"],
)
def test_while_the_model_package_is_imported(ws: Workspace, arguments: list[str], raised: str) -> None:
    ws.model("http://127.0.0.1:9")
    ws.recipe("P/recipes/mail.yaml", "Sorts the mail of a person into folders.")
    ws.write("P/tasks.txt", "sort my mail\n")
    ws.write("P/routes.yaml", "cases:\n- {task: sort my mail, expect: mail}\n")
    marker = slow_package(ws, "anthropic", raised)
    assert interrupted(ws, marker, *arguments) == (130, "")


@pytest.mark.parametrize("package", ["typer", "yaml"])
def test_while_the_command_line_is_imported(ws: Workspace, package: str) -> None:
    marker = slow_package(ws, package, "RuntimeError")
    assert interrupted(ws, marker, "settings", "show") == (130, "")
