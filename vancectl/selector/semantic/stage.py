"""Stage two: one question to a model over the whole inventory, and its answer checked (docs/design.md, section 4).

Every failure ends in an outcome with its own reason; nothing is raised.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from vancectl.model.model import Model, ModelError, Reply
from vancectl.model.question import Question
from vancectl.model.reason import Reason
from vancectl.model.use import ModelUse
from vancectl.selector.decision import Hit
from vancectl.selector.semantic.prompt import Prompt
from vancectl.selector.semantic.reply import RefusedReplyError, read_reply
from vancectl.text.printable import plain_line


@dataclass(frozen=True, slots=True)
class Outcome:
    """What stage two came to: a recipe's name, or None with the reason."""

    recipe: str | None
    reason: Reason
    rationale: str
    use: ModelUse
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Semantic:
    """Stage two with what stays the same from task to task; `warnings` go into each decision."""

    model: Model
    prompt: Prompt
    timeout: float
    max_attempts: int
    warnings: tuple[str, ...] = ()

    def decide(self, task: str, hits: Sequence[Hit]) -> Outcome:
        """One answer within `timeout` seconds, over all attempts."""
        started = time.monotonic()
        question = self.prompt.question(task, hits)
        sent = len(question.names)
        use = ModelUse(self.model.backend, self.model.name, sent=sent, left_out=question.left_out)
        outcome = self._ask(question, use, started + self.timeout)
        elapsed = round((time.monotonic() - started) * 1000)
        use = replace(outcome.use, latency_ms=elapsed)
        return replace(outcome, use=use, warnings=(*self.warnings, *question.warnings, *outcome.warnings))

    def _ask(self, question: Question, use: ModelUse, deadline: float) -> Outcome:
        refused = 0
        while True:
            try:
                reply = self.model.ask(question, deadline)
            except ModelError as error:
                use, text = _add(use, error.reply), plain_line(error.text)
                return Outcome(None, error.reason, f"LLM call failed: {text}", replace(use, error=text))
            use = _add(use, reply)
            try:
                answer = read_reply(reply.text, self.prompt.names)
            except RefusedReplyError as error:
                refused += 1
                if refused < self.max_attempts and time.monotonic() < deadline:
                    question = question.corrected(reply.text, error.text)
                    continue
                return Outcome(None, error.reason, error.text, replace(use, error=error.text))
            use = replace(use, evidence=answer.evidence, runner_up=answer.runner_up)
            reason = Reason.MODEL_MATCH if answer.recipe else Reason.MODEL_NONE
            return Outcome(answer.recipe, reason, answer.rationale, use, _unseen(answer.recipe, question.names))


def _unseen(name: str | None, shown: Collection[str]) -> tuple[str, ...]:
    """A recipe that was not shown may be known from another's description. It is in the inventory, so it counts."""
    if name is None or name in shown:
        return ()
    return (f"the model chose `{name}`, which is in the inventory but not among the {len(shown)} recipes it was shown",)


def _add(use: ModelUse, reply: Reply) -> ModelUse:
    return replace(
        use,
        attempts=use.attempts + reply.calls,
        input_tokens=_sum(use.input_tokens, reply.input_tokens),
        output_tokens=_sum(use.output_tokens, reply.output_tokens),
        cache_read_tokens=_sum(use.cache_read_tokens, reply.cache_read_tokens),
        cache_write_tokens=_sum(use.cache_write_tokens, reply.cache_write_tokens),
    )


def _sum(left: int | None, right: int | None) -> int | None:
    return right if left is None else left + (right or 0)
