"""Phrases that are hit where they are not meant: too short, too common, inside of other words, in other texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from vancectl.errors import Place
from vancectl.inventory.recipe import Recipe
from vancectl.lint.hidden import first_hidden
from vancectl.lint.library import Library
from vancectl.lint.wordlist import WordList
from vancectl.reading.finding import Finding
from vancectl.routes.case import Case
from vancectl.selector.triggers.index import single_recipe
from vancectl.selector.triggers.phrase import unspaced
from vancectl.text.comparison import normalise_phrase
from vancectl.text.names import canonical

# Letters and digits that a phrase should have: where parts of words hit, and where only whole words do.
LEAST_LETTERS = {False: 4, True: 2}
# Without a list of words, a single word below this length counts as a common one.
SHORT_WORD = 6
WORDS_SHOWN = 5
# Of each pair, folding case without a language makes the other letter of one.
_TURKISH = {"ı": "i", "İ": "i"}
_NAME = re.compile(r"[\w/-]+")
# What people bring along from tools whose phrases are patterns. No word of a language looks like these.
_PATTERNS = {
    "a regular expression": re.compile(
        r"\\[bBdDsSwW.]|\.[*+]|\(\?|[\w)]\|[\w(]|\[[^\]\s]*[-^][^\]\s]*\]|^\^|\w\$$|\w\{\d+(,\d*)?\}|^/.+/[a-z]?$"
    ),
    "a glob": re.compile(r"\*[./\w]|[./\w]\*|\{\w+(,\w+)+\}"),
    "a template": re.compile(r"\$[A-Z_]{2,}|\$\{|\{\{|\{\w*\}|<\w+>|\$\d\b"),
    "a list": re.compile(r"^[^,]+(,[^,]+){2,}$|\w\s*[;|]\s*\w"),
}


def phrase_findings(library: Library, words: WordList | None, cases: Sequence[Case] = ()) -> Iterator[Finding]:
    for recipe in library.inventory.recipes:
        for phrase in recipe.phrases:
            place = library.outline(recipe.path).item(("triggers", "keywords"), phrase)
            hidden = first_hidden(phrase)
            if hidden is not None:
                data = {"where": f"the phrase “{phrase}”", "character": f"U+{ord(hidden):04X}"}
                yield Finding("hidden-text", place, data)
            folded = normalise_phrase(phrase)
            if not folded:
                continue
            dotted = next((letter for letter in phrase if letter in _TURKISH), None)
            if dotted is not None:
                data = {"phrase": phrase, "letter": dotted, "like": _TURKISH[dotted]}
                yield Finding("dotted-i", place, data)
            kind = next((kind for kind, pattern in _PATTERNS.items() if pattern.search(phrase)), None)
            if kind is not None:
                yield Finding("pattern-phrase", place, {"phrase": phrase, "kind": kind})
            yield from _by_itself(recipe, phrase, folded, place, library.engines or (), words)
    yield from _in_descriptions(library)
    yield from _in_cases(library, cases)


def _by_itself(
    recipe: Recipe, phrase: str, folded: str, place: Place, engines: Sequence[str], words: WordList | None
) -> Iterator[Finding]:
    """A script without spaces says in one character what others say in a word: nothing there is short or inside."""
    if any(map(unspaced, folded)):
        return
    letters = sum(map(str.isalnum, folded))
    # `c++` and `.net` are no short words: their marks stand in hardly any text.
    marked = any(not character.isalnum() and character != " " for character in folded)
    if letters < LEAST_LETTERS[recipe.whole_words] and not (marked and len(folded) >= LEAST_LETTERS[False] - 1):
        yield Finding("short-phrase", place, {"phrase": phrase})
        return
    if " " in folded or not folded.isalpha():
        return
    # Engines' names are allowed as phrases (docs/design.md, section 4).
    if folded not in engines and (folded in words if words is not None else len(folded) < SHORT_WORD):
        yield Finding("one-word", place, {"phrase": phrase})
    if words is not None and not recipe.whole_words:
        holding = list(islice(words.holding(folded), WORDS_SHOWN))
        if holding:
            yield Finding("inside-words", place, {"phrase": phrase, "words": ", ".join(holding)})


def _in_descriptions(library: Library) -> Iterator[Finding]:
    for other in library.inventory.recipes:
        if other.source is not None:
            continue  # its words are another program's
        named = set(_NAME.findall(other.description.lower()))
        for hit in library.index.hits(other.description):
            # A description that names the other recipe speaks of it, to say what it is itself not for.
            if hit.recipe != other.name and hit.recipe not in named:
                recipe = library.by_name[hit.recipe]
                place = library.outline(recipe.path).item(("triggers", "keywords"), hit.phrase)
                yield Finding("in-description", place, {"phrase": hit.phrase, "other": other.name})


def _in_cases(library: Library, cases: Sequence[Case]) -> Iterator[Finding]:
    """Phrases that decide a case against what it expects. Where several recipes are hit, the model still decides."""
    for case in cases:
        hits = library.index.hits(case.task)
        name = single_recipe(hits)
        right, wrong = (tuple(map(canonical, names)) for names in (case.right_names, case.avoid))
        if name is not None and (name in wrong or (right and name not in right)):
            recipe = library.by_name[name]
            place = library.outline(recipe.path).item(("triggers", "keywords"), hits[0].phrase)
            data = {
                "phrase": hits[0].phrase,
                "task": case.task,
                "case": str(case.place),
                "expected": " or ".join(case.right_names) or "another",
            }
            yield Finding("hits-case", place, data)
