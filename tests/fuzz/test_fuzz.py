"""A short fixed run of the search, and that it can find something."""

import pytest

from tests.fuzz.room import FaultError, Room
from tests.fuzz.search import make, search
from tests.fuzz.targets import TARGETS, Target


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_of_the_fixed_run_brings_a_fault(target: str) -> None:
    found = [fault for fault in search(target, 1, seconds=60, most=6) if not isinstance(fault, int)]
    assert not found, "\n".join(f"{fault.kind}\n{fault.data!r}\n{fault.shown}" for fault in found)


def test_an_input_is_the_same_in_every_run() -> None:
    assert [make("recipes", 3, number) for number in range(50)] == [make("recipes", 3, number) for number in range(50)]


def test_a_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: Room, data: bytes, __: object) -> None:
        if b"X" in data:
            raise FaultError("an X", "")

    monkeypatch.setitem(TARGETS, "recipes", Target((b"abcXdef" * 5,), run))
    found = next(fault for fault in search("recipes", 1, seconds=10) if not isinstance(fault, int))
    assert (found.kind, found.data) == ("an X", b"X")
