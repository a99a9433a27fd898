"""Work on several tasks at a time: equal tasks are worked on once, and nobody waits for a thread at the end.

Threads are daemons, since a call that hangs must not keep an interrupted command alive.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

# How long answers that are under way are waited for after Ctrl-C.
GRACE = 3.0


class Jobs(Generic[T]):
    """Runs `work` on up to `count` tasks at a time, in the order in which they were handed in."""

    def __init__(self, work: Callable[[str], T], count: int) -> None:
        self._work = work
        self._count = count
        self._waiting: SimpleQueue[tuple[str, Future[T]]] = SimpleQueue()
        self._futures: dict[str, Future[T]] = {}
        # What is answered is kept without its future, which takes more than the answer.
        self._answers: dict[str, T] = {}
        self._threads = 0

    def submit(self, task: str) -> Future[T]:
        """The answer to come; for a task that was handed in before, the same one."""
        future = self._futures.get(task)
        if future is None:
            future = Future()
            if task in self._answers:  # asked for second, since an answer comes here before its future goes
                future.set_result(self._answers[task])
                return future
            self._futures[task] = future
            self._waiting.put((task, future))
            if self._threads < self._count:
                self._threads += 1
                threading.Thread(target=self._run, daemon=True).start()
        return future

    def stop(self, grace: float) -> None:
        """Starts nothing more, and gives what is under way `grace` seconds: it is paid for already."""
        futures = list(self._futures.values())
        for future in futures:
            future.cancel()
        under_way = [future for future in futures if future.running()]
        wait(under_way, timeout=grace)

    def _run(self) -> None:
        while True:
            task, future = self._waiting.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = self._answers[task] = self._work(task)
                future.set_result(result)
                del self._futures[task]
            except BaseException as error:  # noqa: BLE001  # raised again where the answer is taken
                future.set_exception(error)


def wait_for_any(futures: Iterable[Future[T]], timeout: float) -> bool:
    """Whether one is done within the time. Short waits, so that Ctrl-C is heard on every system."""
    limit = time.monotonic() + timeout
    waiting = list(futures)
    while True:
        done, _ = wait(waiting, timeout=min(0.5, max(limit - time.monotonic(), 0)), return_when=FIRST_COMPLETED)
        if done or time.monotonic() >= limit:
            return bool(done)
