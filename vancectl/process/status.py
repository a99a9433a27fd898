"""What a process is at: one enumeration for records, supervisors and plans."""

from __future__ import annotations

from enum import StrEnum


class ProcessStatus(StrEnum):
    """ABANDONED: process and supervisor are gone, and the exit status is unknown."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    STOPPED = "STOPPED"
    ABANDONED = "ABANDONED"


OPEN = frozenset((ProcessStatus.STARTING, ProcessStatus.RUNNING))
# A status of a later version is in neither: its lifeline says whether such a process runs.
ENDED = frozenset(ProcessStatus) - OPEN


def status_of(exit_code: int) -> ProcessStatus:
    """Of a process that ended by itself."""
    return ProcessStatus.DONE if exit_code == 0 else ProcessStatus.FAILED
