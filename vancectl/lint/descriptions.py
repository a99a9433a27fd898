"""How much a description says, and which other one it is like."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vancectl.errors import Place
from vancectl.inventory.recipe import Recipe
from vancectl.lint.likeness import Likeness
from vancectl.selector.triggers.phrase import unspaced
from vancectl.text.comparison import normalise_phrase

LEAST_WORDS = 15
# Measured on five public libraries of 28 to 811 descriptions: above it lie versions of one thing, below it siblings
# that differ in a word (sell a house, let a house).
ALIKE = 0.85
# Characters that stand for a word where a script puts no spaces between words.
_CHARACTERS_PER_WORD = 2
_WORDS = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


class Likest(NamedTuple):
    """A description that is too much like another one; `likeness` is 0 to 1."""

    place: Place
    other: str
    likeness: float
    same: bool


def count_words(text: str) -> int:
    """Words, where a script without spaces gives one for two characters."""
    spaced = "".join(" " if unspaced(character) else character for character in text)
    return len(_WORDS.findall(spaced)) + sum(map(unspaced, text)) // _CHARACTERS_PER_WORD


def find_likest(recipes: Sequence[Recipe], places: Sequence[Place]) -> Mapping[str, Likest]:
    """By name; of many versions of one text each is told of its nearest. `places` are those of the descriptions."""
    found: dict[str, Likest] = {}
    for left, right, likeness in Likeness([recipe.description for recipe in recipes]).pairs(ALIKE):
        same = normalise_phrase(recipes[left].description) == normalise_phrase(recipes[right].description)
        for here, there in ((left, right), (right, left)):
            found.setdefault(recipes[here].name, Likest(places[here], recipes[there].name, likeness, same))
    return found
