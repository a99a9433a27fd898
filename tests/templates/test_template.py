"""Templates come with projects: what one costs is bounded, and none gets out of its sandbox."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from tests.workspace import Workspace
from vancectl.errors import UsageError
from vancectl.programs.bounded import TooCostlyError, call
from vancectl.templates.template import render, template_fault

VARIABLES = {"params": {"x": "1", "items": ["a"]}, "recipe": "r"}
DOUBLED = "{% set n = namespace(t='x') %}{% for i in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t }}"
COSTLY = {
    "a power": "{{ 9 ** (9 ** 9) }}",
    "nested ranges": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "a long text": '{{ "x" * 4000000000 }}',
    "a long list": "{{ [0] * 999999999999 }}",
    "text that doubles": DOUBLED,
    "filler": "{{ lipsum(n=100000) }}",
    "a width": '{{ "%9999999999d" % 1 }}',
    "a width of a filter": "{{ 'x' | center(99999999999) }}",
    "a width of format": '{{ "{:9999999999}".format(1) }}',
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a loop that calls itself": "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "a long number": "{{ " + "9" * 5000 + " }}",
    "brackets": "{{ " + "[" * 1000 + "]" * 1000 + " }}",
    "parentheses": "{{ " + "(" * 90000 + ")" * 90000 + " }}",
    "blocks": "{% if 1 %}" * 5000,
    "braces": "{{" * 50000,
    "too much of a good thing": "{% for a in range(99999) %}0123456789abcdef{% endfor %}",
    "a template without end": "{{ 1 }}" * 100_000,
}
ESCAPES = [
    "{{ ''.__class__.__mro__ }}",
    '{{ ("{0.__init__.__globals__[os].environ}" | attr("format"))(params) }}',
    '{{ "{0.__class__}".format(params) }}',
    '{{ ["{0.__class__}"] | map("format", params) | list }}',
    "{{ self.__init__.__globals__ }}",
    "{{ cycler.__init__.__globals__.os }}",
    "{{ (params | attr('__class__')).__mro__ }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os.environ }}",
]


@pytest.mark.parametrize("kind", COSTLY)
def test_a_costly_template_ends(kind: str) -> None:
    call("vancectl.templates.rendering", "rendered", "", {})  # what the first one pays for all
    started = time.monotonic()
    with pytest.raises(UsageError, match="the template in the prompt"):
        render(COSTLY[kind], VARIABLES, "the prompt")
    template_fault(COSTLY[kind])
    assert time.monotonic() - started < 10  # one second of the processor, on a machine that may be busy
    assert render("{{ params.x }}", VARIABLES, "the prompt") == "1"


@pytest.mark.parametrize("template", ESCAPES)
def test_no_template_leaves_its_sandbox(template: str) -> None:
    try:
        text = render(template, VARIABLES, "the prompt")
    except UsageError:
        return
    assert all(word not in text for word in ("environ", "<class", "root:"))


def test_one_bad_template_is_one_finding(ws: Workspace) -> None:
    ws.recipe("P/recipes/brackets.yaml", promptPrefix=COSTLY["brackets"])
    ws.recipe("P/recipes/number.yaml", promptPrefix=COSTLY["a long number"])
    ws.recipe("P/recipes/syntax.yaml", promptPrefix="{% if %}")
    findings = ws.run("recipes", "lint", "--format", "json").expect(1).json["findings"]
    assert sorted(each["path"].rpartition("/")[2] for each in findings if each["code"] == "bad-template") == [
        "brackets.yaml",
        "number.yaml",
        "syntax.yaml",
    ]


@pytest.mark.parametrize("kind", ["a power", "text that doubles", "a width"])
def test_a_start_says_what_is_wrong_with_its_template(ws: Workspace, kind: str) -> None:
    ws.settings(spawn__command=["cat", "{system_file}"], spawn__stdin="none")
    ws.recipe("P/recipes/bad.yaml", promptPrefix=COSTLY[kind])
    failed = ws.run("delegate", "--recipe", "bad", "x")
    assert failed.status in {2, 3}
    assert "the template in the promptPrefix of `bad` fails" in failed.stderr


def test_a_child_gets_no_secret_and_no_module_of_the_project(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    ws.write("P/json.py", "raise SystemExit('of the project')")
    monkeypatch.chdir(ws.project)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    code = "from vancectl.programs.bounded import call; print(call('os', 'getenv', 'ANTHROPIC_API_KEY'))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_what_ends_its_process_is_a_fault() -> None:
    with pytest.raises(TooCostlyError, match="cannot be computed"):
        call("os", "_exit", 7)
    with pytest.raises(TooCostlyError, match="cannot be computed"):
        call("builtins", "int", "no number")
    assert call("builtins", "int", "7") == 7
