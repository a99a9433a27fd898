"""A plan: many delegations in one file, written out one by one or expanded over items.

children:
  - {name: intro, task: Write the introduction., recipe: essay}
  - task: Summarise the meeting notes.           # no recipe: the selector decides
  - expand:
      items: contacts.csv                        # JSONL, CSV or YAML beside the plan, or a list
      childTemplate:
        name: "letter-{{ item.id }}"
        task: "Write a letter to {{ item.name }}."
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vancectl.errors import Place, UsageError, VancectlError
from vancectl.inventory.document import Document
from vancectl.inventory.name import nearest_key
from vancectl.spawn.request import Request, parse_request
from vancectl.spawn.template import render
from vancectl.strict_json import read_json

_TOP = ("children", "session", "fallbackOnNone")
_CHILD = ("name", "task", "recipe", "engine", "title", "steerContent", "params", "profile", "timeoutSeconds", "onExit")
_EXPAND = ("items", "childTemplate")
_MAX_ITEMS = 100_000


@dataclass(frozen=True, slots=True)
class Child:
    """One delegation. `batch` is the template's task that it shares with its siblings, where they name no recipe."""

    request: Request
    batch: str | None = None


def read_plan(path: Path, session: str | None = None) -> list[Child]:
    """The children in the plan's order, each with a name. Raises UsageError that names file and line.

    Names that the plan leaves out are made from its file's name and the child's number, so that they are the same
    in the next run.
    """
    document = Document.read(path)
    root = document.plain(document.root) if document.root is not None else {}
    for finding in document.findings:
        if finding.breaks:
            raise UsageError(f"the plan: {finding.sentence()}", where=finding.place, remedy=finding.remedy())
    reader = _Reader(path, session)
    _known(root, _TOP, Place(path), "the plan")
    children = root.get("children")
    if not isinstance(children, list) or not children:
        raise UsageError("the plan has no `children`", where=Place(path), remedy="list at least one child")
    lines = _lines(document)
    found = [
        child for number, each in enumerate(children) for child in reader.children(each, number, root, lines[number])
    ]
    _check_names(found, path)
    return found


def _lines(document: Document) -> list[Place]:
    """Where each child stands."""
    for key, _, node in document.pairs(document.root):
        if key == "children" and node.id == "sequence":
            return [Place(document.path, item.start_mark.line + 1, item.start_mark.column + 1) for item in node.value]
    return []


class _Reader:
    def __init__(self, path: Path, session: str | None) -> None:
        self._path = path
        self._session = session
        self._count = 0

    def children(self, given: Any, number: int, root: Mapping[str, Any], place: Place) -> Iterator[Child]:
        if not isinstance(given, dict):
            raise UsageError("a child must be a mapping", where=place, remedy="give it a `task`, or `expand`")
        if "expand" not in given:
            _known(given, _CHILD, place, "the child")
            yield Child(self._request(given, root, place))
            return
        _known(given, ("expand",), place, "the child")
        expand = given["expand"]
        if not isinstance(expand, dict) or not isinstance(expand.get("childTemplate"), dict) or "items" not in expand:
            raise UsageError(
                "`expand` must have `items` and a `childTemplate`", where=place, remedy="add what is missing"
            )
        _known(expand, _EXPAND, place, "`expand`")
        template = expand["childTemplate"]
        _known(template, _CHILD, place, "the childTemplate")
        named = template.get("recipe") not in {None, "", "auto"} or template.get("engine")
        batch = None if named else str(template.get("task") or "")
        for index, item in enumerate(self._items(expand["items"], place)):
            variables = {"item": item, "index": index, "number": index + 1}
            filled = _filled(template, variables, f"the childTemplate of {place}, item {index + 1}")
            yield Child(self._request(filled, root, place), batch)

    def _request(self, fields: Mapping[str, Any], root: Mapping[str, Any], place: Place) -> Request:
        """Read as any other request, so that both know the same fields and the same faults."""
        self._count += 1
        fields = {key: value for key, value in fields.items() if value is not None}
        fields.setdefault("name", f"{self._path.stem}-{self._count:04}")
        fields.setdefault("session", self._session or root.get("session"))
        fields.setdefault("fallbackOnNone", root.get("fallbackOnNone", True))
        named = fields.get("recipe") not in {None, "", "auto"} or fields.get("engine")
        if not named and not str(fields.get("task") or "").strip():
            raise UsageError(
                "a child without a recipe must have a `task` that is not blank",
                where=place,
                remedy="say what is to be done",
            )
        try:
            return parse_request(json.dumps(fields))
        except VancectlError as error:
            raise UsageError(error.what(), where=place, remedy=error.remedy) from None

    def _items(self, given: Any, place: Place) -> Sequence[Any]:
        if isinstance(given, list):
            return given
        if not isinstance(given, str):
            raise UsageError(
                "`items` must be a list, or a file's name", where=place, remedy="name a JSONL, CSV or YAML file"
            )
        path = self._path.parent / given
        try:
            items = _read_items(path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"the items cannot be read: {reason}", where=Place(path), remedy="mend `items`") from None
        if len(items) > _MAX_ITEMS:
            raise UsageError(f"there are more than {_MAX_ITEMS:,} items", where=Place(path), remedy="split the file")
        return items


def _read_items(path: Path) -> list[Any]:
    suffix = path.suffix.lower()
    if suffix in {".yaml", ".yml"}:
        # A list at the top is what one writes; the reader of recipes wants a mapping there.
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        document = Document.of_text(path, "items:\n" + "".join(f"  {line}\n" for line in text.splitlines()))
        for finding in document.findings:
            if finding.breaks:
                shifted = finding.place._replace(line=max(finding.place.line - 1, 0), column=0)
                raise UsageError(f"the items: {finding.sentence()}", where=shifted, remedy=finding.remedy())
        items = document.plain(document.root)["items"]
        if not isinstance(items, list):
            raise UsageError("the items must be a list", where=Place(path), remedy="begin each with `- `")
        return items
    if suffix == ".csv":
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            try:
                return [_row(row, path, rows.line_num) for row in rows]
            except csv.Error as error:
                raise UsageError(
                    f"not CSV: {error}", where=Place(path, rows.line_num), remedy="mend the line"
                ) from None
    items = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        if line.strip():
            try:
                items.append(read_json(line))
            except ValueError as error:
                raise UsageError(f"not JSON: {error}", where=Place(path, number), remedy="one value a line") from None
    return items


def _row(row: dict[str | Any, Any], path: Path, line: int) -> dict[str, str]:
    if None in row or None in row.values():
        raise UsageError(
            "a row has another number of fields than the header", where=Place(path, line), remedy="mend it"
        )
    return row


def _filled(value: Any, variables: Mapping[str, Any], origin: str) -> Any:
    if isinstance(value, str):
        return render(value, variables, origin)
    if isinstance(value, dict):
        return {key: _filled(inner, variables, origin) for key, inner in value.items()}
    return [_filled(inner, variables, origin) for inner in value] if isinstance(value, list) else value


def _known(given: Mapping[str, Any], keys: Sequence[str], place: Place, what: str) -> None:
    for key in given:
        if key not in keys:
            near = nearest_key(key, keys)
            meant = f"did you mean `{near}`?" if near else f"there are {', '.join(keys)}"
            raise UsageError(f"{what} has an unknown key `{key}`", where=place, remedy=meant)


def _check_names(children: Sequence[Child], path: Path) -> None:
    seen: set[tuple[str | None, str | None]] = set()
    for child in children:
        key = (child.request.session, child.request.name)
        if key in seen:
            raise UsageError(
                f"two children have the name `{child.request.name}`", where=Place(path), remedy="name them differently"
            )
        seen.add(key)
