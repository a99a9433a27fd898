"""Kills vancectl, a supervisor or a program at random moments, and says what then does not hold.

In each round one of the commands below runs, one of the three gets KILL, and the same command is called again. No
record may stay open, nothing that has ended well may run twice, and what is written is whole and complete in the end.

    python tests/bench/kills.py [--rounds 200] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))  # as a script, this file sees its own folder only

from tests.workspace import Workspace  # noqa: E402

VANCECTL, SUPERVISOR, PROGRAM = "vancectl", "supervisor", "program"
SCRIPT = 'echo begun >>"runs.$1"; sleep 0.3; echo ended >>"runs.$1"; echo answer'
TASKS = [f"task {number}" for number in range(8)]
ORACLE = """sleep 0.03; echo '{"decision": "NONE", "recipe": null, "rationale": "none fits"}'"""
OPEN = {"STARTING", "RUNNING"}
LATEST = 1.2  # seconds; a command takes less on an idle machine


class Round:
    """One command in a place of its own; `faults` is what did not hold."""

    def __init__(self, ws: Workspace, chance: random.Random) -> None:
        self.ws = ws
        self.chance = chance
        self.faults: list[str] = []
        self.hit = False

    def kill(self, *argv: str, victims: tuple[str, ...]) -> str:
        victim = self.chance.choice(victims)
        running = self.ws.start(*argv)
        time.sleep(self.chance.uniform(0, LATEST))
        number = running.pid if victim == VANCECTL else self.started(victim)
        if number is not None and running.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
                self.hit = True
        self.ws.finish(running, timeout=60)
        return victim

    def started(self, victim: str) -> int | None:
        """One of the processes that the lifelines name."""
        found = []
        for lifeline in self.ws.state.glob("processes/*/lifeline"):
            with suppress(ValueError, OSError):
                said = json.loads(lifeline.read_bytes()[:4095])
                if "status" not in said:
                    found.append(said.get(SUPERVISOR if victim == SUPERVISOR else "pid"))
        numbers = [number for number in found if isinstance(number, int)]
        return self.chance.choice(numbers) if numbers else None

    def settled(self) -> list[dict[str, Any]]:
        limit = time.monotonic() + 20
        while True:
            records = list(self.ws.run("processes", "list").expect().json)
            if not any(record["status"] in OPEN for record in records):
                return records
            if time.monotonic() > limit:
                self.faults.append(f"open for ever: {[(each['name'], each['status']) for each in records]}")
                return records
            time.sleep(0.1)

    def begun(self, name: str) -> int:
        return self.said(name).count("begun")

    def said(self, name: str) -> list[str]:
        path = self.ws.path(f"P/runs.{name}")
        return path.read_text().split() if path.exists() else []

    def expect(self, condition: object, what: str) -> None:
        if not condition:
            self.faults.append(what)

    def check(self, records: list[dict[str, Any]]) -> None:
        """What holds of every record at any time."""
        for record in records:
            said = self.said(record["name"])
            if record["status"] == "DONE":
                self.expect(said[-2:] == ["begun", "ended"], f"DONE, but {record['name']} wrote {said}")
                self.expect(record.get("reply") == "answer\n", f"DONE, but the reply is {record.get('reply')!r}")


def delegate(round_: Round, *mode: str) -> None:
    argv = ("delegate", "--recipe", "good", "--name", "a", *mode, "x")
    round_.kill(*argv, victims=(VANCECTL, SUPERVISOR, PROGRAM))
    before = round_.settled()
    round_.check(before)
    time.sleep(0.4)  # what runs on without anyone has come to its end
    begun = round_.begun("a")
    round_.expect(begun <= 1, f"started {begun} times")
    round_.expect(before or not begun, "it ran, and there is no record of it")
    round_.ws.run(*argv).expect()
    round_.check(round_.settled())
    round_.expect(round_.begun("a") == (begun if before else 1), "the name was claimed, and it was started again")


def plan(round_: Round) -> None:
    names = ["a", "b", "c"]
    children = [{"name": name, "recipe": "good", "task": "x"} for name in names]
    round_.ws.write("P/plan.yaml", json.dumps({"children": children}))
    argv = ("plan", "plan.yaml", "--jobs", "2")
    round_.kill(*argv, victims=(VANCECTL, SUPERVISOR, PROGRAM))
    before = {record["name"]: record["status"] for record in round_.settled()}
    time.sleep(0.4)
    begun = {name: round_.begun(name) for name in names}
    round_.ws.run(*argv, "--resume", "--retry-failed").expect()
    after = round_.settled()
    round_.check(after)
    round_.expect([each["status"] for each in after] == ["DONE"] * 3, f"after all: {after}")
    for name in names:
        anew = before.get(name) != "DONE"
        round_.expect(
            round_.begun(name) == begun[name] + anew, f"{name} was {before.get(name)}, began {round_.begun(name)} times"
        )


def batch(round_: Round) -> None:
    round_.ws.write("P/tasks.txt", "".join(f"{task}\n" for task in TASKS))
    argv = ("batch", "tasks.txt", "--output", "out.jsonl", "--jobs", "2")
    round_.kill(*argv, victims=(VANCECTL,))
    path = round_.ws.path("P/out.jsonl")
    first = path.read_text().splitlines() if path.exists() else []
    for line in first[:-1]:
        json.loads(line)
    round_.ws.run(*argv, "--resume").expect()
    answers = [json.loads(line) for line in path.read_text().splitlines()]
    numbers = sorted(answer["line"] for answer in answers)
    round_.expect(numbers == list(range(1, len(TASKS) + 1)), f"answered: {numbers}")
    round_.expect({answer["reason"] for answer in answers} == {"model-none"}, "an answer is no answer")


def record(round_: Round) -> None:
    cases = [{"task": task, "expect": "NONE"} for task in TASKS]
    round_.ws.write("P/routes.yaml", json.dumps({"cases": cases}))
    argv = ("check", "--record", "--jobs", "2")
    round_.kill(*argv, victims=(VANCECTL,))
    round_.ws.run(*argv).expect()
    lines = round_.ws.path("P/routes.recorded.jsonl").read_text().splitlines()
    tasks = [line["task"] for line in map(json.loads, lines) if "task" in line]
    round_.expect(Counter(tasks) == Counter(TASKS), f"recorded: {tasks}")
    round_.ws.run("check", "--strict").expect()


COMMANDS: dict[str, Callable[[Round], None]] = {
    "delegate": delegate,
    "delegate --no-wait": lambda round_: delegate(round_, "--no-wait"),
    "plan": plan,
    "batch": batch,
    "check --record": record,
}


def rounds(count: int, seed: int, below: Path) -> Iterator[tuple[str, bool, list[str]]]:
    """For each round its command, whether anything was killed in time, and what did not hold."""
    names = list(COMMANDS)
    for number in range(count):
        ws = Workspace(below / str(number), installed=True)
        ws.recipe("P/recipes/good.yaml")
        command = ["sh", "-c", SCRIPT, "sh", "{name}"]
        ws.program("oracle", ORACLE)
        ws.settings({"spawn.command": command, "spawn.stdin": "none",
                     "selector.backend": "command", "selector.command": ["oracle"]})  # fmt: skip
        round_ = Round(ws, random.Random(f"{seed} {number}"))
        name = names[number % len(names)]
        try:
            COMMANDS[name](round_)
        except (AssertionError, ValueError) as error:
            round_.faults.append(str(error))
        finally:
            ws.close()
        yield name, round_.hit, [f"round {number}, {name}: {fault}" for fault in round_.faults]
        shutil.rmtree(ws.root, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill vancectl, supervisors and programs, and look what holds.")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    count: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for name, hit, found in rounds(options.rounds, options.seed, Path(folder)):
            count[name] += 1
            killed[name] += hit
            faults += found
            for fault in found:
                print(fault, flush=True)
    for name in COMMANDS:
        print(f"{name}: {count[name]} rounds, {killed[name]} kills in time")
    print(f"{len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
