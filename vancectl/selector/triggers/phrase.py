"""Where a trigger phrase is in a task: in the text as it was given, and at whole words where a recipe asks for it."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right

from vancectl.text.comparison import normalise
from vancectl.text.invisible import belongs_to_the_character_before

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

# What Korean joins to a word without a space.
_PARTICLES = (
    *("은", "는", "이", "가", "을", "를", "과", "와", "의", "에", "도", "만", "로", "나", "랑", "야", "아", "께", "요"),
    *("에서", "에게", "한테", "으로", "부터", "까지", "처럼", "보다", "이나", "라도", "조차", "마저", "밖에", "하고"),
    *("마다", "대로", "이랑", "께서", "이라도"),
)


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
