"""What the model stage did and cost, for the decision that came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What the model stage did and cost; token counts are None where the backend does not tell them.

    `left_out` names the recipes that the model was not shown, those that agree best with the task first.
    """

    backend: str
    model: str
    attempts: int = 0
    latency_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    sent: int = 0
    left_out: tuple[str, ...] = ()
    evidence: str | None = None
    runner_up: str | None = None
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "backend": self.backend,
            "model": self.model,
            "attempts": self.attempts,
            "latencyMs": self.latency_ms,
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "cacheReadTokens": self.cache_read_tokens,
            "cacheWriteTokens": self.cache_write_tokens,
            "candidates": self.sent,
            "leftOut": len(self.left_out),
            "leftOutRecipes": list(self.left_out),
            "evidence": self.evidence,
            "runnerUp": self.runner_up,
            "error": self.error,
        }
