"""The command line of the search: exit status 1 where a fault was found."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.search import attempt, make, search
from tests.fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Look for input that the command fails on."
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs")
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--target", choices=TARGETS, action="append", help="only this reader (repeatable)")
    parser.add_argument("--number", type=int, help="with --target: only this input, and write it to standard output")
    words = parser.parse_args()
    targets = words.target or list(TARGETS)
    if words.number is not None:
        return _one(targets[0], words.seed, words.number)
    inputs, faults = 0, 0
    for target in targets:
        for found in search(target, words.seed, seconds=words.seconds / len(targets)):
            if isinstance(found, int):
                inputs += found
                print(f"{target}: {found} inputs", flush=True)
                continue
            faults += 1
            again = f"--target {target} --seed {found.seed} --number {found.number}"
            print(f"\nFAULT {found.kind}\n  {again}\n  {found.data[:2000]!r}\n{found.shown}\n", flush=True)
    print(f"{inputs} inputs, {faults} faults")
    return int(faults > 0)


def _one(target: str, seed: int, number: int) -> int:
    data = make(target, seed, number)
    sys.stdout.buffer.write(data)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        fault = attempt(Path(folder), target, data, number)
    if fault:
        print(f"\nFAULT {fault.kind}\n{fault.shown}", file=sys.stderr)
    return int(fault is not None)


if __name__ == "__main__":
    sys.exit(main())
