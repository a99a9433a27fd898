"""Recipe, profile and the caller's params become the applied recipe: what a spawn command receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vancectl.inventory.recipe import TOOL_LISTS, Recipe

DEFAULT_PROFILE = "default"
# What only the selector and the applying itself need.
_LEFT_BEHIND = {"triggers", "profiles", "listed", "internal", "engine", "params", "requires", "accepts", "taskParam"}


@dataclass(frozen=True, slots=True)
class ForeignStart:
    """How the program that a recipe belongs to starts it. `params` are the caller's alone: it knows its own.

    `requires` are its params that must be given, `accepts` those that may be. `task_param` is the one in which it
    takes the task, where that is the only way.
    """

    key: str
    format: str
    name: str
    path: str
    preset: str
    params: dict[str, Any]
    requires: tuple[str, ...] = ()
    task_param: str | None = None
    accepts: tuple[str, ...] = ()

    @property
    def passed_on(self) -> tuple[str, ...]:
        """The params that its program is given: what it requires, and what it accepts and was given."""
        return (*self.requires, *(name for name in self.accepts if name in self.params))

    def as_json(self) -> dict[str, Any]:
        return {"key": self.key, "format": self.format, "name": self.name}


@dataclass(frozen=True, slots=True)
class AppliedRecipe:
    """What will run. `recipe` is None for an engine without a recipe; `fields` holds everything else of the recipe.

    `overridden` names the params in which the caller replaced the recipe's value.
    """

    recipe: str | None
    engine: str
    params: dict[str, Any]
    fields: dict[str, Any]
    profile: str | None = None
    layer: str | None = None
    path: str | None = None
    overridden: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    foreign: ForeignStart | None = None
    trusted: bool = True  # whether it may allow its program more than the user does

    def as_json(self) -> dict[str, Any]:
        own = {
            "recipe": self.recipe,
            "engine": self.engine,
            "layer": self.layer,
            "path": self.path,
            "profile": self.profile,
            "params": self.params,
            "overridden": list(self.overridden),
            **({"source": self.foreign.as_json()} if self.foreign is not None else {}),
        }
        # A recipe's unknown keys are passed on, but none may claim another path or layer for it.
        return {**own, **self.fields, **own}


def apply_recipe(recipe: Recipe, params: Mapping[str, Any], profile: str | None = None) -> AppliedRecipe:
    """Params: recipe < profile < caller (dropped if it is locked). Profile: exact, else `default`, else none."""
    chosen = profile if profile in recipe.profiles else DEFAULT_PROFILE if DEFAULT_PROFILE in recipe.profiles else None
    block = recipe.profiles[chosen] if chosen is not None else {}
    warnings = []
    if profile is not None and chosen != profile:
        instead = f"`{chosen}` is used" if chosen else "none is used"
        warnings.append(f"the recipe `{recipe.name}` has no profile `{profile}`; {instead}")
    merged = {**recipe.params, **block.get("params", {})}
    given = dict(params)
    if recipe.locked and given:
        warnings.append(f"the recipe `{recipe.name}` is locked: the params {', '.join(sorted(given))} are dropped")
        given = {}
    return AppliedRecipe(
        recipe.name,
        recipe.engine,
        {**merged, **given},
        _merge_profile(recipe.fields, block),
        profile=chosen,
        layer=recipe.layer.kind.value,
        path=str(recipe.path),
        overridden=tuple(sorted(key for key in given if key in merged and merged[key] != given[key])),
        warnings=tuple(warnings),
    )


def apply_engine(engine: str, params: Mapping[str, Any]) -> AppliedRecipe:
    """An engine without a recipe (docs/design.md, section 5)."""
    return AppliedRecipe(None, engine, dict(params), {})


def _merge_profile(fields: Mapping[str, Any], block: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe's fields with the profile's prompt appended, tools added, and modes and session laid over."""
    merged = {key: value for key, value in fields.items() if key not in _LEFT_BEHIND}
    append = block.get("promptPrefixAppend")
    if append:
        merged["promptPrefix"] = "\n\n".join(part for part in (merged.get("promptPrefix", "").rstrip(), append) if part)
    for key in TOOL_LISTS:
        if key in block:
            merged[key] = list(dict.fromkeys([*merged.get(key, ()), *block[key]]))
    if "modes" in block:
        merged["modes"] = {**merged.get("modes", {}), **block["modes"]}
    if "session" in block:
        merged["session"] = block["session"]
    return merged
