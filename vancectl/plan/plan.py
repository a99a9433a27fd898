"""A plan: many delegations in one file, written out one by one or expanded over items.

children:
  - {name: intro, task: Write the introduction., recipe: essay}
  - task: Summarise the meeting notes.           # no recipe: the selector decides
  - expand:
      items: contacts.csv                        # CSV, JSONL, YAML or Markdown beside the plan, or a list
      childTemplate:
        name: "letter-{{ item.id }}"
        task: "Write a letter to {{ item.name }}."
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vancectl.delegation.request import TASK_ALIASES, Request, parse_request
from vancectl.errors import Place, UsageError, VancectlError
from vancectl.plan.items import Item, read_items
from vancectl.process.caller import find_session
from vancectl.reading.document import Document, Node
from vancectl.templates.template import render
from vancectl.templates.written import read_node
from vancectl.text.names import did_you_mean, near_names

_TOP = ("children", "session", "fallbackOnNone")
_TEXTS = ("name", "task", "goal", "prompt", "recipe", "engine", "title", "steerContent", "profile")
_CHILD = (*_TEXTS, "params", "timeoutSeconds", "onExit")
_EXPAND = ("items", "childTemplate")
_READABLE_ID = re.compile(r"[\w.@+-]{1,60}")
_DIGITS = 8
_UNNAMED = "?"


@dataclass(frozen=True, slots=True)
class Child:
    """One delegation. `batch` is the template's task that it shares with its siblings, where they name no recipe.

    `items` is the file that its item stands in, `named` whether the plan gave the name. Where it did not, `formerly` is
    what an earlier version would have made of the child's place.
    """

    request: Request
    place: Place
    batch: str | None = None
    items: Path | None = None
    named: bool = True
    formerly: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan may reach: items below its own folder and below these, and a program to call only where it may."""

    folders: Sequence[Path] = ()
    may_call: bool = False


def read_plan(
    path: Path,
    session: str | None = None,
    limits: Limits = Limits(),  # frozen
    text: str | None = None,
) -> list[Child]:
    """The children in the plan's order, each with a name. Raises UsageError that names file and line.

    A name that the plan leaves out is made from its file's name and the item's `id`, else a digest of what the child is
    asked for: so it stays the same when rows are inserted, removed or moved. `text` is a plan that was read already.
    """
    document = Document.read(path) if text is None else Document.of_text(path, text)
    _check(document)
    reader = _Reader(document, session, limits)
    children = reader.read()
    _check(document)
    return children


def _check(document: Document) -> None:
    for finding in document.findings:
        if finding.breaks:
            raise UsageError(f"the plan: {finding.sentence()}", where=finding.place, remedy=finding.remedy())


class _Reader:
    def __init__(self, document: Document, session: str | None, limits: Limits) -> None:
        self._document = document
        self._path = document.path
        self._limits = limits
        self._option = session
        self._common: dict[str, Any] = {}
        self._names = _Names(self._path.stem if self._path.stem != "-" else "plan")

    def read(self) -> list[Child]:
        document = self._document
        top = self._fields(document.root, _TOP, Place(self._path), "the plan")
        given = document.text(top["session"], "session") if "session" in top else None
        self._common["session"] = find_session(self._option, given)
        flag = document.flag(top["fallbackOnNone"], "fallbackOnNone") if "fallbackOnNone" in top else None
        self._common["fallbackOnNone"] = flag is not False
        children = top.get("children")
        if children is None or children.id != "sequence" or not children.value:
            raise UsageError("the plan has no `children`", where=Place(self._path), remedy="list at least one child")
        return self._names.give([child for node in children.value for child in self._children(node)])

    def _place(self, node: Node) -> Place:
        return Place(self._path, node.start_mark.line + 1, node.start_mark.column + 1)

    def _fields(self, node: Node, keys: Sequence[str], place: Place, what: str) -> dict[str, Node]:
        fields = {key: value for key, _, value in self._document.pairs(node)} if node is not None else {}
        for key in fields:
            if key not in keys:
                meant = did_you_mean(near_names(key, keys, most=1)) or f"there are {', '.join(keys)}"
                raise UsageError(f"{what} has an unknown key `{key}`", where=place, remedy=meant)
        return fields

    def _children(self, node: Node) -> Iterator[Child]:
        place = self._place(node)
        if node.id != "mapping":
            raise UsageError("a child must be a mapping", where=place, remedy="give it a `task`, or `expand`")
        if not any(key == "expand" for key, _, _ in self._document.pairs(node)):
            yield self._child(self._values(node, place, "the child"), place)
            return
        expand = self._fields(node, ("expand",), place, "the child")["expand"]
        parts = self._fields(expand, _EXPAND, place, "`expand`") if expand.id == "mapping" else {}
        template = parts.get("childTemplate")
        if template is None or template.id != "mapping" or "items" not in parts:
            raise UsageError(
                "`expand` must have `items` and a `childTemplate`", where=place, remedy="add what is missing"
            )
        fields = self._values(template, place, "the childTemplate")
        batch = None if _names_recipe(fields) else _task(fields)
        file, items = self._items(parts["items"], place)
        for index, item in enumerate(items):
            variables = {"item": item.value, "index": index, "number": index + 1}
            origin = f"the childTemplate of {place}, for the item of {item.place}"
            child = self._child(_filled(fields, variables, origin), item.place, item.value)
            yield replace(child, batch=batch, items=file)

    def _values(self, node: Node, place: Place, what: str) -> dict[str, Any]:
        """A child's fields; texts as their author wrote them, and what is null left out."""
        fields = self._fields(node, _CHILD, place, what)
        values = {
            key: self._document.text(value, key) if key in _TEXTS else self._document.plain(value)
            for key, value in fields.items()
        }
        _check(self._document)
        if values.get("onExit") is not None and not self._limits.may_call:
            raise UsageError(
                f"{what} names a program to call at the end (onExit), which is not for a plan to say",
                where=place,
                remedy="name it with --on-exit, or set `spawn.planOnExit: true` in the tenant's settings",
            )
        return {key: value for key, value in values.items() if value is not None}

    def _child(self, fields: Mapping[str, Any], place: Place, item: Any = None) -> Child:
        """Read as any other request, so that both know the same fields and the same faults."""
        if not _names_recipe(fields) and not _task(fields).strip():
            raise UsageError(
                "a child without a recipe must have a `task` that is not blank",
                where=place,
                remedy="say what is to be done",
            )
        named = "name" in fields
        try:
            request = parse_request(json.dumps({"name": _UNNAMED, **self._common, **fields}))
        except VancectlError as error:
            raise UsageError(error.what(), where=place, remedy=error.remedy) from None
        if not named:
            id_ = str(item["id"]) if isinstance(item, dict) and isinstance(item.get("id"), str | int) else None
            request = replace(request, name=id_)
        return Child(request, place, named=named)

    def _items(self, node: Node, place: Place) -> tuple[Path | None, Iterable[Item]]:
        if node.id == "sequence":
            return None, [Item(read_node(self._document, each), self._place(each)) for each in node.value]
        if node.id != "scalar" or not node.value:
            raise UsageError(
                "`items` must be a list, or a file's name", where=place, remedy="name a CSV, JSONL, YAML or MD file"
            )
        path = self._path.parent / node.value
        try:
            self._check_boundary(path, place)
            return path, read_items(path)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise UsageError(f"the items cannot be read: {reason}", where=Place(path), remedy="fix `items`") from None

    def _check_boundary(self, path: Path, place: Place) -> None:
        """A plan may come with a clone: it reads what lies beside it, and follows no link out of there."""
        real = path.resolve(strict=True)
        if not any(real.is_relative_to(folder.resolve()) for folder in (self._path.parent, *self._limits.folders)):
            raise UsageError(
                f"the items `{path}` lie outside of the plan's folder",
                where=place,
                remedy=f"where they are meant, let the plan read them: --items-from {real.parent}",
            )


class _Names:
    """Names for the children that have none."""

    def __init__(self, stem: str) -> None:
        self._stem = stem
        self._taken: dict[tuple[str | None, str | None], Place] = {}
        self._twins: dict[tuple[str | None, str], int] = {}

    def give(self, children: Sequence[Child]) -> list[Child]:
        for child in children:
            if child.named:
                self._take(child.request.name or "", child)
        return [
            child if child.named else replace(self._named(child), formerly=f"{self._stem}-{number:04}")
            for number, child in enumerate(children, 1)
        ]

    def _take(self, name: str, child: Child) -> None:
        key = (child.request.session, name)
        if key in self._taken:
            raise UsageError(
                f"two children have the name `{name}`, the other one in {self._taken[key]}",
                where=child.place,
                remedy="name them differently",
            )
        self._taken[key] = child.place

    def _named(self, child: Child) -> Child:
        """By its id where that can be read, else by a digest of what it is asked for; equal ones are counted."""
        request, digest = child.request, child.request.digest()
        id_ = request.name if request.name is not None and _READABLE_ID.fullmatch(request.name) else None
        number = self._twins[id_, digest] = self._twins.get((id_, digest), 0) + 1
        twin = f"-{number}" if number > 1 else ""
        bases = [f"{id_}", f"{id_}-{digest[:_DIGITS]}"] if id_ is not None else []
        for base in (*bases, digest[:_DIGITS], digest):
            name = f"{self._stem}-{base}{twin}"
            if (request.session, name) not in self._taken:
                break
        self._take(name, child)
        return replace(child, request=replace(request, name=name))


def _names_recipe(fields: Mapping[str, Any]) -> bool:
    return fields.get("recipe") not in {None, "", "auto"} or bool(fields.get("engine"))


def _task(fields: Mapping[str, Any]) -> str:
    """The first task that is not blank, by whatever name, as in a request."""
    given = [str(fields[key]) for key in ("task", *TASK_ALIASES) if fields.get(key)]
    return next((text for text in given if text.strip()), given[0] if given else "")


def _filled(value: Any, variables: Mapping[str, Any], origin: str) -> Any:
    if isinstance(value, str):
        return render(value, variables, origin)
    if isinstance(value, dict):
        return {key: _filled(inner, variables, origin) for key, inner in value.items()}
    return [_filled(inner, variables, origin) for inner in value] if isinstance(value, list) else value
