"""Recipe names: their canonical form, and the names that are near to a mistyped one."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from vancectl.text.printable import well_formed

NEAR_DISTANCE = 5
NEAR_COUNT = 5
_SHORTENED = 3
_SEPARATORS = "./-_ "


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


def near_names(
    name: str, names: Iterable[str], *, keep: Callable[[str], bool] = lambda _: True, most: int = NEAR_COUNT
) -> list[str]:
    """The names that a mistyped one may mean, nearest first; none where none is near.

    A third of the letters may differ, a swap of two counting as one. Parts that both begin with count for nothing, so
    that `spawn.foo` is not near to `spawn.env`. `keep` is asked only for names that are near, so it may be costly.
    """
    wanted = canonical(name)
    found = []
    for candidate in names:
        distance = _distance_if_near(wanted, candidate.lower())
        if distance is not None:
            found.append((distance, candidate))
    return list(islice((candidate for _, candidate in sorted(found) if keep(candidate)), most))


def did_you_mean(names: Sequence[str], then: str = "", form: str = "`{}`") -> str:
    """The question, from near names, if there are any, and what is to be said then."""
    shown = [form.format(name) for name in names]
    if len(shown) > 1:
        shown = [", ".join(shown[:-1]), shown[-1]]
    meant = f"did you mean {' or '.join(shown)}?" if shown else ""
    return f"{meant} {then}".strip()


def _distance_if_near(wanted: str, candidate: str) -> int | None:
    if wanted == candidate:
        return 0
    left, right = _without_common_parts(wanted, candidate)
    bound = min(NEAR_DISTANCE, max(len(wanted) > 1, (len(left) + 1) // 3))
    if len(left) >= _SHORTENED and right.startswith(left):  # as `time` for `timeout`
        return len(right) - len(left)
    if abs(len(left) - len(right)) > bound:  # a name may be a megabyte long
        return None
    distance = edit_distance(left, right)
    return distance if distance <= bound else None


def _without_common_parts(left: str, right: str) -> tuple[str, str]:
    """Both from the first part on in which they differ; parts end in a separator."""
    start = 0
    for place, (a, b) in enumerate(zip(left, right, strict=False), 1):
        if a != b:
            break
        if a in _SEPARATORS:
            start = place
    return left[start:], right[start:]


def some_of(names: Sequence[str]) -> str:
    """The first of many names, and how many there are besides."""
    more = len(names) - NEAR_COUNT
    return ", ".join(names[:NEAR_COUNT]) + (f" and {more} more" if more > 0 else "")


def edit_distance(left: str, right: str) -> int:
    """How many letters were inserted, left out, replaced, or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        above, row = row, [i, *([0] * len(right))]
        for j, b in enumerate(right, 1):
            row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]:
                row[j] = min(row[j], before[j - 2] + 1)
        before = above
    return row[-1]
