"""A model behind a program: the question on its stdin, the reply on its stdout (`claude -p`, `llm`, `ollama run`)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from vancectl.child import ChildError, run_child
from vancectl.printable import plain_line
from vancectl.selector.decision import Reason
from vancectl.selector.model import ModelError, Reply
from vancectl.selector.question import Question

SHOWN = 200
MAX_REPLY = 16_000_000


class ProgramModel:
    """Runs `selector.command` once a question. What the program wrote to stderr explains a failure."""

    backend = "command"

    def __init__(self, argv: Sequence[str]) -> None:
        self.name = argv[0]
        self._argv = list(argv)

    def ask(self, question: Question, deadline: float) -> Reply:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise ModelError(Reason.TIMEOUT, f"no time left to run `{self.name}`; raise selector.timeout")
        try:
            finished = run_child(
                self._argv,
                stdin=question.as_text().encode(),
                timeout=remaining,
                capture_stderr=True,
                max_output=MAX_REPLY,
            )
        except ChildError as error:
            raise ModelError(Reason.COMMAND_FAILED, f"{error.text}; check selector.command") from None
        used = Reply(finished.stdout.decode("utf-8", "replace"))
        if finished.interrupted:
            raise KeyboardInterrupt
        if len(finished.stdout) > MAX_REPLY:
            text = f"`{self.name}` wrote more than {MAX_REPLY:,} bytes, which is no reply; check selector.command"
            raise ModelError(Reason.COMMAND_FAILED, text, reply=Reply("", calls=used.calls))
        if finished.timed_out:
            raise ModelError(Reason.TIMEOUT, f"`{self.name}` gave no reply in time; raise selector.timeout", reply=used)
        if finished.exit_code != 0:
            said = plain_line(finished.stderr.decode("utf-8", "replace"))[-SHOWN:]
            code = finished.exit_code
            how = f"failed with status {code}" if code > 0 else f"was ended by signal {-code}"
            text = f"`{self.name}` {how}{': ' + said if said else ''}"
            raise ModelError(Reason.COMMAND_FAILED, text, reply=used)
        return used
