"""Recipes as they come from disk: validated, or broken with the findings that say why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from vancectl.inventory.layer import Layer, LayerKind
from vancectl.reading.finding import Finding

# The fields that name tools: a recipe and each of its profiles may have them.
TOOL_LISTS = (
    "allowedToolsAdd",
    "allowedToolsRemove",
    "allowedToolsDefer",
    "allowedToolsKeep",
    "allowedToolsDropFirst",
)
_WITHOUT_TEXT = {"link-outside", "dead-link", "not-a-file", "unreadable", "name-collision", "folder-unreadable"}


class Recipe(NamedTuple):
    """One valid recipe. `fields` holds the file's content as JSON knows it, unknown keys included.

    `warnings` are findings that leave it usable; `listing` is the part of its JSON in lists that is known beforehand,
    `folded` its phrases in the form in which they are compared.
    """

    name: str
    layer: Layer
    path: str
    fields: dict[str, Any]
    warnings: tuple[Finding, ...] = ()
    listing: str = ""
    folded: Sequence[str] = ()

    @property
    def description(self) -> str:
        return str(self.fields["description"])

    @property
    def engine(self) -> str:
        return str(self.fields["engine"])

    @property
    def title(self) -> str | None:
        return self.fields.get("title")

    @property
    def internal(self) -> bool:
        return bool(self.fields.get("internal", False))

    @property
    def listed(self) -> bool:
        return bool(self.fields.get("listed", True))

    @property
    def shown(self) -> bool:
        """Whether lists show it without being asked for everything."""
        return not self.fields.get("internal", False) and bool(self.fields.get("listed", True))

    @property
    def locked(self) -> bool:
        return bool(self.fields.get("locked", False))

    @property
    def tags(self) -> list[str]:
        return list(self.fields.get("tags", ()))

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.fields.get("params", {}))

    @property
    def profiles(self) -> dict[str, dict[str, Any]]:
        return dict(self.fields.get("profiles", {}))

    @property
    def phrases(self) -> list[str]:
        """The trigger phrases as written, blank and repeated ones left out (docs/design.md, section 4)."""
        return list(self.fields.get("triggers", {}).get("keywords", ()))

    @property
    def source(self) -> dict[str, Any] | None:
        """Of a foreign recipe: `key` and `format` of its source, and the `name` that its program knows."""
        return self.fields["source"] if self.layer.kind is LayerKind.SOURCE else None

    @property
    def whole_words(self) -> bool:
        """Whether `triggers.match` is `word`."""
        return bool(self.fields.get("triggers", {}).get("match") == "word")


class BrokenRecipe(NamedTuple):
    """A file that cannot be used; its name counts as taken, so that it uncovers nothing that it shadows."""

    name: str
    layer: Layer
    path: str
    findings: tuple[Finding, ...]

    @property
    def finding(self) -> Finding:
        """The first error."""
        return next(finding for finding in self.findings if finding.breaks)

    @property
    def fault(self) -> str:
        """The first error in one line."""
        return self.finding.line()

    @property
    def has_text(self) -> bool:
        """Whether it is one file of its layer that can be shown, whatever is wrong in it."""
        return self.finding.code not in _WITHOUT_TEXT
