"""A phrase that is one common word."""

from __future__ import annotations

from collections.abc import Iterator

from vancectl.lint.library import Library
from vancectl.lint.phrases import is_word
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

# Without a list of words, a single word below this length counts as a common one.
SHORT_WORD = 6


def find(library: Library) -> Iterator[Finding]:
    for each in library.phrases:
        # Engines' names are allowed as phrases (docs/design.md, section 4).
        if not is_word(each) or each.folded in (library.engines or ()):
            continue
        if each.folded in library.words if library.words is not None else len(each.folded) < SHORT_WORD:
            yield RULE.at(each.place, phrase=each.phrase)


RULE = LintRule(
    code="one-word",
    severity=Severity.WARNING,
    sentence="the phrase “{phrase}” is one common word",
    remedy="say what is asked for: a verb and its object",
    why=(
        "A common word is content more often than intent: a task about a panel is no task for a panel of "
        "advisers. Engines' names are no common words. Words are those of an English and a German list, if "
        "installed (`pip install 'vancectl[lint]'`); without it, words below six letters."
    ),
    find=find,
)
