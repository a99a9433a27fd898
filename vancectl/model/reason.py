"""Why a decision came out as it did, for scripts: most codes name what became of a question to the model."""

from __future__ import annotations

from enum import StrEnum


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
