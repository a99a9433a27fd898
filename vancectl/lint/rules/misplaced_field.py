"""A field of the recipe that slipped into `params`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vancectl.inventory.recipe_shape import RecipeShape
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

# Fields that an engine's params may well have, too.
_OF_MANY = {"description", "title", "tags", "modes", "guard", "engine"}
_TOP_ONLY = set(RecipeShape.key_names()) - _OF_MANY


def find(library: Library) -> Iterator[Finding]:
    for recipe in library.recipes:
        blocks: list[tuple[tuple[str, ...], Any]] = [(("params",), recipe.fields.get("params"))]
        for name, profile in recipe.profiles.items():
            blocks.append((("profiles", name, "params"), profile.get("params")))
        for keys, block in blocks:
            for key in block or ():
                if key in _TOP_ONLY:
                    place = library.outline(recipe.path).field(*keys, key)
                    yield RULE.at(place, field=".".join((*keys, key)))


RULE = LintRule(
    code="misplaced-field",
    severity=Severity.WARNING,
    sentence="`{field}` has no effect here, one level too deep",
    remedy="move it to the top level",
    why=(
        "`params` may hold anything an engine wants, so a field of the recipe that slipped in there is "
        "passed on in silence and does nothing. A param of that name that is meant can be allowed with a "
        "comment."
    ),
    find=find,
)
