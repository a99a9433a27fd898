"""Runs another program: argv only, in a process group of its own, with signals passed on and a time limit kept."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import IO, Any, Self

from vancectl.programs.search import ProgramError, find_program

# Each of these would end us and leave the program running alone; the first four ask for the end of the work.
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_TOLD = ("SIGUSR1", "SIGUSR2")
_SUSPENDING = "SIGTSTP"
_GRACE = 1.0
# A shell and a wrapper often both pass on one Ctrl-C, and `timeout` sends its signal twice.
_BOUNCE = 0.25
# What was asked by a person's Ctrl-C may take its time; who sends TERM will send KILL to us before long.
_PATIENCE = 5.0
# What a program may write before its pipe is closed on it: an endless one must not fill our memory.
MAX_OUTPUT = 64 * 1024 * 1024
_DRAIN = 1.0


class ChildError(Exception):
    """The program could not be started. `text` says why, and names it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `exit_code` is negative for a signal, as `subprocess` has it.

    `interrupted` is the signal that ended the waiting, or 0.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    interrupted: int = 0


def run_child(
    argv: Sequence[str],
    *,
    stdin: bytes | None,
    environment: Mapping[str, str] | None = None,
    directory: str | None = None,
    timeout: float | None = None,
    capture_stderr: bool = False,
    on_start: Callable[[int], None] | None = None,
    on_output: Callable[[bytes], None] | None = None,
    on_stderr: Callable[[bytes], None] | None = None,
    max_output: int = MAX_OUTPUT,
    drop: bool = False,
    on_end: Callable[[], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Finished:
    """Runs a program to its end and returns its output; without `stdin` it reads an end of file at once.

    A time-out ends the whole process group (TERM, then KILL); what was written until then is kept. So does a signal
    that asks for the end, once the program itself has followed it: it gets KILL where it has not some seconds after a
    TERM, and at once after a second signal. Raises ChildError where it cannot be started.

    `on_end` is called as soon as the program is made to end, and `on_note` is told what a person should know meanwhile;
    either on a thread of its own.

    `on_output` and `on_stderr` get a stream as it comes, each on a thread of its own. Beyond `max_output` bytes a pipe
    is closed, which ends most programs with SIGPIPE; with `drop`, what comes is dropped.
    """
    timed_out = False
    stdout, stderr = bytearray(), bytearray()
    with _Relay(on_end, on_note) as relay:
        process = _start(
            argv,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if capture_stderr or on_stderr is not None else None,
            env=environment,
            cwd=directory,
            bufsize=0,
            # A session, not just a group: a question at /dev/tty then fails, where it would else stop the program
            # in the background of our terminal for ever.
            start_new_session=True,
        )
        try:
            relay.watch(process)
            if on_start is not None:
                on_start(process.pid)
            if stdin is not None:
                _thread(_feed, process.stdin, stdin)
            readers = [_thread(_drain, process.stdout, stdout, max_output, on_output, drop)]
            if process.stderr is not None:
                kept = max_output if capture_stderr else 0
                readers.append(_thread(_drain, process.stderr, stderr, kept, on_stderr, drop))
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                timed_out = process.poll() is None  # it may have ended just now, by itself
            if timed_out and on_end is not None:
                on_end()
            ended = timed_out or bool(relay.received)
            if ended:
                # Also what the program left behind: a shell's background jobs ignore Ctrl-C.
                end_group(process, _GRACE)
            # A grandchild may keep the pipe open long after: what the program itself wrote has arrived by then.
            limit = time.monotonic() + _DRAIN
            for reader in readers:
                reader.join(max(limit - time.monotonic(), 0.01))
            if relay.received and not ended:
                end_group(process, _GRACE)
        except BaseException:
            end_group(process, _GRACE)
            raise
    interrupted = relay.received[0] if relay.received else 0
    return Finished(process.returncode, bytes(stdout), bytes(stderr), timed_out, interrupted)


def end_group(process: subprocess.Popen[bytes], grace: float) -> None:
    """Ends a program and its process group: TERM, and after `grace` seconds KILL for whatever is left of it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
        limit = time.monotonic() + grace
        while time.monotonic() < limit:
            time.sleep(0.02)
            process.poll()  # an ended leader that nobody waited for would keep its group in being
            os.killpg(process.pid, 0)
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()  # a program may have left its own group
    process.wait()


def _start(argv: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(argv, executable=program_of(argv, options["env"]), **options)
    except (OSError, ValueError) as error:
        raise refusal(argv, error) from None


def program_of(argv: Sequence[str], environment: Mapping[str, str] | None) -> str:
    """The absolute path of what will run. Raises ChildError."""
    try:
        return find_program(argv[0], environment)
    except ProgramError as error:
        raise ChildError(error.text) from None
    except ValueError as error:
        raise refusal(argv, error) from None


def refusal(argv: Sequence[str], error: OSError | ValueError) -> ChildError:
    """What it means that a program could not be started with this error."""
    if isinstance(error, UnicodeEncodeError):
        return ChildError(
            f"an argument holds a character that the locale's {error.encoding} does not have; "
            "take a UTF-8 locale, or pass the task on stdin"
        )
    if isinstance(error, ValueError):
        return ChildError("an argument holds a NUL character, which no program can be given; pass the task on stdin")
    if error.errno == errno.E2BIG:
        return ChildError(
            f"the arguments are too long to start the program `{argv[0]}`; pass the task on stdin or as a file"
        )
    return ChildError(f"the program `{argv[0]}` cannot be started: {(error.strerror or str(error)).lower()}")


def _thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


# Both work on the bare descriptor: a thread that still holds a buffered file's lock would break the interpreter's exit.


def _feed(pipe: IO[bytes], data: bytes) -> None:
    """A program may end without having read its input; that is its right."""
    rest = memoryview(data)
    with contextlib.suppress(OSError), pipe:
        while rest:
            rest = rest[os.write(pipe.fileno(), rest) :]


def _drain(pipe: IO[bytes], into: bytearray, limit: int, on_output: Callable[[bytes], None] | None, drop: bool) -> None:
    with contextlib.suppress(OSError), pipe:
        while (drop or len(into) <= limit) and (chunk := os.read(pipe.fileno(), 65536)):
            into += chunk[: limit - len(into)] if drop else chunk
            if on_output is not None:
                on_output(chunk)


class _Relay:
    """Passes our signals on to a program's group while it is entered. Only the main thread may set handlers.

    It is entered before the program is started, so that no signal falls between.
    """

    def __init__(self, on_end: Callable[[], None] | None, on_note: Callable[[str], None] | None) -> None:
        self.received: list[int] = []
        self._on_end = on_end or (lambda: None)
        self._note = on_note or (lambda text: None)
        self._insisted = False
        # A handler may do little, so it wakes a thread that does the rest.
        self._woken = self._wake = -1
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0.0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._woken, self._wake = os.pipe()
            os.set_blocking(self._wake, False)
            for name in (*_ENDING, *_TOLD, _SUSPENDING):
                self._take_over(name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._wake >= 0:
            os.close(self._wake)
            if self._process is None:
                os.close(self._woken)

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        """From now on this is the program; it is told what has come in already."""
        self._process = process
        for number in self.received:
            self._send(number)
        if self._woken >= 0:
            _thread(self._attend)

    def _take_over(self, name: str) -> None:
        number = getattr(signal, name, None)
        # What is ignored stays so, for the program too: `nohup` means both.
        if number is not None and signal.getsignal(number) not in {None, signal.SIG_IGN}:
            handler = {_SUSPENDING: self._suspend, **dict.fromkeys(_TOLD, self._tell)}.get(name, self._end)
            self._before[number] = signal.signal(number, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        """A program that was asked and goes on gets KILL the next time."""
        now = time.monotonic()
        if self.received:
            self._insisted = self._insisted or now - self._asked >= _BOUNCE
        else:
            self._asked = now
        self.received.append(number)
        self._send(signal.SIGKILL if self._insisted else number)
        with contextlib.suppress(OSError):
            os.write(self._wake, b"!")

    def _attend(self) -> None:
        """Follows up the first signal that asks for the end, until we are no longer entered."""
        import select

        try:
            if not os.read(self._woken, 1):
                return
            self._on_end()
            by_hand = self.received[0] == signal.SIGINT
            left: float | None = _GRACE if by_hand else _PATIENCE
            limit = time.monotonic() + (left or 0)
            while True:
                if select.select([self._woken], [], [], left)[0]:
                    if not os.read(self._woken, 1):
                        return
                    if self._insisted:
                        self._note("asked again: the program is killed")
                        return
                    left = max(limit - time.monotonic(), 0) if left is not None else None
                elif by_hand:
                    self._note("interrupted: waiting for the program to end; Ctrl-C again kills it")
                    left = None
                else:
                    self._note(f"the program goes on {_PATIENCE:g} seconds after the signal: it is killed")
                    self._send(signal.SIGKILL)
                    return
        finally:
            os.close(self._woken)

    def _tell(self, number: int, frame: FrameType | None) -> None:
        self._send(number)

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z. The program gets STOP, since TSTP means nothing in a session without a terminal."""
        self._send(signal.SIGSTOP)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # here we stand until we are continued
        signal.signal(number, self._suspend)
        self._send(signal.SIGCONT)

    def _send(self, number: int) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
