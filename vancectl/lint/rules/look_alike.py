"""Names and phrases that a reader takes for those of another recipe, and that are not the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.text.comparison import normalise_phrase
from vancectl.text.lookalikes import appearance, disguised_word


def find(library: Library) -> Iterator[Finding]:
    yield from _names(library)
    yield from _phrases(library)


def _names(library: Library) -> Iterator[Finding]:
    looks: dict[str, list[str]] = defaultdict(list)
    for entry in library.entries:
        looks[appearance(entry.name)].append(entry.name)
    for entry in library.entries:
        others = [name for name in looks[appearance(entry.name)] if name != entry.name]
        if entry.name.isascii() or not (others or disguised_word(entry.name)):
            continue
        other = f"like `{others[0]}`" if others else "like a name in Latin letters"
        yield RULE.at(Place(Path(entry.recipe.path)), what=f"the name `{entry.name}`", other=other)


def _phrases(library: Library) -> Iterator[Finding]:
    looks: dict[str, dict[str, str]] = defaultdict(dict)
    for recipe in library.inventory.recipes:
        for phrase in recipe.phrases:
            folded = normalise_phrase(phrase)
            looks[appearance(folded)].setdefault(folded, recipe.name)
    for recipe in library.inventory.recipes:
        for phrase in recipe.phrases:
            folded = normalise_phrase(phrase)
            others = [name for other, name in looks[appearance(folded)].items() if other != folded]
            if folded.isascii() or not (others or disguised_word(phrase)):
                continue
            other = f"like a phrase of `{others[0]}`" if others else "like one in Latin letters"
            yield RULE.at(library.phrase_place(recipe, phrase), what=f"the phrase “{phrase}”", other=other)


RULE = LintRule(
    code="look-alike",
    severity=Severity.WARNING,
    sentence="{what} looks {other}, and is not the same",
    remedy="write it in the letters of one script",
    why=(
        "A letter of another script in the place of a Latin one is seen by no reader, yet it makes another "
        "name, and a phrase that nothing typed will match."
    ),
    find=find,
)
