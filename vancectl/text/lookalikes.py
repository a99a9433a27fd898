"""Texts that look alike and are not the same, since letters of other scripts stand in for Latin ones."""

from __future__ import annotations

import re
import unicodedata

# Of Unicode's confusables those that look like small Latin letters in common fonts, by script.
_LIKE = (
    ("аеорсхуіјѕһԁԛԝѵӏьг", "aeopcxyijshdqwvlbr"),  # Cyrillic
    ("οανρυικχγηϲϳ", "oavpuikxyncj"),  # Greek
    ("օոսհցզյ", "onuhgqj"),  # Armenian
    ("ᎠᎡᎢᎪᎫᎬᎷᎻᏀᏃᏚᏙᏟᏢᏦᏞ", "drtajemhgzsvcpkl"),  # Cherokee
    ("ɑɡɩ", "agi"),  # Latin for phoneticians
)
_LATIN = str.maketrans("".join(left for left, _ in _LIKE), "".join(right for _, right in _LIKE))
_WORD = re.compile(r"[^\W\d_]+")


def appearance(text: str) -> str:
    """What `text` looks like: the same for texts that a reader takes for one another."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold().translate(_LATIN)


def disguised_word(text: str) -> str | None:
    """The first word that has Latin letters and others that look like some."""
    if text.isascii():
        return None
    folded = unicodedata.normalize("NFKC", text).casefold()
    return next((word for word in _WORD.findall(folded) if _is_disguised(word)), None)


def _is_disguised(word: str) -> bool:
    others = [letter for letter in word if ord(letter) in _LATIN]
    return bool(others) and any("a" <= letter <= "z" for letter in word)
