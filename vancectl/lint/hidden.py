"""Invisible characters in a text, but for those that an emoji or a script needs where they stand."""

from __future__ import annotations

import unicodedata

from vancectl.text.invisible import is_invisible
from vancectl.text.printable import UNSAFE

_LAYOUT = {"\n", "\t", "\r"}
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_SELECTORS = {"\ufe0e", "\ufe0f"}
# Arabic to Khmer and Mongolian: scripts whose letters change their form where they join.
_JOINING_SCRIPTS = range(0x0600, 0x18B0)


def first_hidden(text: str) -> str | None:
    """The first character of `text` that does not show, and does not belong to the one before it."""
    before = ""
    for character in text:
        hidden = is_invisible(character) or (ord(character) in UNSAFE and character not in _LAYOUT)
        if hidden and not _belongs(character, before):
            return character
        before = character
    return None


def _belongs(character: str, before: str) -> bool:
    if not before:
        return False
    if character in _SELECTORS:
        return unicodedata.category(before) in {"So", "Sm", "Sk", "Po"} or before.isdigit()
    if character == _JOINER and (before in _SELECTORS or unicodedata.category(before) in {"So", "Sk"}):
        return True
    return character in {_NON_JOINER, _JOINER} and ord(before) in _JOINING_SCRIPTS
