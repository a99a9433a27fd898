"""The one validator of recipe files: which fields there are, and what each may hold (docs/design.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vancectl.inventory.layer import Layer
from vancectl.inventory.recipe import TOOL_LISTS, BrokenRecipe, Recipe
from vancectl.reading.document import Document, Node
from vancectl.text.comparison import normalise_phrase
from vancectl.text.names import engine_name

REQUIRED = ("description", "engine")
PROMPT_MODES = ("append", "overwrite")
MATCH_MODES = ("substring", "word")
# No one says more in a phrase, and each is looked for in every task.
MOST_PHRASE = 1_000

_Reader = Callable[[Document, Node, str], Any]


def load_recipe(name: str, layer: Layer, path: str, *, follow: bool = True) -> Recipe | BrokenRecipe:
    """Reads and validates one file. Never raises. Without `follow` a link is refused: the scan saw a plain file."""
    return validate(Document.read(Path(path), follow=follow), name, layer)


def validate(document: Document, name: str, layer: Layer) -> Recipe | BrokenRecipe:
    """A recipe, or a broken one where any finding is an error."""
    fields = _mapping(document, document.root, "", RECIPE_FIELDS) if document.root is not None else {}
    if document.root is not None and not document.exhausted:
        for required in REQUIRED:
            if not str(fields.get(required) or "").strip() and not _reported(document, required):
                document.add("missing-field", document.root, field=required)
    if document.broken:
        return BrokenRecipe(name, layer, str(document.path), tuple(document.findings))
    fields["engine"] = engine_name(fields["engine"])
    recipe = Recipe(name, layer, str(document.path), fields, tuple(document.findings))
    return recipe._replace(folded=[normalise_phrase(phrase) for phrase in recipe.phrases])


def _reported(document: Document, field: str) -> bool:
    return any(finding.data.get("field") == field for finding in document.findings)


def _mapping(document: Document, node: Node, place: str, fields: dict[str, _Reader]) -> dict[str, Any]:
    """Known fields through their readers, unknown ones kept as they are and reported."""
    values: dict[str, Any] = {}
    for key, key_node, value in document.pairs(node):
        reader = fields.get(key)
        if reader is None:
            hint = "" if key.isprintable() and key.isascii() else "; it holds an unusual or invisible character"
            if not place and key in TRIGGER_FIELDS:
                hint = f"; it belongs under `triggers`, as `triggers.{key}`"
            document.add(
                "unknown-key", key_node, key=place + key, known=tuple(fields), nearest_to=key.strip(), hint=hint
            )
            values[key] = document.plain(value)
            continue
        read = reader(document, value, place + key)
        if read is not None:
            values[key] = read
    return values


def _text(document: Document, node: Node, field: str) -> str | None:
    return document.text(node, field)


def _flag(document: Document, node: Node, field: str) -> bool | None:
    return document.flag(node, field)


def _texts(document: Document, node: Node, field: str) -> list[str]:
    return [text for text, _ in document.texts(node, field) if text]


def _values(document: Document, node: Node, field: str) -> dict[str, Any] | None:
    mapping = document.mapping(node, field)
    return document.plain(mapping) if mapping is not None else None


def _anything(document: Document, node: Node, field: str) -> Any:
    return document.plain(node)


def _choice(allowed: tuple[str, ...]) -> _Reader:
    def read(document: Document, node: Node, field: str) -> str | None:
        text = document.text(node, field)
        value = text.strip().lower() if text is not None else None
        if value is not None and value not in allowed:
            document.add("unknown-value", node, field=field, found=text, expected=" | ".join(allowed))
        return value

    return read


def _phrases(document: Document, node: Node, field: str) -> list[str]:
    """Blank entries are left out, and of those that are compared as equal the first is kept."""
    phrases: dict[str, str] = {}
    for text, entry in document.texts(node, field):
        if len(text) > MOST_PHRASE:
            document.add("long-phrase", entry, count=len(text), most=MOST_PHRASE)
        elif not (folded := normalise_phrase(text)):
            document.add("blank-phrase", entry)
        else:
            phrases.setdefault(folded, text)
    return list(phrases.values())


def _block(fields: dict[str, _Reader]) -> _Reader:
    def read(document: Document, node: Node, field: str) -> dict[str, Any] | None:
        mapping = document.mapping(node, field)
        return _mapping(document, mapping, f"{field}.", fields) if mapping is not None else None

    return read


def _profiles(document: Document, node: Node, field: str) -> dict[str, Any] | None:
    mapping = document.mapping(node, field)
    if mapping is None:
        return None
    profiles = {}
    for name, _, value in document.pairs(mapping):
        profile = _block(PROFILE_FIELDS)(document, value, f"{field}.{name}")
        profiles[name] = profile or {}
    return profiles


PROFILE_FIELDS: dict[str, _Reader] = {
    "params": _values,
    "promptPrefixAppend": _text,
    **dict.fromkeys(TOOL_LISTS, _texts),
    "modes": _values,
    "session": _values,
}

TRIGGER_FIELDS: dict[str, _Reader] = {"keywords": _phrases, "match": _choice(MATCH_MODES)}

RECIPE_FIELDS: dict[str, _Reader] = {
    "description": _text,
    "engine": _text,
    "title": _text,
    "listed": _flag,
    "internal": _flag,
    "locked": _flag,
    "tags": _texts,
    "params": _values,
    "promptPrefix": _text,
    "promptMode": _choice(PROMPT_MODES),
    "dataRelayCorrection": _text,
    **dict.fromkeys(TOOL_LISTS, _texts),
    "modes": _values,
    "profiles": _profiles,
    "defaultActiveSkills": _texts,
    "allowedSkills": _texts,
    "triggers": _block(TRIGGER_FIELDS),
    "guard": _anything,
}
