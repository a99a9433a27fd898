"""A phrase that is hit inside of other words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from vancectl.lint.library import Library
from vancectl.lint.phrases import is_word
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

WORDS_SHOWN = 5


def find(library: Library) -> Iterator[Finding]:
    for each in library.phrases:
        if library.words is not None and is_word(each) and not each.recipe.whole_words:
            holding = list(islice(library.words.holding(each.folded), WORDS_SHOWN))
            if holding:
                yield RULE.at(each.place, phrase=each.phrase, words=", ".join(holding))


RULE = LintRule(
    code="inside-words",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” is part of other words: {words}",
    remedy="set `triggers.match: word`, or use more words",
    why=(
        "A phrase is searched as a part of the text, so `gate` also hits `investigate`. Inflections of the "
        "word itself do not count. With `triggers.match: word` the phrase hits whole words only."
    ),
    find=find,
)
