"""Turns a good file into a bad one: in its bytes, its lines, its encoding, and in the values that it holds."""

# ruff: noqa: E501  # the tables of tokens are no prose

from __future__ import annotations

import codecs
import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

import yaml

# What parsers, terminals and comparisons stumble over, wherever it is put.
TOKENS: tuple[bytes, ...] = (
    b"\0", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\t", b"\x0b", b"\x0c", b"\x1b[31m", b"\x7f", b"\xc2\x85", b"\xff", b"\xc3",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u2028".encode(), "\u2029".encode(), "\u200b".encode(), "\u202e".encode(),
    "\ufeff".encode(), "\U000e0041".encode(), "e\u0301".encode(), "\ufffe".encode(), "ẞﬀİ".encode(), b"\\ud800", b'"\\ud83d"',
    b"&a ", b"*a", b"<<: *a\n", b"<<: {a: 1}\n", b"!!python/object/apply:os.system [true]\n", b"!!binary aGk=", b"!!set {a, b}",
    b"!!omap [a: 1]", b"!!timestamp 2026-01-01", b"!!float x", b"!!int x", b"!x y", b"%YAML 1.3\n---\n", b"%TAG ! tag:x,2000:\n---\n",
    b"---\n", b"...\n", b"? [a, b]\n: c\n", b"? {a: b}\n: c\n", b"- ", b": ", b"#", b"'", b'"', b"[", b"{", b"}", b"]", b"|\n", b">-\n", b",",
    b"1e999", b"-1e999", b".inf", b".nan", b"NaN", b"Infinity", b"0o17", b"0x_", b"1:30", b"190:20:30.15", b"2026-13-45", b"no", b"~", b"null",
    b"9" * 400, b"-" + b"9" * 5000, b"1_000", b"1e3", b"-0", b"0.0", b"[" * 200, b"{a: " * 200, b'{"a":' * 3000, b"- " * 500, b"[" * 20000,
    b"{{", b"}}", b"{% for x in y %}", b"{{ 9**9**9 }}", b"{{ a.b.c }}", b"{% include '/etc/passwd' %}", b"{task}", b"{", b"$(true)", b"`true`",
    b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> other\n", b"../../etc/passwd", b"/dev/zero", b"::error::x\n", b"x" * 70_000,
    "a\u0301".encode() + "\u0301".encode() * 3000,
)  # fmt: skip

# What stands in the place of a value. Each is laid by itself, so that no other value of the file is at fault.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**70), 10**400, 0.5, -0.0, float("inf"), float("nan"), 1e308, 1e-320, "", " ", "\n", "x", "\0",
    "\ud800", "\u2028", "no", "1:30", "007", "3.10", "x" * 5000, "../x", "/dev/zero", "{{ x", "{{ 9**9**9 }}", "{x}", "NONE", "auto", [], {}, [[]],
    [None], [0], [""], [{}], ["x"] * 300, {"": ""}, {"x": None}, {"x": {"x": {"x": []}}}, ["a", ["b"], {"c": 1}], {str(number): 1 for number in range(300)},
)  # fmt: skip

Mutator = Callable[[Random, bytes], bytes]


def mutate(random: Random, data: bytes) -> bytes:
    """One to four changes; those to the values come first, since they need what can still be read."""
    changes = random.choice((1, 1, 1, 2, 2, 3, 4))
    for number in range(changes):
        kinds = (*(VALUE_CHANGES * 3), *BYTE_CHANGES) if number == 0 else BYTE_CHANGES
        data = random.choice(kinds)(random, data)
    return data[:2_000_000]


def _insert(random: Random, data: bytes) -> bytes:
    place = random.randint(0, len(data))
    return data[:place] + random.choice(TOKENS) + data[place:]


def _insert_at_edge(random: Random, data: bytes) -> bytes:
    """Before or after a sign that means something to the parser."""
    places = [index for index, byte in enumerate(data) if byte in b"\n:,-[]{}\"'"]
    place = random.choice(places or [0]) + random.randint(0, 1)
    return data[:place] + random.choice(TOKENS) + data[place:]


def _flip(random: Random, data: bytes) -> bytes:
    changed = bytearray(data or b"x")
    for _ in range(random.randint(1, 4)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _cut(random: Random, data: bytes) -> bytes:
    first, last = sorted((random.randint(0, len(data)), random.randint(0, len(data))))
    return data[:first] if random.random() < 0.5 else data[:first] + data[last:]


def _lines(random: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    place = random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            lines.insert(random.randint(0, len(lines)), lines[place])  # a key twice
        case 1:
            del lines[place]
        case 2:
            random.shuffle(lines)
        case 3:
            lines[place] = random.choice((b" ", b"\t", b"    ")) + lines[place]
        case _:
            lines[place] *= random.choice((2, 50, 2000))
    return b"".join(lines)


def _encode(random: Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    match random.randrange(6):
        case 0:
            return codecs.BOM_UTF8 + data
        case 1:
            return text.encode("utf-16")
        case 2:
            return text.encode("utf-16-le", "replace")
        case 3:
            return text.encode("utf-32")
        case 4:
            return (text + "ü€").encode("cp1252", "replace")
        case _:
            return data.replace(b"\n", random.choice((b"\r\n", b"\r", b"\xc2\x85", "\u2028".encode())))


def _value(random: Random, data: bytes) -> bytes:
    """Another value, or another type of value, at one place."""

    def change(holder: Any, key: Any) -> None:
        holder[key] = copy.deepcopy(random.choice(VALUES))

    return _restructure(random, data, change)


def _wrap(random: Random, data: bytes) -> bytes:
    """The value one level deeper than it belongs, or beside another."""

    def change(holder: Any, key: Any) -> None:
        held = holder[key]
        holder[key] = random.choice(([held], [held, held], {"x": held}, {str(held)[:9]: held}, str(held), [held] * 40))

    return _restructure(random, data, change)


def _key(random: Random, data: bytes) -> bytes:
    """A key is lost, renamed, or of another type."""

    def change(holder: Any, key: Any) -> None:
        held = holder.pop(key)
        if not isinstance(holder, list) and random.random() < 0.7:
            other = random.choice(
                (str(key).upper(), f"{key} ", f"{key}s", "", "x", 1, None, True, 1.5, "\u200b" + str(key))
            )
            holder[other] = held

    return _restructure(random, data, change)


def _restructure(random: Random, data: bytes, change: Callable[[Any, Any], None]) -> bytes:
    text = data.decode("utf-8", "replace")
    lines = text.splitlines(keepends=True)
    try:
        if len(lines) > 1 and all(line.startswith(("{", "[")) for line in lines):  # JSON lines
            index = random.randrange(len(lines))
            lines[index] = json.dumps(_changed(random, json.loads(lines[index]), change)) + "\n"
            return "".join(lines).encode()
        if text.startswith(("{", "[")):
            return json.dumps(_changed(random, json.loads(text), change)).encode()
        return yaml.safe_dump(_changed(random, yaml.safe_load(text), change), sort_keys=False).encode()
    except (ValueError, TypeError, AttributeError, yaml.YAMLError, RecursionError):
        return _insert(random, data)  # no structure to change


def _changed(random: Random, document: Any, change: Callable[[Any, Any], None]) -> Any:
    root = [document]
    change(*random.choice(list(_places(root))))
    return root[0] if root else None


def _places(holder: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for key, held in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        found.append((holder, key))
        if isinstance(held, dict | list):
            found += _places(held)
    return found


VALUE_CHANGES: tuple[Mutator, ...] = (_value, _wrap, _key)
BYTE_CHANGES: tuple[Mutator, ...] = (_insert, _insert_at_edge, _flip, _cut, _lines, _encode)
