"""What a list says of a recipe: one element of `recipes list --json` (docs/design.md, section 6).

A library of thousands is listed far more often than it changes, so the JSON of an element is kept with the compiled
inventory, all but the shadows: those depend on the other layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.text.strict_json import to_json

_SHADOWS = ', "shadows": '


def element(recipe: Recipe | BrokenRecipe, shadows: Sequence[str]) -> dict[str, Any]:
    """Keys are only ever added. `shadows` are the paths of the files that the recipe hides, nearest first."""
    usable = recipe if isinstance(recipe, Recipe) else None
    row: dict[str, Any] = {
        "name": recipe.name,
        "title": usable.title if usable else None,
        "engine": usable.engine if usable else None,
        "layer": recipe.layer.kind.value,
        "path": recipe.path,
        "description": usable.description if usable else None,
        "triggers": usable.phrases if usable else [],
        "tags": usable.tags if usable else [],
        "internal": usable.internal if usable else False,
        **({"source": _source(usable.source)} if usable and usable.source else {}),
        "shadows": list(shadows),
    }
    if isinstance(recipe, BrokenRecipe):
        row["error"] = recipe.fault
    return row


def engine_of(rendered: str) -> str | None:
    """The engine in an element as JSON, without reading all of it."""
    text = rendered.partition(', "engine": "')[2].partition('"')[0]
    return text if text and ', "layer": "source", ' not in rendered else None  # whose own programs start it


def with_hindrance(rendered: str, hindrance: str | None) -> str:
    """Where it cannot be started here, the element says why."""
    return rendered if hindrance is None else f'{rendered[:-1]}, "hindrance": {to_json(hindrance)}}}'


def render(recipe: Recipe | BrokenRecipe, shadows: Sequence[str]) -> str:
    """The element as JSON, out of the kept part where there is one."""
    if isinstance(recipe, Recipe) and recipe.listing:
        return finish(recipe.listing, shadows)
    return to_json(element(recipe, shadows))


def finish(kept: str, shadows: Sequence[str]) -> str:
    """The whole element out of its kept part."""
    return f"{kept}{_SHADOWS}{to_json(list(shadows)) if shadows else '[]'}}}"


def kept_part(recipe: Recipe) -> str:
    """The element's JSON up to its shadows, which stand last."""
    return to_json(element(recipe, ())).removesuffix(f"{_SHADOWS}[]}}")


def _source(source: Mapping[str, Any]) -> dict[str, Any]:
    return {key: source[key] for key in ("key", "format", "name", "derived") if key in source}
