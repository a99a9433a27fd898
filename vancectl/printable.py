"""Text from files and models made harmless: control characters shown, lone surrogates replaced."""

from __future__ import annotations

import re

# C0 and C1 controls, line and paragraph separators, and the marks that turn the direction of writing:
# any of them lets a cloned project act on a terminal or hide what a line really says.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_UNSAFE_BUT_LAYOUT = re.compile(_UNSAFE.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f"))
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def printable(text: str, *, layout: bool = False) -> str:
    r"""`text` with unsafe characters as `\x1b` or `\u202e`; `layout` lets tab and line feed pass."""
    pattern = _UNSAFE_BUT_LAYOUT if layout else _UNSAFE
    return pattern.sub(_escape, well_formed(text))


def plain_line(text: str) -> str:
    """`text` on one line, with unsafe characters and white space runs as one blank: for a prompt or a table."""
    return " ".join(_UNSAFE.sub(" ", well_formed(text)).split())


def without_controls(text: str) -> str:
    """`text` with its line breaks and tabs, but with every other unsafe character as a blank."""
    return _UNSAFE_BUT_LAYOUT.sub(" ", well_formed(text))


def well_formed(text: str) -> str:
    """`text` with lone surrogates, which bytes outside of UTF-8 leave in arguments, as U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
