"""Commands that need no model load neither its SDK nor anything else that takes its time."""

import time
from collections.abc import Sequence

import pytest

from tests.workspace import Workspace

COSTLY = {"anthropic", "yaml", "httpx", "httpx2", "pydantic", "pydantic_core", "rich", "asyncio", "ssl"}


def loaded(ws: Workspace, args: Sequence[str]) -> set[str]:
    """The modules that the installed command imports, as the interpreter reports them."""
    run = ws.run(*args, env={"PYTHONPROFILEIMPORTTIME": "1"}).expect(0)
    lines = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines[1:]}


def costly(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules} & COSTLY


@pytest.mark.parametrize(
    "args",
    [
        ["--version"],
        ["--help"],
        ["select", "--help"],
        ["recipes", "path"],
        ["schema", "recipe"],
    ],
    ids=" ".join,
)
def test_what_reads_no_file_imports_nothing_costly(ws: Workspace, args: list[str]) -> None:
    modules = loaded(ws, args)
    assert "vancectl.cli.app" in modules
    assert costly(modules) == set()


WARM = [
    ["select", "--json", "fix tests"],
    ["recipes", "list", "--json"],
    ["recipes", "list", "--all", "--json"],
    ["recipes", "show", "fixer"],
    ["catalog", "show", "--prompt"],
    ["delegate", "--json", "fix tests"],
    ["spawn", "list"],
    ["settings", "show"],
    ["delegate", "--request", "request.json", "--dry-run"],
    ["select", "--json", "--set", "spawn.stdin=task", "fix tests"],
    ["select", "--json", "what no phrase decides"],
    ["hook", "--help"],
]


def test_a_warm_start_imports_nothing_costly(ws: Workspace) -> None:
    """Once the files are older than a clock's tick and have been read, nothing is left to check."""
    ws.recipe("P/recipes/fixer.yaml", triggers=["fix tests"])
    ws.settings(spawn__command=["true"], spawn__stdin="none")
    ws.write("P/project.yaml", "id: own\n")
    ws.write("P/request.json", '{"name": "a", "task": "fix tests", "params": {"n": 1}, "wait": true}')
    time.sleep(2.1)
    for args in WARM:
        loaded(ws, args)
    found = {" ".join(args): loaded(ws, args) for args in WARM}
    assert {words: costly(modules) for words, modules in found.items()} == {words: set() for words in found}
    assert max(map(len, found.values())) < 350
