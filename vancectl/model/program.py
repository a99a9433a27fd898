"""A model behind a program: the question on its stdin, the reply on its stdout (`claude`, `llm`, `ollama run`).

A cloned repository must not bring it hooks, instructions or modules, so it runs in an empty folder of its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from vancectl.disk.folders import cache_dir
from vancectl.model.model import ModelError, Reply, check_size
from vancectl.model.question import Question
from vancectl.model.reason import Reason
from vancectl.programs.child import ChildError, run_child
from vancectl.programs.environment import program_environment
from vancectl.programs.secrets import is_withheld, scrub
from vancectl.settings.limits import Limits
from vancectl.text.printable import plain_line

SHOWN = 200
_CREDENTIAL_WORDS = ("key", "token", "credential", "auth", "login", "logged in", "401")
# The first keeps Claude Code from running inside of itself, and so from answering an agent that asks us.
_UNSET = {"CLAUDECODE": None, "OLDPWD": None}


class ProgramModel:
    """Runs `selector.command` once a question. What the program wrote to stderr explains a failure."""

    backend = "command"

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str | None], limits: Limits) -> None:
        self.name = argv[0]
        self._argv = list(argv)
        self._environment = environment
        self._limits = limits

    def ask(self, question: Question, deadline: float) -> Reply:
        check_size(question.characters, self._limits.prompt_characters)
        most = self._limits.response_bytes
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise ModelError(Reason.TIMEOUT, f"no time left to run `{self.name}`; raise selector.timeout")
        try:
            with _empty_folder() as folder:
                finished = run_child(
                    self._argv,
                    stdin=question.as_text().encode(),
                    environment=program_environment(self._environment, {**_UNSET, "PWD": folder}),
                    directory=folder,
                    timeout=remaining,
                    capture_stderr=True,
                    max_output=most,
                )
        except ChildError as error:
            raise ModelError(Reason.COMMAND_FAILED, f"{error.text}; check selector.command") from None
        used = Reply(scrub(finished.stdout.decode("utf-8", "replace")))
        if finished.interrupted:
            raise KeyboardInterrupt
        if len(finished.stdout) > most:
            text = f"`{self.name}` wrote more than the {most:,} bytes that limits.responseBytes allows"
            raise ModelError(Reason.COMMAND_FAILED, text, reply=Reply("", calls=used.calls))
        if finished.timed_out:
            raise ModelError(Reason.TIMEOUT, f"`{self.name}` gave no reply in time; raise selector.timeout", reply=used)
        if finished.exit_code != 0:
            # Some write to stdout why they fail.
            said = next(filter(None, map(_in_a_line, (finished.stderr, finished.stdout))), "")
            code = finished.exit_code
            how = f"failed with status {code}" if code > 0 else f"was ended by signal {-code}"
            text = f"`{self.name}` {how}{': ' + said if said else ''}{self._missed(said)}"
            raise ModelError(Reason.COMMAND_FAILED, text, reply=used)
        return used

    def _missed(self, said: str) -> str:
        """A program that complains of a key or a login may miss what we withheld."""
        withheld = sorted(name for name in os.environ if is_withheld(name) and name not in self._environment)
        if not withheld or not any(word in said.lower() for word in _CREDENTIAL_WORDS):
            return ""
        return f"; it was not given {', '.join(withheld)}, which selector.env can pass on"


def _in_a_line(data: bytes) -> str:
    """The end of what a program wrote, without secrets."""
    return plain_line(scrub(data.decode("utf-8", "replace")))[-SHOWN:]


@contextlib.contextmanager
def _empty_folder() -> Iterator[str]:
    """Below our cache, where no one else can put anything above it; without a usable one, where temporary files go."""
    base = cache_dir()
    with contextlib.ExitStack() as stack:
        try:
            if base is not None:
                base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = tempfile.mkdtemp(prefix="selector-", dir=base)
        except OSError:
            folder = tempfile.mkdtemp(prefix="vancectl-selector-")
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield os.path.realpath(folder)
