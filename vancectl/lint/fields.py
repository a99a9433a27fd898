"""What the schema lets pass, since an engine may want it, and is a slip all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vancectl.inventory.recipe import Recipe
from vancectl.inventory.recipe_shape import RecipeShape
from vancectl.lint.library import Library
from vancectl.reading.finding import Finding
from vancectl.templates.template import template_fault

# Fields that an engine's params may well have, too.
_OF_MANY = {"description", "title", "tags", "modes", "guard", "engine"}
_TOP_ONLY = set(RecipeShape.key_names()) - _OF_MANY
# Mappings whose values are read as YAML means them, and may hold anything.
_FREE = ("params", "modes", "guard")
_TEMPLATES = ("promptPrefix", "dataRelayCorrection")

# YAML 1.1 reads these as true and false; `true` and `false` themselves are meant.
_BOOLEANS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def field_findings(library: Library) -> Iterator[Finding]:
    for recipe in library.recipes:
        yield from _misplaced(library, recipe)
        yield from _yaml_surprises(library, recipe)
        yield from _skills(library, recipe)
        yield from _templates(library, recipe)
        if library.engines is not None and recipe.engine not in library.engines:
            data = {"engine": recipe.engine, "known": library.engines, "nearest_to": recipe.engine}
            yield Finding("unknown-engine", library.outline(recipe.path).field("engine"), data)


def _misplaced(library: Library, recipe: Recipe) -> Iterator[Finding]:
    blocks: list[tuple[tuple[str, ...], Any]] = [(("params",), recipe.fields.get("params"))]
    for name, profile in recipe.profiles.items():
        blocks.append((("profiles", name, "params"), profile.get("params")))
    for keys, block in blocks:
        for key in block or ():
            if key in _TOP_ONLY:
                place = library.outline(recipe.path).field(*keys, key)
                yield Finding("misplaced-field", place, {"field": ".".join((*keys, key))})


def _yaml_surprises(library: Library, recipe: Recipe) -> Iterator[Finding]:
    ways: list[tuple[str, ...]] = [(key,) for key in _FREE if key in recipe.fields]
    for name in recipe.profiles:
        ways.extend([("profiles", name, "params"), ("profiles", name, "modes"), ("profiles", name, "session")])
    for way in ways:
        for node, place in library.outline(recipe.path).scalars(*way):
            text, kind = node.value, node.tag.rpartition(":")[2]
            if node.style:
                continue
            if kind == "bool" and text.lower() in _BOOLEANS:
                yield Finding("yaml-boolean", place, {"value": text, "kind": _BOOLEANS[text.lower()]})
            elif kind == "int" and len(text) > 1 and text[0] == "0" and text.isdigit():
                yield Finding("yaml-octal", place, {"value": text, "number": int(text, 8)})


def _skills(library: Library, recipe: Recipe) -> Iterator[Finding]:
    allowed = recipe.fields.get("allowedSkills")
    if allowed is None:
        return
    for skill in recipe.fields.get("defaultActiveSkills", ()):
        if skill not in allowed:
            place = library.outline(recipe.path).item(("defaultActiveSkills",), skill)
            yield Finding("skill-not-allowed", place, {"skill": skill})


def _templates(library: Library, recipe: Recipe) -> Iterator[Finding]:
    ways: list[tuple[tuple[str, ...], Any]] = [((key,), recipe.fields.get(key)) for key in _TEMPLATES]
    for name, profile in recipe.profiles.items():
        ways.append((("profiles", name, "promptPrefixAppend"), profile.get("promptPrefixAppend")))
    for keys, text in ways:
        fault = template_fault(text) if isinstance(text, str) else None
        if fault is not None:
            outline = library.outline(recipe.path)
            node = outline.node(*keys)
            place = outline.field(*keys)
            if node is not None and node.style == "|":  # its lines are the file's lines
                place = place._replace(line=node.start_mark.line + 1 + fault.line, column=0)
            yield Finding("bad-template", place, {"field": ".".join(keys), "problem": fault.problem})
