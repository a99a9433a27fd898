"""Descriptions that a model cannot choose by: thin, copied, alike, silent on when to take the recipe, or dishonest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vancectl.inventory.inventory import DEFAULT_RECIPE
from vancectl.inventory.recipe import Recipe
from vancectl.lint.hidden import first_hidden
from vancectl.lint.library import Library
from vancectl.lint.likeness import Likeness
from vancectl.reading.finding import Finding
from vancectl.selector.shortlist.terms import FUNCTION_TERMS, terms
from vancectl.selector.triggers.phrase import unspaced
from vancectl.text.comparison import normalise_phrase

LEAST_WORDS = 15
MOST_CHARACTERS = 1_500
# Measured on five public libraries of 28 to 811 descriptions: above it lie versions of one thing, below it siblings
# that differ in a word (sell a house, let a house).
ALIKE = 0.85
# Characters that stand for a word where a script puts no spaces between words.
_CHARACTERS_PER_WORD = 2

# What tells when: English and German words that speak of the task or its asker, or set limits.
_WHEN = re.compile(
    r"\b(when|whenever|if|use[ds]?|using|take it|take this|choose|chosen|pick|for|asks?|wants?|needs?|not|never|unless|"
    r"instead|only|wenn|falls|sobald|nutze|nimm|verwende|für|will|wollen|soll|braucht|nicht|kein\w*|statt|nur)\b",
    re.I,
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:rules?|instructions?|orders?|prompts?|above|previous|other)"
    r"|\b(?:always|must)\s+(?:choose|pick|select|match|answer|return)\b"
    r"|\bdo not (?:choose|pick|select) any\b"
    r"|\bignoriere\b[^.\n]{0,40}\b(?:regeln|anweisungen)|\bimmer\s+(?:wählen|nehmen)\b"
    r"|[\"']?decision[\"']?\s*:\s*[\"']?(?:MATCH|NONE)"
    r"|</?(?:inventory|task|engine-catalog)>|^\s*#+\s*(?:reply|answer|system)\b",
    re.I | re.M,
)
_WORDS = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def description_findings(library: Library) -> Iterator[Finding]:
    recipes = [recipe for recipe in library.inventory.recipes if recipe.source is None]
    for recipe in recipes:
        yield from _by_itself(library, recipe)
    yield from _compared(library, recipes)


def _by_itself(library: Library, recipe: Recipe) -> Iterator[Finding]:
    text = recipe.description
    place = library.outline(recipe.path).field("description")
    words = count_words(text)
    if words < LEAST_WORDS:
        yield Finding("thin-description", place, {"count": words, "least": LEAST_WORDS})
    elif _speaks_english_or_german(text) and not _WHEN.search(text):
        # A thin one has said that already.
        yield Finding("no-when", place)
    if len(text) > MOST_CHARACTERS:
        yield Finding("long-description", place, {"count": len(text), "most": MOST_CHARACTERS})
    order = _ORDERS.search(text)
    if order:
        yield Finding("orders-reader", place, {"words": " ".join(order[0].split())})
    hidden = first_hidden(text)
    if hidden is not None:
        yield Finding("hidden-text", place, {"where": "the description", "character": f"U+{ord(hidden):04X}"})


def count_words(text: str) -> int:
    """Words, where a script without spaces gives one for two characters."""
    spaced = "".join(" " if unspaced(character) else character for character in text)
    return len(_WORDS.findall(spaced)) + sum(map(unspaced, text)) // _CHARACTERS_PER_WORD


def _speaks_english_or_german(text: str) -> bool:
    return any(term in FUNCTION_TERMS for term in terms(text))


def _compared(library: Library, recipes: Sequence[Recipe]) -> Iterator[Finding]:
    likeness = Likeness([recipe.description for recipe in recipes])
    places = [library.outline(recipe.path).field("description") for recipe in recipes]
    told = set[int]()
    for left, right, how_much in likeness.pairs(ALIKE):
        same = normalise_phrase(recipes[left].description) == normalise_phrase(recipes[right].description)
        for here, there in ((left, right), (right, left)):
            if here not in told:  # of a heap of versions each is told of its nearest
                told.add(here)
                data = {"other": recipes[there].name, "likeness": how_much}
                yield Finding("copied-description" if same else "alike-description", places[here], data)
    default = next((number for number, recipe in enumerate(recipes) if recipe.name == DEFAULT_RECIPE), None)
    if default is None:
        return
    known = likeness.terms(default) | FUNCTION_TERMS
    for number in range(len(recipes)):
        own = likeness.terms(number) - known
        if number not in told and number != default and not own:
            yield Finding("like-default", places[number])
