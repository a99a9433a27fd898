"""Recipe names: their canonical form, and the names that are near to a mistyped one."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from vancectl.text.printable import well_formed

NEAR_DISTANCE = 5
NEAR_COUNT = 5


def canonical(name: str) -> str:
    """Trimmed, lower-cased, white space runs become `-`, accents composed (docs/design.md, section 3).

    Each part of a name with slashes is treated for itself. File systems may store accents decomposed,
    so that one visible name would be two without NFC; a locale without UTF-8 leaves names in bytes.
    """
    if name.isascii() and name.split() == [name]:  # nearly every name
        return name.lower()
    parts = unicodedata.normalize("NFC", well_formed(name)).split("/")
    return "/".join("-".join(part.split()).lower() for part in parts)


def engine_name(text: str) -> str:
    """An engine's name as the catalog has it, however a recipe, a setting or a caller wrote it."""
    return text.strip().lower()


def near_names(name: str, names: Iterable[str], *, keep: Callable[[str], bool] = lambda _: True) -> list[str]:
    """Up to five of `names` at an edit distance of at most five, nearest first.

    `keep` is asked only for names that are near, so it may be costly.
    """
    wanted = canonical(name)
    found = []
    for candidate in names:
        if abs(len(candidate) - len(wanted)) <= NEAR_DISTANCE:
            distance = edit_distance(wanted, candidate)
            if distance <= NEAR_DISTANCE:
                found.append((distance, candidate))
    return list(islice((candidate for _, candidate in sorted(found) if keep(candidate)), NEAR_COUNT))


def nearest_key(key: str, keys: Iterable[str]) -> str | None:
    """The known key that a mistyped one most likely means; None where none is close.

    Closer than `near_names`: a third of the letters may differ, else the advice would be noise.
    """
    bound = max(2, len(key) // 3)
    near = [known for known in keys if abs(len(known) - len(key)) <= bound]  # a key may be a megabyte long
    ranked = sorted((edit_distance(key.lower(), known.lower()), known) for known in near)
    if not ranked or ranked[0][0] > bound:
        return None
    return ranked[0][1]


def some_of(names: Sequence[str]) -> str:
    """The first of many names, and how many there are besides."""
    more = len(names) - NEAR_COUNT
    return ", ".join(names[:NEAR_COUNT]) + (f" and {more} more" if more > 0 else "")


def edit_distance(left: str, right: str) -> int:
    """Levenshtein distance: insertions, deletions and replacements each cost one."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]
