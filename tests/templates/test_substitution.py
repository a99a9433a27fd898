"""What is filled in without Jinja is what Jinja's sandbox gives, for text, values and faults alike."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any

import pytest

from vancectl.programs import bounded
from vancectl.templates import template as templates
from vancectl.templates.rendering import rendered
from vancectl.templates.substitution import substituted
from vancectl.templates.template import MAX_OUTPUT, render
from vancectl.templates.written import as_written

VARIABLES: dict[str, Any] = {
    "task": "write <b>&amp;</b> 'x' \"y\"\n {{ recipe }} {% if %} ü\ud800🚀",
    "recipe": "", "true": "shadowed", "self": "shadowed", "loop": "shadowed", "range": "own",
    "params": {
        "x": "1", "items": "own", "keys": 0, "n": None, "yes": True, "no": False, "f": 1.5, "big": 10**40,
        "nan": float("nan"), "huge": 10**5000, "list": [1, "a"], "map": {"in": {"deep": "er"}}, "if": "word",
        "not": "word", "__class__": "mine", "_": "u", "crlf": "a\r\nb\rc", "written": as_written(7, "007"),
        "norway": as_written(False, "no"), "nothing": as_written(None, "~"), "Ü": "not ASCII",
    },
}  # fmt: skip
PIECES = [
    "", " ", "text", "\n", "\r\n", "\r", "}", "}}", "{", "%}", "#}", "$", "{}", "{ {", "ü", "\t\n",
    "{{ task }}", "{{task}}", "{{\n task\t}}", "{{ recipe }}", "{{ missing }}", "{{ params }}", "{{ true }}",
    "{{ self }}", "{{ loop }}", "{{ range }}", "{{ dict }}", "{{ None }}", "{{ 1 }}", "{{ task.upper }}",
    "{{ task.upper() }}", "{{ params.x }}", "{{params . x}}", "{{ params['x'] }}", "{{ params.x | upper }}",
    "{{- task }}", "{{ task -}}", "{{+ task }}", "{{{ task }}}", "{{ {task } }}", "{{ task }}}", "{{ }}", "{{", "}}",
    "{{ task", "{# no #}", "{% if task %}", "{% endif %}", "{% raw %}", "{% endraw %}", "{{ params.x.y }}",
    "{{ params.map.in.deep }}", "{{ params.map.in }}", "{{ params.0 }}", "{{ params.x }}{{ params.n }}", "{{ a.b.c }}",
    *(f"{{{{ params.{name} }}}}" for name in VARIABLES["params"]), "{{ params.missing }}", "{{ Ü }}",
]  # fmt: skip


def same(text: str, variables: Mapping[str, Any] = VARIABLES) -> bool:
    """Whether it was filled in, and if so as the sandbox does."""
    plain = substituted(text, variables, MAX_OUTPUT)
    if plain is None:
        return False
    assert rendered(templates.source_of(text), dict(variables)) == {"text": plain}, repr(text)
    return True


def test_each_piece_alone_and_each_pair() -> None:
    filled = sum(same("".join(pair)) for pair in itertools.product(PIECES, repeat=2))
    assert filled > len(PIECES) ** 2 / 4, "most templates need no more"


def test_many_pieces_at_random() -> None:
    chance = random.Random(7)
    filled = sum(same("".join(chance.choices(PIECES, k=chance.randint(1, 6)))) for _ in range(3000))
    assert filled > 300


def test_characters_at_random() -> None:
    chance = random.Random(8)
    for _ in range(3000):
        same("".join(chance.choices("{}{}% #-tp.x\n\r", k=chance.randint(2, 14))), {"t": "T", "p": {"x": "X"}, "x": 1})


@pytest.mark.parametrize(
    "text",
    ["{{ missing }}", "{{ params.missing }}", "{{ task.missing }}", "{{ params.huge }}", "{{ params.x.y }}", "{{ task"],
)
def test_a_fault_is_the_sandbox_s(text: str) -> None:
    assert substituted(text, VARIABLES, MAX_OUTPUT) is None
    assert set(rendered(text, dict(VARIABLES))) & {"undefined", "syntax", "fails"}


def test_what_is_too_long_is_the_sandbox_s() -> None:
    assert substituted("{{ x }}{{ x }}", {"x": "a" * (MAX_OUTPUT // 2)}, MAX_OUTPUT) == "a" * MAX_OUTPUT
    assert substituted("{{ x }}{{ x }}b", {"x": "a" * (MAX_OUTPUT // 2)}, MAX_OUTPUT) is None


def test_no_child_is_started_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(bounded, "call", refuse)
    assert render("Say {{ params.x }} to {{ task }}.", {"task": "a", "params": {"x": 2}}, "the prompt") == "Say 2 to a."
