"""The one rendering of a recipe's prompt, whoever reads it: a program from a file, or the worker from its payload."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from vancectl.model.model import ModelError, resolve_models
from vancectl.templates.template import prompt_variables, render


def model_of(params: Mapping[str, Any], aliases: Mapping[str, str], default: str = "") -> str:
    """The model that the params ask for, its alias resolved; a name that leads nowhere stays as it is."""
    wanted = str(params.get("model") or default)
    if not wanted:
        return ""
    try:
        return resolve_models(wanted, aliases)[0]
    except ModelError:
        return wanted


def render_prompt(applied: Mapping[str, Any], aliases: Mapping[str, str], default_model: str = "") -> str:
    """The applied recipe's promptPrefix with its template filled in. Raises UsageError where that fails."""
    lang = os.environ.get("LANG", "").partition("_")[0].partition(".")[0]
    model = model_of(applied.get("params") or {}, aliases, default_model)
    name = applied.get("recipe") or applied.get("engine")
    text = str(applied.get("promptPrefix") or "")
    if applied.get("source"):  # the words of another program's recipe, whatever braces it has
        return text
    return render(text, prompt_variables(applied, model, lang), f"the promptPrefix of `{name}`")
