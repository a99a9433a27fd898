"""The parts of a recipe's file that YAML or a template may read otherwise than its author means."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.errors import Place
from vancectl.inventory.recipe import Recipe
from vancectl.lint.library import Library
from vancectl.templates.names import Asked, names_asked

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


def line_of(library: Library, recipe: Recipe, keys: tuple[str, ...], line: int) -> Place:
    """Where a line of a template is: in the file's own line, where the template keeps its lines."""
    outline = library.outline(recipe.path)
    node, place = outline.node(*keys), outline.field(*keys)
    if node is not None and node.style == "|":
        return place._replace(line=node.start_mark.line + 1 + line, column=0)
    return place


def asked_names(library: Library) -> Iterator[tuple[Recipe, tuple[str, ...], Asked]]:
    """Each name that a prompt asks for, with its recipe and field; `dataRelayCorrection` is nothing that we fill in."""
    for recipe in library.recipes:
        for keys, text in templates(recipe):
            if keys[-1] != "dataRelayCorrection":
                yield from ((recipe, keys, asked) for asked in names_asked(text))


def templates(recipe: Recipe) -> Iterator[tuple[tuple[str, ...], str]]:
    """The way to each field that is a template, and its text."""
    for key in _TEMPLATES:
        if isinstance(text := recipe.fields.get(key), str):
            yield (key,), text
    for name, profile in recipe.profiles.items():
        if isinstance(text := profile.get("promptPrefixAppend"), str):
            yield ("profiles", name, "promptPrefixAppend"), text
