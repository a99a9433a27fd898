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

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vancectl.delegation.request import Request, made_request, task_of
from vancectl.errors import Place, UsageError, VancectlError
from vancectl.plan.items import Item, read_items
from vancectl.process.caller import find_session
from vancectl.reading.document import Document, place_of
from vancectl.templates.template import render
from vancectl.templates.written import read_node

if TYPE_CHECKING:
    from vancectl.delegation.request_shape import Asked
    from vancectl.plan.plan_shape import ChildShape
    from vancectl.reading.value import Written

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
            raise finding.of("the plan", UsageError)


class _Reader:
    def __init__(self, document: Document, session: str | None, limits: Limits) -> None:
        self._document = document
        self._path = document.path
        self._limits = limits
        self._option = session
        self._common: dict[str, Any] = {}
        self._names = _Names(self._path.stem if self._path.stem != "-" else "plan")

    def read(self) -> list[Child]:
        from vancectl.plan.plan_shape import PlanShape
        from vancectl.reading.reader import read_shape

        plan = read_shape(PlanShape, self._document)
        _check(self._document)
        if plan is None or not plan.children:
            raise UsageError("the plan has no `children`", where=Place(self._path), remedy="list at least one child")
        self._common["session"] = find_session(self._option, plan.session)
        self._common["fallbackOnNone"] = plan.fallback_on_none is not False
        return self._names.give([child for shape in plan.children for child in self._children(shape)])

    def _children(self, shape: ChildShape) -> Iterator[Child]:
        place, expand = shape.place, shape.expand
        if expand is None:
            yield self._child(self._fields(shape, place, "the child"), place)
            return
        fields = self._fields(expand.child_template, place, "the childTemplate")
        batch = None if _names_recipe(fields) else task_of(fields) or ""
        file, items = self._items(expand.items)
        for index, item in enumerate(items):
            variables = {"item": item.value, "index": index, "number": index + 1}
            origin = f"the childTemplate of {place}, for the item of {item.place}"
            child = self._child(_filled(fields, variables, origin), item.place, item.value)
            yield replace(child, batch=batch, items=file)

    def _fields(self, shape: Asked, place: Place, what: str) -> dict[str, Any]:
        if shape.on_exit is not None and not self._limits.may_call:
            raise UsageError(
                f"{what} names a program to call at the end (onExit), which is not for a plan to say",
                where=place,
                remedy="name it with --on-exit, or set `spawn.planOnExit: true` in the tenant's settings",
            )
        return shape.fields()

    def _child(self, fields: Mapping[str, Any], place: Place, item: Any = None) -> Child:
        """Made as any other request, so that both have the same rules."""
        if not _names_recipe(fields) and not (task_of(fields) or "").strip():
            raise UsageError(
                "a child without a recipe must have a `task` that is not blank",
                where=place,
                remedy="say what is to be done",
            )
        named = "name" in fields
        try:
            request = made_request({"name": _UNNAMED, **self._common, **fields})
        except VancectlError as error:
            raise UsageError(error.what(), where=place, remedy=error.remedy) from None
        if not named:
            id_ = str(item["id"]) if isinstance(item, dict) and isinstance(item.get("id"), str | int) else None
            request = replace(request, name=id_)
        return Child(request, place, named=named)

    def _items(self, given: Written) -> tuple[Path | None, Iterable[Item]]:
        node, place = given.node, given.place
        if node.id == "sequence":
            return None, [Item(read_node(self._document, each), place_of(self._path, each)) for each in node.value]
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


def _filled(value: Any, variables: Mapping[str, Any], origin: str) -> Any:
    if isinstance(value, str):
        return render(value, variables, origin)
    if isinstance(value, dict):
        return {key: _filled(inner, variables, origin) for key, inner in value.items()}
    return [_filled(inner, variables, origin) for inner in value] if isinstance(value, list) else value
