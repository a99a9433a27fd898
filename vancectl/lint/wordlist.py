"""Words of English and German with their frequency, from the lists that the package `pyspellchecker` ships.

The package is an extra (`vancectl[lint]`): without it the rules that need words say so and are left out.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from vancectl.disk.folders import cache_dir
from vancectl.disk.storage import write_atomically
from vancectl.reading.compiled import stamp_of

_FORM = 1  # of the file in the cache
_CHECKSUM_BYTES = 4

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
    def lines(self) -> str:
        """All words as lines, most frequent first: one search in one text finds every word that holds a part."""
        files = [self._folder / f"{language}.json.gz" for language in LANGUAGES]
        return _lines(*((str(file), *stamp_of(file.stat())) for file in files))

    def __contains__(self, word: str) -> bool:
        return f"\n{word}\n" in self.lines

    def holding(self, part: str) -> Iterator[str]:
        """Words in which a part stands, most frequent first, but for the part itself and its inflections."""
        text, start = self.lines, 0
        while (start := text.find(part, start)) >= 0:
            first = text.rfind("\n", 0, start) + 1
            end = text.find("\n", start)
            word = text[first:end]
            if not (word.startswith(part) and word[len(part) :].removesuffix("'s") in {"", *_ENDINGS}):
                yield word
            start = end


@functools.cache
def _lines(*stamped: tuple[str, int, int, int, int]) -> str:
    """The lines of these files, each given with its stamp. Worked out once, and then kept in the cache."""
    cache = cache_dir()
    kept = cache / "words" if cache is not None else None
    header = repr((_FORM, LANGUAGES, stamped)).encode("utf-8", "surrogateescape") + b"\n"
    with contextlib.suppress(OSError, ValueError):
        if kept is not None and (data := kept.read_bytes()).startswith(header):
            body = data[len(header) + _CHECKSUM_BYTES :]
            if data[len(header) :][:_CHECKSUM_BYTES] == _checksum(body):
                return body.decode()
    text = _ranked([Path(file) for file, *_ in stamped])
    if kept is not None:
        with contextlib.suppress(OSError):
            write_atomically(kept, header + _checksum(text.encode()) + text.encode())
    return text


def _checksum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "big")


def _ranked(files: Sequence[Path]) -> str:
    ranks: dict[str, float] = {}
    for file, least in zip(files, LANGUAGES.values(), strict=True):
        with gzip.open(file) as opened:
            counts = {word: count for word, count in json.load(opened).items() if count >= least}
        total = sum(counts.values())
        for word, count in counts.items():
            ranks[word] = max(ranks.get(word, 0.0), count / total)
    return "\n" + "\n".join(sorted(ranks, key=lambda word: (-ranks[word], word))) + "\n"


def find_word_list() -> WordList | None:
    """The package's lists; None where it is not installed. Its own code is not imported: its data is all we need."""
    from importlib.util import find_spec

    spec = find_spec("spellchecker")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "resources"
    return WordList(folder) if all((folder / f"{language}.json.gz").is_file() for language in LANGUAGES) else None
