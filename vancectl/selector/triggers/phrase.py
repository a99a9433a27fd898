"""How a task and a trigger phrase are compared: normalised alike, and at whole words where a recipe asks for it."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right

from vancectl.text.invisible import belongs_to_the_character_before, without_invisible
from vancectl.text.printable import well_formed

# Scripts that put no spaces between words: a word has no visible edge there, so containment is all there is.
_UNSPACED = (
    (0x0E00, 0x0FFF),  # Thai, Lao, Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x30FF),  # CJK radicals, Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31FF),  # Bopomofo and Katakana extensions
    (0x3400, 0x4DBF),  # CJK extension A
    (0x4E00, 0x9FFF),  # CJK
    (0xA980, 0xA9FF),  # Javanese, Myanmar extended
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),  # CJK compatibility
    (0x1B000, 0x1B16F),  # Kana extensions
    (0x20000, 0x3FFFF),  # CJK extensions B and later
)

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

# What Korean joins to a word without a space.
_PARTICLES = (
    *("은", "는", "이", "가", "을", "를", "과", "와", "의", "에", "도", "만", "로", "나", "랑", "야", "아", "께", "요"),
    *("에서", "에게", "한테", "으로", "부터", "까지", "처럼", "보다", "이나", "라도", "조차", "마저", "밖에", "하고"),
    *("마다", "대로", "이랑", "께서", "이라도"),
)


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


def keeps_positions(text: str, normalised: str) -> bool:
    """Whether every character of the normalised text stands where it stood in `text`.

    Normalising step by step can then only have replaced single characters: each step that could move one also changes
    the length. Cheap to tell, and true of nearly every task.
    """
    if len(text) != len(normalised):
        return False
    return text.isascii() or (unicodedata.is_normalized("NFKC", text) and len(text.casefold()) == len(text))


def span_in_original(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the part `start:end` of `normalise(text)` stands in `text` itself.

    The normalised length of a prefix grows with the prefix, so both edges are found by bisection. A character that
    normalising spreads (`ﬁ`) belongs to the span as a whole. Where marks change their order, the length can shrink and
    the edges be off by a few: the span then grows until it holds the part.
    """
    prefixes = range(len(text) + 1)
    first = bisect_right(prefixes, start, key=lambda size: len(normalise(text[:size]))) - 1
    last = bisect_left(prefixes, end, lo=max(first, 0), key=lambda size: len(normalise(text[:size])))
    while last < len(text) and (unicodedata.combining(text[last]) or belongs_to_the_character_before(text[last])):
        last += 1
    first, last = max(first, 0), min(last, len(text))
    part = normalise(text)[start:end]
    while part not in normalise(text[first:last]):
        first, last = max(first - 1, 0), min(last + 1, len(text))
    return first, last


def at_whole_words(text: str, start: int, end: int) -> bool:
    """Whether no letter or digit stands directly before or after the part `start:end` of a normalised text.

    It holds for phrases such as `c++` and `.net`, whose own edges are no letters. An edge in a script without
    spaces is always free, and so is one whose neighbour is of such a script. Korean particles may follow a word.
    """
    if not _free(text[start], text[start - 1 : start]):
        return False
    return _free(text[end - 1], text[end : end + 1]) or (_is_hangul(text[end - 1]) and _ends_in_particles(text, end))


def _free(edge: str, neighbour: str) -> bool:
    if not neighbour or unspaced(edge) or unspaced(neighbour):
        return True
    # Marks belong to the letter before them: vowel signs of Indic scripts are no `isalnum` letters.
    return not (neighbour.isalnum() or unicodedata.category(neighbour).startswith("M"))


def _is_hangul(character: str) -> bool:
    return "\uac00" <= character <= "\ud7a3"


def _ends_in_particles(text: str, start: int, most: int = 2) -> bool:
    """Whether from `start` to the edge of the word there are only particles, at most two: `에서` and `는`."""
    return most > 0 and any(
        text.startswith(particle, start)
        and (
            _free(particle[-1], text[start + len(particle) : start + len(particle) + 1])
            or _ends_in_particles(text, start + len(particle), most - 1)
        )
        for particle in _PARTICLES
    )


def unspaced(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    code = ord(character)
    return code >= _UNSPACED[0][0] and any(low <= code <= high for low, high in _UNSPACED)
