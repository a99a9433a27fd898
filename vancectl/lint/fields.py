"""The parts of a recipe's file that YAML or a template may read otherwise than its author means."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.errors import Place
from vancectl.inventory.recipe import Recipe
from vancectl.lint.library import Library

# Mappings whose values are read as YAML means them, and may hold anything.
_FREE = ("params", "modes", "guard")
_TEMPLATES = ("promptPrefix", "dataRelayCorrection")


def plain_scalars(library: Library, recipe: Recipe) -> Iterator[tuple[str, str, Place]]:
    """The values without quotes whose type YAML chooses: text, YAML's type, and place."""
    ways: list[tuple[str, ...]] = [(key,) for key in _FREE if key in recipe.fields]
    for name in recipe.profiles:
        ways.extend([("profiles", name, "params"), ("profiles", name, "modes"), ("profiles", name, "session")])
    for way in ways:
        for node, place in library.outline(recipe.path).scalars(*way):
            if not node.style:
                yield node.value, node.tag.rpartition(":")[2], place


def templates(recipe: Recipe) -> Iterator[tuple[tuple[str, ...], str]]:
    """The way to each field that is a template, and its text."""
    for key in _TEMPLATES:
        if isinstance(text := recipe.fields.get(key), str):
            yield (key,), text
    for name, profile in recipe.profiles.items():
        if isinstance(text := profile.get("promptPrefixAppend"), str):
            yield ("profiles", name, "promptPrefixAppend"), text
