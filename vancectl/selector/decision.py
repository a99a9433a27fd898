"""The decision: MATCH with a recipe, or NONE, with stage, reason, rationale and evidence (design, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from vancectl.selector.use import ModelUse

VERSION = 1


class Verdict(StrEnum):
    """NONE is an answer, not an error."""

    MATCH = "MATCH"
    NONE = "NONE"


class Stage(StrEnum):
    """What decided; `none` where no stage came to it."""

    EXPLICIT = "explicit"
    TRIGGER = "trigger"
    MODEL = "model"
    NONE = "none"


class Reason(StrEnum):
    """Why, for a script. The table of the model stage's failures is process-delegate, section 6."""

    EXPLICIT_RECIPE = "explicit-recipe"
    EXPLICIT_ENGINE = "explicit-engine"
    EMPTY_TASK = "empty-task"
    NO_RECIPES = "no-recipes"
    SINGLE_TRIGGER = "single-trigger"
    MODEL_MATCH = "model-match"
    MODEL_NONE = "model-none"
    # the model was not asked
    MODEL_OFF = "model-off"
    NO_KEY = "no-key"
    NO_MODEL = "no-model"
    NO_RECORDING = "no-recording"
    STALE_RECORDING = "stale-recording"
    # the call failed
    BAD_REQUEST = "bad-request"
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    NOT_FOUND = "not-found"
    TOO_LARGE = "too-large"
    RATE_LIMITED = "rate-limited"
    SERVER_ERROR = "server-error"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    TLS = "tls"
    PROXY = "proxy"
    BASE_URL = "base-url"
    COMMAND_FAILED = "command-failed"
    CALL_FAILED = "call-failed"
    # the reply is no answer
    NOT_A_MESSAGE = "not-a-message"
    EMPTY_REPLY = "empty-reply"
    MAX_TOKENS = "max-tokens"
    REFUSAL = "refusal"
    TOOL_CALL = "tool-call"
    NO_JSON = "no-json"
    BAD_JSON = "bad-json"
    BAD_ANSWER = "bad-answer"
    CONFLICTING_ANSWERS = "conflicting-answers"
    UNKNOWN_RECIPE = "unknown-recipe"


# NONE because nothing fits is an answer; NONE for any other reason of the model stage means that it could not be used.
_ANSWERS = frozenset(
    {
        Reason.EXPLICIT_RECIPE,
        Reason.EXPLICIT_ENGINE,
        Reason.EMPTY_TASK,
        Reason.NO_RECIPES,
        Reason.SINGLE_TRIGGER,
        Reason.MODEL_MATCH,
        Reason.MODEL_NONE,
    }
)


# The service was down, busy or not set up. Asked again later, the same task may well get an answer; one that was
# refused for itself, or answered with something that is no answer, most likely will not.
_PASSING = frozenset(
    {
        Reason.MODEL_OFF,
        Reason.NO_KEY,
        Reason.NO_MODEL,
        Reason.NO_RECORDING,
        Reason.STALE_RECORDING,
        Reason.AUTHENTICATION,
        Reason.PERMISSION,
        Reason.NOT_FOUND,
        Reason.RATE_LIMITED,
        Reason.SERVER_ERROR,
        Reason.OVERLOADED,
        Reason.TIMEOUT,
        Reason.CONNECTION,
        Reason.TLS,
        Reason.PROXY,
        Reason.BASE_URL,
        Reason.COMMAND_FAILED,
        Reason.CALL_FAILED,
        Reason.NOT_A_MESSAGE,
    }
)


def is_answer(reason: Reason) -> bool:
    return reason in _ANSWERS


def is_passing(reason: Reason) -> bool:
    """Whether a run that is taken up again asks once more."""
    return reason in _PASSING


class Hit(NamedTuple):
    """A trigger phrase in the task; `start` and `end` count characters of the task as it was given."""

    recipe: str
    phrase: str
    start: int
    end: int

    def as_json(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "phrase": self.phrase, "start": self.start, "end": self.end}


class Decision(NamedTuple):
    """One answer. `recipe` and `engine` are None on NONE; `nearest` only where no model could be asked.

    `layer` is the kind of layer that the recipe comes from, and `shadows` are the paths of the files that it hides,
    nearest first. `tenant` is set where a project chose it: its name, and the file that names it.
    """

    verdict: Verdict
    reason: Reason
    rationale: str
    stage: Stage
    recipe: str | None = None
    engine: str | None = None
    matched: tuple[Hit, ...] = ()
    candidates: int = 0
    warnings: tuple[str, ...] = ()
    model: ModelUse | None = None
    nearest: tuple[str, ...] = ()
    layer: str | None = None
    shadows: tuple[str, ...] = ()
    tenant: tuple[str, str] | None = None

    @property
    def matches(self) -> bool:
        return self.verdict is Verdict.MATCH

    @property
    def trigger_observed(self) -> bool:
        """Whether stage one hit at least one recipe: it separates the two kinds of NONE (routing 4.3)."""
        return bool(self.matched)

    @property
    def unanswered(self) -> bool:
        """Whether the model was needed and could not be used: what `--strict` turns into a failure."""
        return not is_answer(self.reason)

    def with_warnings(self, warnings: Sequence[str]) -> Decision:
        return self._replace(warnings=(*self.warnings, *warnings))

    def as_json(self) -> dict[str, Any]:
        """The keys in the design's order."""
        document = {
            "version": VERSION,
            "decision": self.verdict.value,
            "recipe": self.recipe,
            "engine": self.engine,
            "layer": self.layer,
            "shadows": list(self.shadows),
            "rationale": self.rationale,
            "stage": self.stage.value,
            "reason": self.reason.value,
            "triggerObserved": self.trigger_observed,
            "matched": [hit.as_json() for hit in self.matched],
            "candidates": self.candidates,
            "warnings": list(self.warnings),
            "model": self.model.as_json() if self.model else None,
        }
        if self.nearest:
            document["nearest"] = list(self.nearest)
        if self.tenant is not None:
            document["tenant"] = {"name": self.tenant[0], "namedBy": self.tenant[1]}
        return document
