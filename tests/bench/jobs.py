"""Measures how near `--jobs` comes to the ideal against a server on loopback that takes its time for each answer.

The ideal is as many questions at a time as there are jobs, with nothing between: tasks / jobs * latency. Beside the
whole command, which also starts Python and the SDK, stands the time from the first question to the last answer.

    python tests/bench/jobs.py [--jobs 64] [--tasks 3200] [--latency 0.2]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))  # as a script, this file sees its own folder only

from tests.messages_server import MessagesServer, delay, none  # noqa: E402
from tests.workspace import Workspace  # noqa: E402

WANTED = 0.85


def serve(latency: float) -> None:
    """In a process of its own, so that the server's work does not count as the client's."""
    with MessagesServer() as server:
        server.reply(delay(latency, none()))
        print(server.url, flush=True)
        sys.stdin.readline()
        times = [request.time for request in server.requests]
        print(len(times), server.peak, max(times) - min(times) + latency, flush=True)


def measure(jobs: int, tasks: int, latency: float) -> None:
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(latency)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        ws = Workspace(Path(folder))
        ws.model(server.stdout.readline().strip())
        lines = "".join(f"task {number}\n" for number in range(tasks))
        started = time.monotonic()
        ws.run("batch", "-", "--jobs", str(jobs), "--strict", stdin=lines, timeout=600).expect(0)
        whole = time.monotonic() - started
        told, _ = server.communicate("\n", timeout=30)
    asked, peak, span = told.split()
    assert int(asked) == tasks
    ideal = tasks / jobs * latency
    print(f"{tasks} tasks, {jobs} jobs (peak {peak}), {latency:g} s an answer: ideal {ideal:.2f} s")
    for what, seconds in (("questions", float(span)), ("whole command", whole)):
        print(f"  {what:14} {seconds:6.2f} s   {ideal / seconds:.2f} of the ideal (wanted: {WANTED})")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=64)
    parser.add_argument("--tasks", type=int, default=3200)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--serve", type=float)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
    else:
        measure(options.jobs, options.tasks, options.latency)


if __name__ == "__main__":
    main()
