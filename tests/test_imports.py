"""Commands that need no model load neither its SDK nor anything else that takes its time."""

from collections.abc import Sequence

import pytest

from tests.workspace import Workspace

COSTLY = {"anthropic", "httpx", "httpx2", "pydantic", "pydantic_core", "rich", "asyncio", "ssl"}


def loaded(ws: Workspace, args: Sequence[str]) -> set[str]:
    """The modules that the installed command imports, as the interpreter reports them."""
    run = ws.run(*args, env={"PYTHONPROFILEIMPORTTIME": "1"}).expect(0)
    lines = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines[1:]}


@pytest.mark.parametrize(
    ("args", "yaml"),
    [
        (["--version"], False),
        (["--help"], False),
        (["select", "--help"], False),
        (["recipes", "list", "--json"], True),
        (["recipes", "path"], False),
        (["recipes", "show", "fixer"], True),
        (["catalog", "show", "--prompt"], True),
        (["select", "--json", "fix tests"], True),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_nothing_costly_is_imported(ws: Workspace, args: list[str], yaml: bool) -> None:
    ws.recipe("P/recipes/fixer.yaml", triggers=["fix tests"])
    modules = loaded(ws, args)
    assert "vancectl.cli.app" in modules
    assert {module.partition(".")[0] for module in modules} & COSTLY == set()
    assert ("yaml" in modules) == yaml
    assert len(modules) < 350
