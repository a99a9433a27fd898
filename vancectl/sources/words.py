"""Words taken from a file that has no description, and descriptions in one line."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?])\s")
_HEADING = re.compile(r"#+\s+(.+)")
_DERIVED = 300  # characters: enough to choose by, and no prompt


def one_line(text: str) -> str:
    return " ".join(text.split())


def derived_description(body: str) -> str:
    """The first sentence of the first paragraph that is no heading; the first heading where there is no other text."""
    heading = ""
    for paragraph in re.split(r"\n\s*\n", body):
        lines = [line for line in paragraph.strip().splitlines() if not line.lstrip().startswith("#")]
        found = _HEADING.match(paragraph.strip())
        heading = heading or (found.group(1) if found else "")
        text = one_line(" ".join(lines))
        if text:
            return _shortened(_SENTENCE.split(text, 1)[0])
    return _shortened(one_line(heading))


def first_heading(body: str) -> str:
    """The first heading, else the first line that holds anything."""
    for line in body.splitlines():
        if line.strip():
            found = _HEADING.match(line.strip())
            return _shortened(one_line(found.group(1) if found else line))
    return ""


def first_paragraph(body: str) -> str:
    for paragraph in re.split(r"\n\s*\n", body):
        text = one_line(" ".join(line for line in paragraph.splitlines() if not line.lstrip().startswith("#")))
        if text:
            return _shortened(text)
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= _DERIVED else text[: _DERIVED - 1].rstrip() + "…"
