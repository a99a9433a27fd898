"""Settings and catalog that would fail `delegate`: a fallback that is not there, a program that is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from vancectl.delegation.fallback import SETTING
from vancectl.delegation.hindrance import engine_hindrance
from vancectl.errors import CatalogError, Place, SettingsError, VancectlError
from vancectl.inventory.cascade import Cascade, UnknownRecipeError
from vancectl.inventory.catalog import EngineCatalog
from vancectl.inventory.layer import LayerKind
from vancectl.inventory.recipe import BrokenRecipe
from vancectl.lint.outline import Outline
from vancectl.process.code import filled_code
from vancectl.process.command import find_template, spawn_program
from vancectl.programs.search import ProgramError
from vancectl.reading.finding import Finding
from vancectl.settings.settings import Settings, Source


def catalog_findings(load: Callable[[], EngineCatalog]) -> tuple[tuple[str, ...] | None, list[Finding]]:
    """The engines' names, or None, and what is wrong with the catalog."""
    try:
        catalog = load()
    except CatalogError as error:
        return None, [_of_error("bad-catalog", error)]
    return tuple(catalog.names), [*catalog.findings, *catalog.warnings]


def settings_findings(load: Callable[[], Settings], cascade: Cascade, engines: tuple[str, ...]) -> Iterator[Finding]:
    try:
        settings = load()
    except SettingsError as error:
        yield _of_error("bad-settings", error)
        return
    yield from _fallback(settings, cascade)
    told = set()
    for engine in ("", *settings["spawn.engines"]):
        try:
            template = find_template(settings, engine)
        except SettingsError as error:
            yield _of_error("bad-settings", error)
            continue
        if not template.argv or (engine and template.key == "spawn.command"):
            continue
        setting = template.key if not engine else "spawn.engines"
        place = _place(settings, setting, template.key)
        try:
            spawn_program(template)
        except ProgramError as error:
            told.add(error.text)
            yield Finding("no-program", place, {"problem": error.text, "key": template.key})
        arguments = template.parts()[1:]
        code = filled_code(template.parts())
        for each in code[:1]:
            data = {"key": template.key, "placeholder": each.placeholder, "program": each.program}
            yield Finding("task-as-code", place, data)
        for placeholder in ("task", "message"):
            alone = next((n for n, part in enumerate(arguments) if part.startswith(f"{{{placeholder}}}")), None)
            if alone is None or "--" in arguments[:alone] or any(each.part == arguments[alone] for each in code):
                continue
            yield Finding("task-as-option", place, {"key": template.key, "placeholder": placeholder})
    yield from _hindered(settings, cascade, told, engines)


def _hindered(settings: Settings, cascade: Cascade, told: set[str], engines: Sequence[str]) -> Iterator[Finding]:
    """The recipes that someone here wrote for an engine that cannot be started here; bundled ones are for everyone.

    What was told of the settings already is not told of each recipe again, and an engine that is not in the catalog has
    a finding of its own.
    """
    reasons: dict[str, str | None] = {}
    for entry in cascade.entries():
        recipe = entry.recipe
        if isinstance(recipe, BrokenRecipe) or recipe.layer.kind is LayerKind.BUNDLED:
            continue
        if engines and recipe.engine not in engines:
            continue
        if recipe.engine not in reasons:
            reasons[recipe.engine] = engine_hindrance(settings, recipe.engine)
        problem = reasons[recipe.engine]
        if problem is not None and problem not in told:
            place = Outline(Path(recipe.path)).field("engine")
            yield Finding("cannot-start", place, {"engine": recipe.engine, "problem": problem})


def _fallback(settings: Settings, cascade: Cascade) -> Iterator[Finding]:
    name = settings[SETTING]
    # `--recipes` takes the place of the whole cascade, so that the bundled fallback cannot be there.
    if not name or (settings.value(SETTING).source is Source.BUNDLED and not cascade.layers.has_bundled):
        return
    place = _place(settings, SETTING, SETTING)
    try:
        recipe = cascade.find(name).recipe
    except UnknownRecipeError as error:
        data = {"key": SETTING, "recipe": name, "known": tuple(error.near), "nearest_to": name}
        yield Finding("unknown-fallback", place, data)
        return
    if isinstance(recipe, BrokenRecipe):
        yield Finding("broken-fallback", place, {"key": SETTING, "recipe": name})


def _place(settings: Settings, setting: str, key: str) -> Place:
    """Where a value was set: its line in a file, else what set it."""
    value = settings.value(setting)
    path = Path(value.origin)
    if value.source in {Source.BUNDLED, Source.TENANT}:
        return Outline(path).field(*key.split("."))
    return Place(path)


def _of_error(code: str, error: VancectlError) -> Finding:
    place = error.where if error.where is not None else Place(Path("settings"))
    return Finding(code, place, {"problem": error.what(), "advice": error.remedy})
