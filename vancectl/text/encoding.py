"""Bytes that others wrote as text: UTF-8, or UTF-16 that says so. Nothing is ever replaced by U+FFFD in silence."""

from __future__ import annotations

import codecs
from pathlib import Path

from vancectl.errors import Place, UsageError

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_REMEDY = "save it as UTF-8, as in: iconv -f {} -t UTF-8"
_LATIN = "WINDOWS-1252"

# As a file name it stands for standard input.
STDIN = "-"


def has_utf16_mark(data: bytes) -> bool:
    return data.startswith(_UTF16) and not data.startswith(_UTF32)


def decode(data: bytes, path: Path) -> str:
    """The text without its byte order mark. Raises UsageError that names the line and the likely encoding."""
    if data.startswith(_UTF32):
        raise UsageError("is UTF-32 text", where=Place(path, 1), remedy=_REMEDY.format("UTF-32"))
    wide = has_utf16_mark(data)
    try:
        return data.decode("utf-16") if wide else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        if wide:
            line = before.decode("utf-16", "ignore").count("\n") + 1
            what, name = "begins with the mark of UTF-16 and is none", "UTF-16"
        else:
            line, what, name = before.count(b"\n") + 1, fault(data[error.start :]), _LATIN
        raise UsageError(what, where=Place(path, line), remedy=_REMEDY.format(name)) from None


def fault(data: bytes) -> str:
    """What is wrong with bytes that are not UTF-8 from the first one on."""
    byte = data[0]
    likely = f" (in {_LATIN} it is `{bytes([byte]).decode('cp1252')}`)" if _is_letter(byte) else ""
    return f"is not UTF-8 text: the byte 0x{byte:02X} is not a character{likely}"


def refuse_nul(text: str, path: Path) -> None:
    """A NUL is no text: no program can be given one, and it mostly means UTF-16 without its mark. Raises UsageError."""
    place = text.find("\0")
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise UsageError(
            "holds a NUL character; it may be UTF-16 without its mark",
            where=Place(path, line),
            remedy=_REMEDY.format("UTF-16LE"),
        )


def _is_letter(byte: int) -> bool:
    try:
        return bytes([byte]).decode("cp1252").isalpha()
    except UnicodeDecodeError:
        return False
