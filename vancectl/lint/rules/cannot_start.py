"""A recipe that someone here wrote for an engine that cannot be started here; bundled ones are for everyone."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.delegation.hindrance import engine_hindrance
from vancectl.errors import SettingsError
from vancectl.inventory.layer import LayerKind
from vancectl.inventory.recipe import BrokenRecipe
from vancectl.lint.library import Library
from vancectl.lint.readiness import missing_program, spawn_templates
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity


def find(library: Library) -> Iterator[Finding]:
    """What was said of the settings is not said of each recipe again, nor of an engine that is not in the catalog."""
    settings = library.settings
    if isinstance(settings, SettingsError):
        return
    known = {missing_program(each.template) for each in spawn_templates(library)}
    reasons: dict[str, str | None] = {}
    for entry in library.entries:
        recipe = entry.recipe
        if isinstance(recipe, BrokenRecipe) or recipe.layer.kind is LayerKind.BUNDLED:
            continue
        if library.engines and recipe.engine not in library.engines:
            continue
        if recipe.engine not in reasons:
            reasons[recipe.engine] = engine_hindrance(settings, recipe.engine)
        problem = reasons[recipe.engine]
        if problem is not None and problem not in known:
            place = library.outline(recipe.path).field("engine")
            yield RULE.at(place, engine=recipe.engine, problem=problem)


RULE = LintRule(
    code="cannot-start",
    severity=Severity.NOTE,
    sentence="the engine `{engine}` cannot be started here: {problem}",
    remedy="`man vancectl-settings` describes spawn.engines",
    why="Such a recipe is matched, and then nothing starts. It may be meant for another machine.",
    find=find,
)
