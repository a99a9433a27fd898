"""Prompt templates: whether a prompt's `{{ … }}` and `{% … %}` can be read at all."""

from __future__ import annotations

import re
from typing import NamedTuple

# `elseif` is what the templates of the specification's system say; Jinja's word is `elif`.
_ELSE_IF = re.compile(r"(\{%-?\s*)else\s?if\b")


class TemplateFault(NamedTuple):
    """What is wrong, and in which line of the text, from 1."""

    line: int
    problem: str


def template_fault(text: str) -> TemplateFault | None:
    """None where the text is a valid template, plain text included. It is parsed, never rendered."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return None
    from jinja2 import Environment, TemplateError

    try:
        Environment(autoescape=False).parse(_ELSE_IF.sub(r"\1elif", text))
    except TemplateError as error:
        problem = " ".join(str(error.message or error).split())
        return TemplateFault(getattr(error, "lineno", 1) or 1, problem[:1].lower() + problem[1:].rstrip("."))
    return None
