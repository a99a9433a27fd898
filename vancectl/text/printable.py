"""Text from files and models made harmless: control characters shown, lone surrogates replaced."""

from __future__ import annotations

from vancectl.text.invisible import is_invisible

# C0 and C1 controls, line and paragraph separators, and the marks that turn the direction of writing: any of them lets
# a cloned project act on a terminal or hide what a line really says. Tables, not patterns: no start pays for compiling.
UNSAFE = frozenset(
    [
        *range(0x20),
        *range(0x7F, 0xA0),
        *(0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ]
)
# An invisible copy of ASCII: it acts on no terminal, but a model reads orders in it. Joiners and the like are not among
# the characters to take out, since emoji, Persian and Indic scripts need them.
TAGS = frozenset(range(0xE0000, 0xE0080))
_LAYOUT = {ord("\t"), ord("\n")}


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_SHOWN = {code: _escape(code) for code in UNSAFE | TAGS}
_SHOWN_BUT_LAYOUT = {code: shown for code, shown in _SHOWN.items() if code not in _LAYOUT}
_BLANK = dict.fromkeys(UNSAFE | TAGS, " ")
_BLANK_BUT_LAYOUT = dict.fromkeys((UNSAFE | TAGS) - _LAYOUT, " ")


def printable(text: str, *, layout: bool = False) -> str:
    r"""`text` with unsafe characters as `\x1b` or `\u202e`; `layout` lets tab and line feed pass."""
    return well_formed(text).translate(_SHOWN_BUT_LAYOUT if layout else _SHOWN)


def visible(text: str) -> str:
    r"""`text` with everything escaped that does not show as a letter: `\xa0` and `\u200b` too."""
    text = well_formed(text)
    if text.isascii() and text.isprintable():
        return text
    shown = (_escape(ord(c)) if is_invisible(c) else c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return "".join(shown)


def plain_line(text: str) -> str:
    """`text` on one line, with unsafe characters and white space runs as one blank: for a prompt or a table."""
    return " ".join(well_formed(text).translate(_BLANK).split())


def without_controls(text: str) -> str:
    """`text` with its line breaks and tabs, but with every other unsafe character as a blank."""
    return well_formed(text).translate(_BLANK_BUT_LAYOUT)


def well_formed(text: str) -> str:
    """`text` without lone surrogates.

    Python leaves them in arguments and file names for bytes that the locale does not know. Together they may be UTF-8
    (in a locale without it) and become what they mean; anything else becomes U+FFFD.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        escaped = "".join("\ufffd" if "\ud800" <= c < "\udc80" or "\udcff" < c <= "\udfff" else c for c in text)
        return escaped.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text
