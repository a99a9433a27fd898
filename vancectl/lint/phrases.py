"""Trigger phrases as they are written, and how long they are to whoever reads them."""

from __future__ import annotations

from typing import NamedTuple

from vancectl.errors import Place
from vancectl.inventory.recipe import Recipe
from vancectl.selector.triggers.phrase import unspaced

# Letters and digits that a phrase should have: where parts of words hit, and where only whole words do.
LEAST_LETTERS = {False: 4, True: 2}


class WrittenPhrase(NamedTuple):
    """A phrase of a recipe, in the form in which it is compared, and where it is."""

    recipe: Recipe
    phrase: str
    folded: str
    place: Place


def is_short(written: WrittenPhrase) -> bool:
    """A script without spaces says in one character what others say in a word: nothing there is short."""
    folded = written.folded
    if any(map(unspaced, folded)):
        return False
    letters = sum(map(str.isalnum, folded))
    # `c++` and `.net` are no short words: hardly any text has their marks.
    marked = any(not character.isalnum() and character != " " for character in folded)
    return letters < LEAST_LETTERS[written.recipe.whole_words] and not (
        marked and len(folded) >= LEAST_LETTERS[False] - 1
    )


def is_word(written: WrittenPhrase) -> bool:
    """Whether it is one word, and no short one, of a script that puts spaces between words."""
    folded = written.folded
    return " " not in folded and folded.isalpha() and not is_short(written) and not any(map(unspaced, folded))
