"""Templates in prompts and plans: `{{ var }}`, if, elseif, else, for. A sandbox renders them: they come with projects.

Jinja's own syntax, and `elseif` beside its `elif`, as recipes of older systems have it. A name that is
not there is an error that names it: a prompt with a hole in it would only show in what a model answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from vancectl.errors import UsageError
from vancectl.templates.substitution import substituted

MAX_TEMPLATE = 200_000
MAX_OUTPUT = 1_000_000
_TOO_LONG = f"has more than {MAX_TEMPLATE:,} characters"
_MARKS = ("{{", "{%", "{#")
_ELSEIF = re.compile(r"\{%([-+]?)\s*else\s?if\b")


class TemplateFault(NamedTuple):
    """What is wrong with a template's syntax, and in which line of the text, from 1."""

    line: int
    problem: str


def template_fault(text: str) -> TemplateFault | None:
    """None where the text is a valid template, plain text included. It is parsed, never rendered."""
    if not any(mark in text for mark in _MARKS):
        return None
    if len(text) > MAX_TEMPLATE:
        return TemplateFault(1, _TOO_LONG)
    from jinja2 import Environment, TemplateError

    try:
        Environment(autoescape=False).parse(source_of(text))
    except RecursionError:
        return TemplateFault(1, "it nests too deeply")
    except (ValueError, OverflowError) as error:  # a number of thousands of digits
        return TemplateFault(1, str(error).partition(";")[0].lower())
    except TemplateError as error:
        problem = " ".join(str(error.message or error).split())
        return TemplateFault(getattr(error, "lineno", 1) or 1, problem[:1].lower() + problem[1:].rstrip("."))
    return None


def render(text: str, variables: Mapping[str, Any], origin: str) -> str:
    """The text with its template filled in. Raises UsageError; `origin` says where the template stands."""
    if not any(mark in text for mark in _MARKS):
        return text  # most have none, and Jinja takes its time to load
    if len(text) <= MAX_TEMPLATE:
        plain = substituted(text, variables, MAX_OUTPUT)
        if plain is not None:
            return plain
    from vancectl.programs import bounded

    known = f"there are {', '.join(sorted(variables))}"
    if len(text) > MAX_TEMPLATE:
        raise UsageError(f"the template in {origin} {_TOO_LONG}", remedy="make it smaller")
    try:
        answer = bounded.call("vancectl.templates.rendering", "rendered", source_of(text), dict(variables))
    except (bounded.TooCostlyError, RecursionError) as error:
        why = str(error) if isinstance(error, bounded.TooCostlyError) else "its variables nest too deeply"
        raise UsageError(f"the template in {origin} fails: {why}", remedy="make it simpler") from None
    if "text" in answer:
        return str(answer["text"])
    ((kind, said),) = answer.items()
    remedy = "fix it; {% raw %} … {% endraw %} holds braces that are meant as they are" if kind == "syntax" else known
    raise UsageError(f"the template in {origin} {'fails: ' if kind == 'fails' else ''}{said}", remedy=remedy)


def source_of(text: str) -> str:
    """The template in Jinja's own words."""
    return _ELSEIF.sub(r"{%\1 elif", text)


def prompt_variables(applied: Mapping[str, Any], model: str = "", lang: str = "") -> dict[str, Any]:
    """What a prompt may use; empty text where nothing is known.

    `tier` is the word behind `default:` of the model's alias (fast, smart, deep), unless a param says otherwise.
    """
    params = dict(applied.get("params") or {})
    alias = str(params.get("model") or "")
    return {
        "tier": params.get("tier") or (alias.partition(":")[2] if alias.startswith("default:") else ""),
        "model": model or alias,
        "provider": params.get("provider") or "anthropic",
        "mode": params.get("mode") or "",
        "profile": applied.get("profile") or "",
        "recipe": applied.get("recipe") or "",
        "engine": applied.get("engine") or "",
        "lang": params.get("lang") or lang,
        "params": params,
    }
