"""What is wrong with a file, where, and with which data; the table of rules has the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vancectl.errors import Place, VancectlError
from vancectl.text.names import did_you_mean, near_names
from vancectl.text.printable import visible

if TYPE_CHECKING:
    from vancectl.reading.rule import Rule, Severity

_LONGEST = 500
_E = TypeVar("_E", bound=VancectlError)


class Finding(NamedTuple):
    """One thing that is wrong at one place. `data` fills the rule's texts."""

    code: str
    place: Place
    data: Mapping[str, Any] = MappingProxyType({})
    found_by: Rule | None = None  # a rule that is not in the readers' table

    @property
    def rule(self) -> Rule:
        if self.found_by is not None:
            return self.found_by
        # Imported here, since a start with nothing wrong needs no words.
        from vancectl.reading.rules import RULES

        return RULES[self.code]

    @property
    def severity(self) -> Severity:
        """The rule's, unless this one weighs more: what one program reads on, another does not load."""
        from vancectl.reading.rule import Severity

        given = self.data.get("severity")
        return Severity(given) if given is not None else self.rule.severity

    @property
    def breaks(self) -> bool:
        """Whether the file cannot be used because of it."""
        return self.severity == "error"

    def sentence(self) -> str:
        return self.rule.sentence.format_map(self._words())

    def remedy(self) -> str:
        return self.rule.remedy.format_map(self._words())

    def of(self, whole: str, kind: type[_E], *, place: bool = True, then: str = "") -> _E:
        """The error that ends a command, since `whole` cannot be used; `then` is what to do besides."""
        joint = " " if self.code == "unknown-field" else ": "
        where = self.place if place else None
        return kind(f"{whole}{joint}{self.sentence()}", where=where, remedy=f"{self.remedy()}{then}")

    def _words(self) -> dict[str, Any]:
        """The data, made visible and not too long, and the nearest of the `known` words named.

        The nearest is looked for only here: a library with a thousand unknown keys must still load fast.
        """
        words = {key: _shown(value) if isinstance(value, str) else value for key, value in self.data.items()}
        if "known" in words:
            known = words.pop("known")
            meant = did_you_mean(near_names(str(self.data["nearest_to"]), known, most=1))
            words["nearest"] = f"; {meant}" if meant else ""
            words["meant"] = meant or f"the fields are {', '.join(known)}"
        return words

    def line(self) -> str:
        """One line for a person: place, sentence, remedy."""
        return f"{visible(str(self.place))}: {self.sentence()} ({self.remedy()})"


def _shown(text: str) -> str:
    return visible(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")
