"""Characters that no one sees or types on purpose: Unicode's Default_Ignorable_Code_Point.

They are left out where texts are compared or shown to a model, and refused in names.
"""

from __future__ import annotations

from bisect import bisect_right

# DerivedCoreProperties.txt of Unicode 16, property Default_Ignorable_Code_Point.
_RANGES = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x200B, 0x200F),  # zero width space and joiners, direction marks
    (0x202A, 0x202E),  # direction embeddings
    (0x2060, 0x206F),  # word joiner, invisible operators, direction isolates
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # zero width no-break space, byte order mark
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags and variation selectors supplement
)
_FIRST = tuple(low for low, _ in _RANGES)


def is_invisible(character: str) -> bool:
    code = ord(character)
    return code >= _FIRST[0] and code <= _RANGES[bisect_right(_FIRST, code) - 1][1]


def first_invisible(text: str) -> str | None:
    """The first invisible character of `text`."""
    return None if text.isascii() else next((c for c in set(text) if is_invisible(c)), None)


def without_invisible(text: str) -> str:
    """`text` without its invisible characters; their kinds are few, so each is taken out once for the whole text."""
    if text.isascii():
        return text
    found = [character for character in set(text) if is_invisible(character)]
    return text.translate(dict.fromkeys(map(ord, found))) if found else text


def belongs_to_the_character_before(character: str) -> bool:
    """Whether it is a variation selector, which says how the character before it looks."""
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
