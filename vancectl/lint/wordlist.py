"""Words of English and German with their frequency, from the lists that the package `pyspellchecker` ships.

The package is an extra (`vancectl[lint]`): without it the rules that need words say so and are left out.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

# Each language's list, with the count below which its words stand in dictionaries rather than in texts. The German
# list gives its least count to everyday words, too.
LANGUAGES = {"en": 51, "de": 1}

# What a word may end in and still be the same word: a task about gates is one about a gate.
_ENDINGS = frozenset(
    ("s", "es", "d", "ed", "r", "rs", "er", "ers", "ing", "ings", "ly",  # English
     "e", "en", "n", "em", "rn", "ern", "t", "te", "ten", "st", "in", "innen", "ung", "ungen")  # German
)  # fmt: skip


class WordList:
    """Words in small letters, most frequent first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _counts(self) -> dict[str, dict[str, int]]:
        counts = {}
        for language, least in LANGUAGES.items():
            with gzip.open(self._folder / f"{language}.json.gz") as file:
                counts[language] = {word: count for word, count in json.load(file).items() if count >= least}
        return counts

    @cached_property
    def _lines(self) -> str:
        """All words as lines, most frequent first: one search in one text finds every word that holds a part."""
        ranks: dict[str, float] = {}
        for counts in self._counts.values():
            total = sum(counts.values())
            for word, count in counts.items():
                ranks[word] = max(ranks.get(word, 0.0), count / total)
        return "\n" + "\n".join(sorted(ranks, key=lambda word: (-ranks[word], word))) + "\n"

    def __contains__(self, word: str) -> bool:
        return any(word in counts for counts in self._counts.values())

    def holding(self, part: str) -> Iterator[str]:
        """Words in which a part stands, most frequent first, but for the part itself and its inflections."""
        text, start = self._lines, 0
        while (start := text.find(part, start)) >= 0:
            first = text.rfind("\n", 0, start) + 1
            end = text.find("\n", start)
            word = text[first:end]
            if not (word.startswith(part) and word[len(part) :].removesuffix("'s") in {"", *_ENDINGS}):
                yield word
            start = end


def find_word_list() -> WordList | None:
    """The package's lists; None where it is not installed. Its own code is not imported: its data is all we need."""
    from importlib.util import find_spec

    spec = find_spec("spellchecker")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "resources"
    return WordList(folder) if all((folder / f"{language}.json.gz").is_file() for language in LANGUAGES) else None
