"""JSON as every reader takes it: written with nothing that could act on a terminal, read with nothing passed over."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

from vancectl.text.printable import TAGS, UNSAFE, visible, well_formed

# What JSON may nest here. Python's own limit depends on who reads and who writes; nothing sensible comes near this one.
MAX_DEPTH = 100
# JSON escapes the C0 controls itself; the others would still act on a terminal that shows it, or hide what it says.
JSON_ESCAPES = {code: json.dumps(chr(code))[1:-1] for code in UNSAFE | TAGS if code >= 0x7F}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SHOWN = 100


class TooDeepError(ValueError):
    """It nests deeper than it can be read."""


def to_json(value: Any, indent: int | None = None) -> str:
    """Strict JSON in readable UTF-8, with every character escaped that could act on a terminal."""
    # An encoder is kept, since json.dumps makes a new one for each call that is not plain.
    encoder = _ENCODER if indent is None else json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=indent)
    text = encoder.encode(value)
    # Nothing printable is unsafe, and asking that is far quicker than translating.
    return text if text.isprintable() else well_formed(text).translate(JSON_ESCAPES)


def read_json(text: str, number: Callable[[str], float] | None = None) -> Any:
    """A JSON value that can be written again; `number` reads what has a fraction or an exponent.

    A key that stands twice is refused, since of two readers each may take another value; so is what Python reads and
    JSON does not know (`NaN`, `1e999`). Raises ValueError that says what is wrong, and no other error.
    """
    try:
        decoder = (
            _DECODER
            if number is None
            else json.JSONDecoder(object_pairs_hook=_members, parse_float=number, parse_constant=_no_number)
        )
        return decoder.decode(text)
    except RecursionError:
        raise TooDeepError(f"it nests deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        if "string conversion" in str(error):  # Python's words for a number of more digits than it converts
            raise ValueError("a number has too many digits") from None
        raise


def depth(value: Any) -> int:
    """How deep lists and mappings nest; 0 for a bare value. Without recursion, which is what it guards."""
    level, found = [value], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        found += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return found


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key `{visible(twice[:_SHOWN])}` is there twice")
    return members


def finite(word: str) -> float:
    """A number with a fraction or an exponent. Raises ValueError where it is too large to be one."""
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word[:_SHOWN]} is no number that JSON knows")
    return number


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number that JSON knows")


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_float=finite, parse_constant=_no_number)
