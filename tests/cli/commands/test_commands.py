"""Commands that there are not: what is near is named, and nothing else."""

import pytest

from tests.workspace import Workspace


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["selct"], "Did you mean `select`?"),
        (["recipes", "nwe"], "Did you mean `new`?"),
        (["processes", "lits"], "Did you mean `list`?"),
        (["list"], "Did you mean `processes list` or `recipes list`?"),
        (["version"], "Did you mean `--version`?"),
        (["frobnicate"], ""),
    ],
)
def test_an_unknown_command_is_refused_with_what_is_near(ws: Workspace, words: list[str], meant: str) -> None:
    said = ws.run(*words).expect(2).stderr
    assert f"No such command '{words[-1]}'. {meant}".strip() in said
    assert ("Did you mean" in said) is bool(meant)
