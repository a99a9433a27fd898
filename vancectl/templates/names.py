"""Which names a template asks for, and in which line, without rendering it: so lint knows what a start would miss."""

from __future__ import annotations

from typing import Any, NamedTuple

from vancectl.templates.template import MAX_TEMPLATE, source_of, template_fault


class Asked(NamedTuple):
    """A variable, or a param where `param` is not None, and its line from 1."""

    variable: str
    param: str | None
    line: int


def names_asked(text: str) -> list[Asked]:
    """Each once, at its first place; without those that the template itself sets, or asks whether they are there."""
    if ("{{" not in text and "{%" not in text) or len(text) > MAX_TEMPLATE or template_fault(text) is not None:
        return []
    try:
        return _asked(text)
    except Exception:  # noqa: BLE001  # Jinja compiles for this, and has errors of its own for what parses
        return []


def _asked(text: str) -> list[Asked]:
    from jinja2 import Environment, meta, nodes
    from jinja2.defaults import DEFAULT_NAMESPACE

    tree = Environment(autoescape=False).parse(source_of(text))
    wanted = meta.find_undeclared_variables(tree) - set(DEFAULT_NAMESPACE)
    guarded: set[tuple[str, str | None]] = set()
    for question in tree.find_all((nodes.Test, nodes.Filter)):
        if question.name in {"defined", "undefined", "default", "d"} and question.node is not None:
            key = _key(question.node)
            guarded |= {key} if key is not None else set()
    found: dict[tuple[str, str | None], Asked] = {}
    for node in tree.find_all((nodes.Name, nodes.Getattr, nodes.Getitem)):
        key = _key(node)
        if key is not None and key[0] in wanted and key not in guarded and (key[0], None) not in guarded:
            found.setdefault(key, Asked(*key, node.lineno))
    return sorted(found.values(), key=lambda asked: asked.line)


def _key(node: Any) -> tuple[str, str | None] | None:
    """`name`, or `params.name` in either of its spellings."""
    from jinja2 import nodes

    if isinstance(node, nodes.Name):
        return node.name, None
    if isinstance(node, nodes.Getattr | nodes.Getitem) and isinstance(node.node, nodes.Name):
        attribute = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
        if node.node.name == "params" and isinstance(attribute, str):
            return "params", attribute
    return None
