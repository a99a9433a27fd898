"""A short run of the kill matrix; `python tests/bench/kills.py` makes a long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.kills import rounds


@pytest.mark.slow
def test_nothing_is_lost_or_done_twice_whoever_is_killed(tmp_path: Path) -> None:
    faults = [fault for _, _, found in rounds(10, 7, tmp_path) for fault in found]
    assert not faults, "\n".join(faults)
