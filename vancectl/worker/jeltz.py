"""The engine jeltz: one JSON object that satisfies `params.schema`, asked for again where it does not."""

from __future__ import annotations

import json
import re
from typing import Any

from vancectl.errors import SpawnError, UsageError
from vancectl.model.messages_api.stream import Conversation
from vancectl.text.strict_json import MAX_DEPTH, TooDeepError, depth, read_json
from vancectl.worker.payload import Payload

_ATTEMPTS = 3
_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def schema_of(payload: Payload) -> dict[str, Any] | None:
    """`params.schema`, an object or JSON text; None where there is none. Raises UsageError where it is no schema."""
    given = payload.params.get("schema")
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = read_json(given)
        except (ValueError, RecursionError, TooDeepError) as error:
            raise UsageError(
                f"params.schema is not JSON: {error}", remedy="write it as a mapping in the recipe"
            ) from None
    if not isinstance(given, dict) or depth(given) > MAX_DEPTH:
        raise UsageError("params.schema must be a JSON schema", remedy="write it as a mapping in the recipe")
    fault = _bounded("fault", given)
    if fault is not None:
        raise UsageError(f"params.schema is no JSON schema: {fault}", remedy="fix it; what it refers to must be in it")
    return given


def instructions(schema: dict[str, Any] | None) -> str:
    if schema is None:
        return "Answer with exactly one JSON object, and with nothing before or after it."
    return (
        "Answer with exactly one JSON object that satisfies this JSON schema, and with nothing before or after it:\n"
        f"{json.dumps(schema, ensure_ascii=False)}"
    )


def answer(payload: Payload, conversation: Conversation, schema: dict[str, Any] | None) -> dict[str, Any]:
    """The checked object. Raises ModelError, and SpawnError where no attempt satisfies the schema."""
    attempts = min(payload.count("maxAttempts", _ATTEMPTS), conversation.endpoint.limits.attempts)
    text = payload.task
    problems: list[str] = []
    for _ in range(attempts):
        document, problems = check(conversation.ask(text), schema)
        if document is not None and not problems:
            return document
        text = f"That answer failed its check: {'; '.join(problems)}. Answer again with the whole object, mended."
    raise SpawnError(
        f"no answer satisfied the schema in {attempts} attempts: {'; '.join(problems)}",
        remedy="say in the task where the values come from, loosen params.schema, or raise params.maxAttempts",
    )


def check(reply: str, schema: dict[str, Any] | None) -> tuple[dict[str, Any] | None, list[str]]:
    """The object in a reply, and what is wrong with it."""
    fenced = _FENCE.match(reply)
    try:
        document = read_json(fenced.group(1) if fenced else reply)
    except TooDeepError:
        return None, ["it nests too deeply"]
    except ValueError as error:
        return None, [f"it is not one JSON object ({error})"]
    if not isinstance(document, dict):
        return None, ["it is JSON, but no object"]
    if depth(document) > MAX_DEPTH:
        return None, ["it nests too deeply"]
    return document, _problems(document, schema) if schema is not None else []


def _problems(document: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    return list(_bounded("problems", schema, document))


def _bounded(function: str, *arguments: dict[str, Any]) -> Any:
    """Raises UsageError where judging takes too long: asking the model again would not help."""
    from vancectl.programs import bounded

    try:
        return bounded.call("vancectl.worker.schema", function, *arguments)
    except bounded.TooCostlyError as error:
        raise UsageError(
            f"params.schema cannot be used: {error}", remedy="look for patterns that repeat a repetition, and for loops"
        ) from None
