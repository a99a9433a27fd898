"""Templates in prompts and plans: `{{ var }}`, if, elseif, else, for. A sandbox renders them: they come with projects.

Jinja's own syntax, and `elseif` beside its `elif`, as in the system that the specification describes. A name that is
not there is an error that names it: a prompt with a hole in it would only show in what a model answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from vancectl.errors import UsageError
from vancectl.spawn.written import print_value

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
    from jinja2 import Environment, TemplateError

    try:
        Environment(autoescape=False).parse(_source(text))
    except TemplateError as error:
        problem = " ".join(str(error.message or error).split())
        return TemplateFault(getattr(error, "lineno", 1) or 1, problem[:1].lower() + problem[1:].rstrip("."))
    return None


def render(text: str, variables: Mapping[str, Any], origin: str) -> str:
    """The text with its template filled in. Raises UsageError; `origin` says where the template stands."""
    if not any(mark in text for mark in _MARKS):
        return text  # most have none, and Jinja takes its time to load
    from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, UndefinedError
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import SandboxedEnvironment

    class Sandbox(SandboxedEnvironment):
        def getattr(self, obj: Any, attribute: str) -> Any:
            # `params.items` means the param, not what Python's mappings can do.
            if isinstance(obj, Mapping) and attribute in obj:
                return obj[attribute]
            return super().getattr(obj, attribute)

    class Missing(StrictUndefined):
        """A name that is not there; of a mapping, the names that are."""

        @property
        def _undefined_message(self) -> str:
            message = super()._undefined_message
            holder = self._undefined_obj
            if not isinstance(holder, Mapping):
                return message
            there = ", ".join(key if key.isidentifier() else f"['{key}']" for key in map(str, holder)) or "nothing"
            return f"{message}; there is {there}"

    environment = Sandbox(undefined=Missing, keep_trailing_newline=True, trim_blocks=True, finalize=print_value)
    known = f"there are {', '.join(sorted(variables))}"
    try:
        return environment.from_string(_source(text)).render(variables)
    except TemplateSyntaxError as error:
        raise UsageError(
            f"the template in {origin} is wrong in its line {error.lineno}: {error.message}",
            remedy="mend it; {% raw %} … {% endraw %} holds braces that are meant as they are",
        ) from None
    except UndefinedError as error:
        raise UsageError(f"the template in {origin} names what is not there: {error.message}", remedy=known) from None
    except SecurityError as error:
        raise UsageError(f"the template in {origin} does what no template may: {error.message}", remedy=known) from None
    except (
        TemplateError,
        ArithmeticError,
        TypeError,
        ValueError,
        AttributeError,
        LookupError,
        RecursionError,
    ) as error:
        raise UsageError(f"the template in {origin} fails: {error}", remedy=known) from None


def _source(text: str) -> str:
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
