"""Word lists are worked out once, and what is kept of them is read past where it is spoilt."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace

pytestmark = pytest.mark.installed  # a fork has the lists of its parent


def codes(ws: Workspace) -> set[str]:
    return {finding["code"] for finding in ws.run("recipes", "lint", "--json").expect().json["findings"]}


def test_the_words_are_kept(ws: Workspace) -> None:
    ws.recipe("P/recipes/a.yaml", "Compiles gates. Use it for gates.", triggers=["gate"])
    first = codes(ws)
    assert "inside-words" in first
    kept = ws.path("C/words")
    whole = kept.read_bytes()
    stood = kept.stat().st_mtime_ns
    assert (codes(ws), kept.stat().st_mtime_ns) == (first, stood)
    for spoilt in (whole[:-100], whole.replace(b"\nnavigate\n", b"\n\n"), b"", b"\xff" * 100):
        kept.write_bytes(spoilt)
        assert codes(ws) == first
        assert kept.read_bytes() == whole
