"""A model that nothing here knows by that name: an alias that the settings lack, or another vendor's model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place, SettingsError
from vancectl.inventory.recipe import Recipe
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.sources.formats import FORMATS

_ALIAS = "default:"
# What a program's model names look like, its aliases and those of cloud platforms included.
_NAMES = {
    "claude": re.compile(
        r"(claude|sonnet|opus|haiku|fable|default|best|inherit|arn:|[\w-]+\.anthropic\.|anthropic).*", re.I
    ),
    "opencode": re.compile(r"[^/\s]+/.+"),
    "gemini": re.compile(r"(gemini|gemma|auto|pro|flash).*", re.I),
}


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        model = recipe.params.get("model")
        if not isinstance(model, str):
            continue
        if recipe.source is None:
            yield from _aliases(library, recipe, model)
            continue
        program = FORMATS[str(recipe.source["format"])].program
        if program in _NAMES and not _NAMES[program].fullmatch(model):
            yield RULE.at(Place(Path(recipe.path)), model=model, who=f"`{program}`", nearest="")


def _aliases(library: Library, recipe: Recipe, model: str) -> Iterator[Finding]:
    settings = library.settings
    if isinstance(settings, SettingsError):
        return
    for part in map(str.strip, model.split(",")):
        if part.startswith(_ALIAS) and part not in settings["models"]:
            place = library.outline(recipe.path).field("params", "model")
            yield RULE.at(
                place, model=part, who="`models` in the settings", known=(*settings["models"],), nearest_to=part
            )


RULE = LintRule(
    code="unknown-model",
    severity=Severity.WARNING,
    sentence="{who} has no model `{model}`{nearest}",
    remedy="name one that there is, or add the alias to `models`",
    why=(
        "The recipe would be chosen and then fail at its start. Aliases begin with `default:` and are those of the "
        "settings; a program of another vendor knows its own models only."
    ),
    find=find,
)
