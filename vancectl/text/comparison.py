"""Texts in the form in which they are compared: without case, typography, and what no one sees or types on purpose."""

from __future__ import annotations

import unicodedata

from vancectl.text.invisible import without_invisible
from vancectl.text.printable import well_formed

# Typographic variants of what a keyboard has: word processors and chats put them in, people do not type them.
_APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\u02b9\u00b4\u05f3\uff07"
_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u301d\u301e\u301f\u05f4\uff02"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\u05be\u2e3a\u2e3b\ufe58\ufe63\uff0d"
# Arabic vowel and recitation marks, and tatweel, which only draws a word out. Madda and hamza make other letters.
_ARABIC_MARKS = (
    *(range(0x0610, 0x061B), range(0x064B, 0x0653), range(0x0656, 0x0660), range(0x06D6, 0x06DD)),
    *(range(0x06DF, 0x06E5), range(0x06E7, 0x06E9), range(0x06EA, 0x06EE), range(0x08D3, 0x08E2)),
    *(range(0x08E3, 0x0900), (0x0640, 0x0670)),
)
_TYPED: dict[int, str | None] = {
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, _QUOTES), '"'),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    0x2800: " ",  # the blank of Braille
    0x00AD: None,  # soft hyphen
    **{code: None for marks in _ARABIC_MARKS for code in marks},
}

# Text with longer runs of marks is not what any language writes (Unicode, annex 15, stream-safe text), and putting
# them in order takes the square of their number.
MOST_MARKS = 30
_FIRST_MARK = "\u0300"


def normalise(text: str) -> str:
    """NFKC, case-folded, without what no one sees or types, white space runs to one space (docs/design.md, section 4).

    NFC once more at the end: case folding takes some letters apart, and text and phrase must not differ by that.
    Edges are not trimmed, so that positions can be traced back.
    """
    if text.isascii():
        return _one_space(text.lower())
    # Before NFKC, which would make other characters of some of them: a blank and an accent of a single acute.
    seen = well_formed(text)
    if max(seen) >= _FIRST_MARK:
        seen = _with_few_marks(without_invisible(seen))
    composed = unicodedata.normalize("NFKC", seen.translate(_TYPED)).translate(_TYPED)
    return _one_space(unicodedata.normalize("NFC", composed.casefold()))


def _with_few_marks(text: str) -> str:
    marks = {character for character in set(text) if unicodedata.combining(character)}
    if sum(map(text.count, marks)) <= MOST_MARKS:
        return text
    kept = []
    run = 0
    for character in text:
        run = run + 1 if character in marks else 0
        if run <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def normalise_phrase(phrase: str) -> str:
    return normalise(phrase).strip(" ")


def _one_space(text: str) -> str:
    collapsed = " ".join(text.split())
    leading = " " if text[:1].isspace() else ""
    trailing = " " if collapsed and text[-1:].isspace() else ""
    return leading + collapsed + trailing
