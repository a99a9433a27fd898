"""Fixtures for every test, and a wall between the tests and the person who runs them."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.messages_server import MessagesServer
from tests.workspace import REPOSITORY, Workspace

# Read before `no_own_folders` clears the variables of the caller.
ROUTING_BENCH = Path(os.environ.get("VANCECTL_ROUTING_BENCH") or REPOSITORY.parent / "shared" / "routing-bench")

# What decides keys, folders, hosts and looks.
OF_THE_CALLER = ("VANCECTL_", "ANTHROPIC_", "XDG_", "SSL_CERT_", "CLAUDE")
OF_THE_CALLER_WHOLE = {
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NO_COLOR", "FORCE_COLOR", "COLUMNS",
}  # fmt: skip

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So it is in a shell's background job, and children inherit it: no test could then
    # interrupt one. A handler, unlike SIG_IGN, is not inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--installed", action="store_true", help="run the installed command everywhere, in place of forks")


# What waits for real processes, servers, clocks or shells more than it computes.
WAITING = (
    *("process/", "plan/", "worker/", "fuzz/", "routes/", "recordings/", "model/", "batch/", "spawn/", "mcp/"),
    *("delegation/", "sources/", "test_packaging", "test_messages_server", "test_imports", "cli/test_shells"),
    *("cli/test_jobs", "cli/test_resume", "cli/render/test_progress", "inventory/test_compiled", "selector/test_fail"),
    *("selector/semantic", "selector/explain", "lint/test_wordlist", "lint/test_report", "decision_log/"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The short tier, `-m "not slow"`, has one case of each test, and leaves out what waits."""
    seen: set[str] = set()
    for item in items:
        function, _, case = item.nodeid.partition("[")
        place = item.path.relative_to(REPOSITORY / "tests").as_posix()
        if place.startswith(WAITING) or (case and function in seen):
            item.add_marker(pytest.mark.slow)
        seen.add(function)


@pytest.fixture(autouse=True)
def no_own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the real user's folders and keys from code that runs inside the tests.

    The folders are those of the `ws` fixture, so that both see the same files.
    """
    for name in list(os.environ):
        if name.startswith(OF_THE_CALLER) or name.upper() in OF_THE_CALLER_WHOLE:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder in ("config", "state", "cache"):
        monkeypatch.setenv(f"VANCECTL_{folder.upper()}_DIR", str(tmp_path / folder))


@pytest.fixture
def ws(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    installed = request.node.get_closest_marker("installed") is not None
    workspace = Workspace(tmp_path, installed=installed or request.config.getoption("--installed"))
    yield workspace
    workspace.close()


@pytest.fixture
def messages() -> Iterator[MessagesServer]:
    """A started server that no run asks until `ws.model(messages)`."""
    with MessagesServer() as server:
        yield server


@pytest.fixture(scope="session")
def routing_bench() -> Path:
    if not ROUTING_BENCH.is_dir():
        pytest.skip(f"the routing benchmark is not at {ROUTING_BENCH}: set VANCECTL_ROUTING_BENCH to its folder")
    return ROUTING_BENCH
