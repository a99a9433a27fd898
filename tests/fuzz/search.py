"""The search for faults: inputs one after another, each from its own number, and what failed made small."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz.mutation import mutate
from tests.fuzz.room import FaultError, Room
from tests.fuzz.targets import TARGETS
from tests.messages_server import MessagesServer

MINIMISING = 20.0


class Found(NamedTuple):
    """A fault, and the least input that was found for it."""

    target: str
    seed: int
    number: int
    kind: str
    shown: str
    data: bytes


def make(target: str, seed: int, number: int) -> bytes:
    """The input of this number: the same in every run."""
    random = Random(f"{target} {seed} {number}")
    return mutate(random, random.choice(TARGETS[target].seeds))


def search(
    target: str, seed: int, *, seconds: float, most: int | None = None, minimise: bool = True
) -> Iterator[Found | int]:
    """Each kind of fault once, and at the end the number of inputs."""
    kinds: set[str] = set()
    number = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        attempt(
            Path(folder), target, TARGETS[target].seeds[0], 0
        )  # the parent of the forks comes up before time counts
        until = time.monotonic() + seconds
        while time.monotonic() < until and (most is None or number < most):
            data = make(target, seed, number)
            fault = attempt(Path(folder), target, data, number)
            if fault and fault.kind not in kinds:
                kinds.add(fault.kind)
                if minimise:
                    data = smallest(Path(folder), target, data, number, fault.kind)
                yield Found(target, seed, number, fault.kind, fault.shown, data)
            number += 1
    yield number


def attempt(folder: Path, target: str, data: bytes, number: int) -> FaultError | None:
    """Every input meets the same room."""
    place = folder / f"{target}"
    with MessagesServer() as server:
        room = Room(place, server)
        try:
            TARGETS[target].run(room, data, Random(number))
        except FaultError as fault:
            return fault
        finally:
            room.close()
            for laid in TARGETS[target].lays:
                room.path(laid).unlink(missing_ok=True)
    return None


def smallest(folder: Path, target: str, data: bytes, number: int, kind: str) -> bytes:
    """Leaves out parts, ever smaller ones, as long as the same fault comes."""
    until = time.monotonic() + MINIMISING
    size = max(1, len(data) // 2)
    while size and time.monotonic() < until:
        place = 0
        while place < len(data) and time.monotonic() < until:
            less = data[:place] + data[place + size :]
            fault = attempt(folder, target, less, number)
            if fault and fault.kind == kind:
                data = less
            else:
                place += size
        size //= 2
    return data
