"""Reading one YAML file: which bytes give which values, and which words a broken file gets."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspace import Workspace
from vancectl.inventory.layer import Layer, LayerKind
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.inventory.schema import validate
from vancectl.reading.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES, Document
from vancectl.text.strict_json import to_json

HEAD = "description: x\nengine: ford\n"


def load(folder: Path, content: str | bytes) -> Recipe | BrokenRecipe:
    path = folder / "r.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return validate(Document.read(path), "r", Layer(LayerKind.PROJECT, folder))


def fields(folder: Path, content: str | bytes) -> dict[str, Any]:
    recipe = load(folder, content)
    assert isinstance(recipe, Recipe), recipe.fault
    return recipe.fields


def warnings(folder: Path, content: str | bytes) -> list[str]:
    """The warnings of a usable recipe, without the folder."""
    recipe = load(folder, content)
    assert isinstance(recipe, Recipe), recipe.fault
    return [finding.line().removeprefix(f"{folder}/") for finding in recipe.warnings]


def fault(folder: Path, content: str | bytes) -> str:
    """The first error of a broken recipe, without the folder."""
    recipe = load(folder, content)
    assert isinstance(recipe, BrokenRecipe), recipe.fields
    return recipe.fault.removeprefix(f"{folder}/")


# Values.


@pytest.mark.parametrize(
    "written",
    [
        "no", "on", "Yes", "true", "12:30", "007", "3000", "2024-01-01", "2024-01-01 10:00:00", "1.10", "0o14", "0x1F",
        "1_000", "1e3", ".nan", "-.inf", "=", "<<", "2024-13-45", "99999999999999999999999999", "C:\\dir", "a: 'b'",
        "it's", "Straße 🚀", "a:b", "#no comment", "C#",
    ],
)  # fmt: skip
def test_a_text_is_what_the_author_wrote(tmp_path: Path, written: str) -> None:
    quoted = f'"{written}"' if written.startswith("#") or ": " in written else written
    content = f"description: {quoted}\nengine: ford\ntitle: {quoted}\ntags:\n  - {quoted}\n"
    found = fields(tmp_path, content)
    assert (found["description"], found["title"], found["tags"]) == (written, written, [written])


@pytest.mark.parametrize("written", ["", "~", "null", "Null"])
def test_null_says_nothing(tmp_path: Path, written: str) -> None:
    content = HEAD + f"title: {written}\nlisted: {written}\ntags: {written}\nparams: {written}\ntriggers: {written}\n"
    recipe = load(tmp_path, content)
    assert isinstance(recipe, Recipe)
    assert (recipe.title, recipe.listed, recipe.tags, recipe.params, recipe.phrases) == (None, True, [], {}, [])


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("plain text", "plain text"),
        ("", None),
        ("~", None),
        ('"~"', "~"),
        ("no", False),
        ("'no'", "no"),
        ("on", True),
        ("007", 7),
        ("-0x1F", -31),
        ("0b11", 3),
        ("+5", 5),
        ("1_000", 1000),
        ("1.10", 1.1),
        ("1.5e+3", 1500.0),
        (".5", 0.5),
        ("2026-03-05", "2026-03-05"),
        ("2026-03-05 10:00:00", "2026-03-05T10:00:00"),
        ("2026-03-05T10:00:00Z", "2026-03-05T10:00:00+00:00"),
        ("!!binary aGk=", "aGk="),
        ("!!set {a, b}", ["a", "b"]),
        ("!!omap [a: 1]", [{"a": 1}]),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        (".nan", ".nan"),
        ("-.inf", "-.inf"),
        ("=", "="),
        ("[1, [a, {b: no}]]", [1, ["a", {"b": False}]]),
        ("{1: a, no: b, 2024-01-01: c, ~: d}", {"1": "a", "no": "b", "2024-01-01": "c", "~": "d"}),
        ("|\n    two\n    lines", "two\nlines\n"),
        (">\n    two\n    lines", "two lines\n"),
    ],
)
def test_a_param_is_what_json_knows(tmp_path: Path, written: str, value: object) -> None:
    content = HEAD + f"params:\n  p: {written}\n"
    assert fields(tmp_path, content)["params"] == {"p": value}
    assert warnings(tmp_path, content) == []


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("12:30", "a number"),
        ("1:30.5", "a number"),
        ("2024-13-45", "a date"),
        ("2026-02-30 10:00:00", "a date"),
        ("0b_", "a number"),
        ("1e3", "a number"),
        ("0o14", "a number"),
        ("!!int many", "a number"),
        ("!!float ''", "a number"),
        ("!!bool maybe", "true or false"),
        ("!!timestamp soon", "a date"),
        ("9" * 1001, "a number"),
    ],
)
def test_a_param_that_is_no_such_value_stays_text(tmp_path: Path, written: str, kind: str) -> None:
    text = written.split(" ", 1)[1].strip("'") if written.startswith("!!") else written
    content = HEAD + f"params:\n  p: {written}\n"
    assert fields(tmp_path, content)["params"] == {"p": text}
    shown = text if len(text) < 500 else text[:500] + "…"
    assert warnings(tmp_path, content) == [f"r.yaml:4:6: `{shown}` is kept as text, not read as {kind} (quote it)"]


@pytest.mark.parametrize("written", ["!env TOKEN", "!!python/name:os.system ''", "!secret [1]", "!t {a: 1}"])
def test_an_unknown_tag_does_nothing_and_is_reported(tmp_path: Path, written: str) -> None:
    (warning,) = warnings(tmp_path, HEAD + f"params:\n  p: {written}\n")
    tag = written.split(" ", maxsplit=1)[0].replace("!!", "tag:yaml.org,2002:")
    assert warning == f"r.yaml:4:6: the tag `{tag}` is not known here and has no effect (remove it)"


@pytest.mark.parametrize(
    ("written", "value"),
    [("yes", True), ("Off", False), ("TRUE", True), ('"no"', False), ("on", True), ("", False)],
)
def test_a_flag_takes_every_word_for_yes_and_no(tmp_path: Path, written: str, value: bool) -> None:
    recipe = load(tmp_path, HEAD + f"internal: {written}\n")
    assert isinstance(recipe, Recipe)
    assert recipe.internal is value


def test_merge_keys_are_followed_and_the_nearer_one_wins(tmp_path: Path) -> None:
    content = """\
description: x
params:
  far: &far {a: far, b: far, c: far}
  near: &near {<<: *far, a: near, b: near}
  both: {<<: [*near, *far], a: own}
base: &base {engine: ford, title: base}
middle: &middle {<<: *base, title: middle}
<<: *middle
"""
    found = fields(tmp_path, content)
    assert found["params"]["both"] == {"a": "own", "b": "near", "c": "far"}
    assert (found["engine"], found["title"]) == ("ford", "middle")


# Text around ` #`.


@pytest.mark.parametrize(
    ("line", "value", "column"),
    [
        ("title: Close issue #12 fast", "Close issue", 19),
        ("title: one\n  two #3", "one two", 6),
        ("tags: [fix #12\n  ]", ["fix"], 11),
        ("params: {p: fix #12\n  }", {"p": "fix"}, 16),
    ],
)
def test_text_that_is_cut_off_as_a_comment_is_reported(tmp_path: Path, line: str, value: object, column: int) -> None:
    content = HEAD + line + "\n"
    assert fields(tmp_path, content)[line.partition(":")[0]] == value
    at = 4 if "\n  two" in line else 3
    assert warnings(tmp_path, content) == [
        f"r.yaml:{at}:{column}: the text after ` #` is a comment (quote the value if the text belongs to it)"
    ]


@pytest.mark.parametrize(
    "line", ["title: C#", "title: 'fix #12'", "title: x # a remark", "title: x   #aligned", "title: |  # text\n  a #1"]
)
def test_a_real_comment_is_not_reported(tmp_path: Path, line: str) -> None:
    assert warnings(tmp_path, HEAD + line + "\n") == []


# Bytes.


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfdescription: x\nengine: ford\n",
        b"---\n\xef\xbb\xbfdescription: x\nengine: ford\n",
        b"\xef\xbb\xbf---\n\xef\xbb\xbfdescription: x\nengine: ford\n",
        b"description: x\r\nengine: ford\r\n",
        b"description: x\rengine: ford\r",
        b"description: x\nengine: ford",
        b"description: x\nengine: ford\n---\n",
        b"description: x\nengine: ford\n---\n# nothing\n...\n",
        b"%YAML 1.2\n---\ndescription: x\nengine: ford\n",
        b"description:\tx\nengine:\tford\n",
        b'{"description": "x", "engine": "ford"}',
    ],
    ids=["bom", "bom behind ---", "two boms", "crlf", "cr", "no line end", "trailing ---", "empty second", "directive",
         "tabs between", "json"],
)  # fmt: skip
def test_these_bytes_are_fine(tmp_path: Path, content: bytes) -> None:
    assert fields(tmp_path, content) == {"description": "x", "engine": "ford"}
    assert warnings(tmp_path, content) == []


NOT_MAPPING = "top level must be a mapping (found {}) (write `key: value` lines)"
TOO_LARGE = "is too large or deep, or its aliases expand too far (more than {}) (make it smaller)"
BAD_CHARACTER = "holds the character {}, which YAML does not allow here (remove it)"
TAB = "a tab is used for indentation (indent with spaces)"
QUOTE = " (put the value in quotes)"
SYNTAX = "is not valid YAML: "


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "r.yaml: " + NOT_MAPPING.format("empty")),
        ("# todo\n", "r.yaml: " + NOT_MAPPING.format("empty")),
        ("---\n...\n", "r.yaml:2:1: " + NOT_MAPPING.format("empty")),
        ("- a\n", "r.yaml:1:1: " + NOT_MAPPING.format("a list")),
        ("just text\n", "r.yaml:1:1: " + NOT_MAPPING.format("text")),
        ("3\n", "r.yaml:1:1: " + NOT_MAPPING.format("a number")),
        (b"\xff\xfed\0e\0", "r.yaml:1: is not UTF-8 text (save the file as UTF-8)"),
        (b"description: x\nengine: gr\xfcn\n", "r.yaml:2: is not UTF-8 text (save the file as UTF-8)"),
        (b"d\0e\0", "r.yaml:1: " + BAD_CHARACTER.format("U+0000")),
        ("description: x\r\rengine: a\x1bb\n", "r.yaml:3: " + BAD_CHARACTER.format("U+001B")),
        ("description: x\nengine: a\x9bb\n", "r.yaml:2: " + BAD_CHARACTER.format("U+009B")),
        ("description: x\nengine: a\ufffeb\n", "r.yaml:2: " + BAD_CHARACTER.format("U+FFFE")),
        ("description: a\u2028b\nengine: ford\n", "r.yaml:1: " + BAD_CHARACTER.format("U+2028")),
        (HEAD + "triggers:\n\tkeywords: [a]\npromptPrefix: |\n  a\u2028  b\n", "r.yaml:4:1: " + TAB),
        (HEAD + "triggers:\n\tkeywords: [a]\n", "r.yaml:4:1: " + TAB),
        (HEAD + "params:\n  a: 1\n\tb: 2\n", "r.yaml:5:1: " + TAB),
        (HEAD + "title: |\n\tx\n", "r.yaml:4:1: " + TAB),
        ("description: `lint` it\n", f"r.yaml:1:14: {SYNTAX}found character that cannot start any token{QUOTE}"),
        ("description: @team do\n", f"r.yaml:1:14: {SYNTAX}found character that cannot start any token{QUOTE}"),
        ("description: %d things\n", f"r.yaml:1:14: {SYNTAX}found character that cannot start any token{QUOTE}"),
        ("description: *bold* claim\n", f"r.yaml:1:19: {SYNTAX}did not find expected alphabetic or numeric character"
         + QUOTE),
        ("description: *bold claim\n", f"r.yaml:1:14: {SYNTAX}found undefined alias{QUOTE}"),
        ("description: [WIP] review\n", f"r.yaml:1:20: {SYNTAX}did not find expected key{QUOTE}"),
        ("description: {{ project }} review\n", f"r.yaml:1:28: {SYNTAX}did not find expected key{QUOTE}"),
        ("description: Use when: a query\n", f"r.yaml:1:22: {SYNTAX}mapping values are not allowed in this context"
         + QUOTE),
        ("description: x\nengine: 'ford\ntitle: y\n",
         "r.yaml:2:9: a quote is opened here and never closed (close the quote)"),
        (HEAD + "params: {a: &a 1, b: &a 2}\n",
         f"r.yaml:3:22: {SYNTAX}found duplicate anchor (correct the syntax near this place)"),
        ("---\ndescription: x\nengine: ford\n---\ndescription: y\nengine: ford\n",
         "r.yaml:5:1: holds more than one YAML document (keep one document a file)"),
        ("description: x\nengine: ford\nengine: arthur\n",
         "r.yaml:3:1: the key `engine` is there twice (first on line 2) (keep one of the two)"),
        (HEAD + "params:\n  a: 1\n  'a': 2\n",
         "r.yaml:5:3: the key `a` is there twice (first on line 4) (keep one of the two)"),
        (HEAD + "params:\n  ? [a, b]\n  : 1\n",
         "r.yaml:4:5: a key must be plain text (found a list) (write the key as text)"),
        (HEAD + "<<: text\n", "r.yaml:3:5: `<<` must be a mapping (found text) (write a mapping)"),
        (HEAD + "<<: [[a]]\n", "r.yaml:3:6: `<<` must be a mapping (found a list) (write a mapping)"),
        (HEAD + "params: &p\n  <<: *p\n", "r.yaml:3:9: an alias refers to itself (remove the alias)"),
        (HEAD + "params: &p\n  deep: [*p]\n", "r.yaml:3:9: an alias refers to itself (remove the alias)"),
        (HEAD + "params:\n  z: &z [*z]\n", "r.yaml:4:6: an alias refers to itself (remove the alias)"),
        ("description: " + "[" * 3000 + "]" * 3000, "r.yaml:1:1013: " + TOO_LARGE.format("100 levels")),
        (HEAD + "params: {p: " + "[" * 900 + "]" * 900 + "}", "r.yaml:3:112: " + TOO_LARGE.format("100 levels")),
        (HEAD + "# " + "x" * MAX_BYTES, "r.yaml: " + TOO_LARGE.format("1,000,000 bytes")),
    ],
    ids=[
        "empty", "comment", "markers", "list", "text", "number", "utf-16", "latin-1", "nul", "escape, lone cr", "c1",
        "noncharacter", "line separator", "line separator elsewhere", "tab", "tab after spaces", "tab in block",
        "backtick", "at sign", "percent", "alias", "undefined alias", "bracket", "braces", "colon", "open quote",
        "anchor twice", "two documents", "key twice", "key twice, quoted", "list as key",
        "merged text", "merged lists", "merged into itself", "cycle",
        "list in itself", "deep", "deep param", "huge",
    ],
)  # fmt: skip
def test_what_is_said_of_a_broken_file(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert fault(tmp_path, content) == message


def test_the_deepest_and_the_largest_that_is_read(tmp_path: Path) -> None:
    deepest = HEAD + "guard: " + "[" * (MAX_DEPTH - 1) + "1" + "]" * (MAX_DEPTH - 1)
    assert to_json(fields(tmp_path, deepest)).count("[") == MAX_DEPTH - 1
    head = HEAD + "promptPrefix: "
    largest = head + "x" * (MAX_BYTES - len(head))
    assert len(fields(tmp_path, largest)["promptPrefix"]) == MAX_BYTES - len(head)


def many(anchor: str, lists: int, length: int) -> str:
    """`length` aliases to a list of `length` aliases to …: a few hundred bytes that mean any number of values."""
    lines = [f"  {anchor}0: &{anchor}0 [{', '.join(['1'] * length)}]"]
    for level in range(1, lists):
        lines.append(f"  {anchor}{level}: &{anchor}{level} [{', '.join([f'*{anchor}{level - 1}'] * length)}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "content",
    [
        HEAD + "params:\n" + many("a", 9, 9) + "\n",
        HEAD + "unknown:\n" + many("a", 9, 9) + "\nother:\n" + many("b", 9, 9) + "\n",
        HEAD + "first: &a [" + "1, " * 900 + "]\n" + "".join(f"k{n}: *a\n" for n in range(9000)),
        HEAD + "params: {p: &p {" + ", ".join(f"k{n}: 1" for n in range(900)) + "}}\n"
        + "profiles: {" + ", ".join(f"p{n}: {{params: *p}}" for n in range(9000)) + "}\n",
        HEAD + "allowedToolsAdd: &a [" + "t, " * 900 + "]\nprofiles: {"
        + ", ".join(f"p{n}: {{allowedToolsAdd: *a}}" for n in range(9000)) + "}\n",
        HEAD + "profiles: {p: &p {" + ", ".join(f"a{n}: 1, a{n}: 2" for n in range(9000)) + "}, "
        + ", ".join(f"p{n}: *p" for n in range(9000)) + "}\n",
        HEAD + "base: &b {<<: [" + ", ".join(f"{{k{n}: 1}}" for n in range(9000)) + "]}\n"
        + "params: {" + ", ".join(f"p{n}: *b" for n in range(9000)) + "}\n",
        HEAD + "promptPrefix: &p " + "x" * 500_000 + "\ntags: [" + "*p, " * 9000 + "]\n",
        HEAD + "params:\n  ? &k " + "k" * 500_000 + "\n  : 1\n  p: [" + "{*k : 1}, " * 9000 + "]\n",
    ],
    ids=["lists", "unknown keys", "many small ones", "profiles", "tools", "keys twice", "merges", "long text",
         "long key"],
)  # fmt: skip
def test_aliases_cannot_make_a_small_file_endless(tmp_path: Path, content: str) -> None:
    recipe = load(tmp_path, content)
    assert isinstance(recipe, BrokenRecipe)
    assert "its aliases expand too far" in " ".join(finding.sentence() for finding in recipe.findings)
    assert len(recipe.findings) <= MAX_VALUES


def test_an_alias_bomb_takes_neither_time_nor_memory_and_hides_nothing(ws: Workspace) -> None:
    ws.write("P/recipes/bomb.yaml", HEAD + "params:\n" + many("a", 9, 9) + "\n  z: &z [*z]\n")
    ws.recipe("P/recipes/good.yaml")
    ws.write("B/recipes/default.yaml", HEAD)
    ws.command = ("sh", "-c", 'ulimit -v 500000; exec "$0" "$@"', *ws.command)
    rows = ws.run("recipes", "list", "--json", timeout=5).expect(0).json
    assert [(row["name"], "error" in row) for row in rows] == [("default", False), ("bomb", True), ("good", False)]


# Any bytes at all.

WORDS = st.sampled_from(
    ["description", "engine", "params", "profiles", "triggers", "keywords", "tags", "ford", ": ", ":", "- ", "? ",
     "\n", "\n  ", "\n    ", "[", "]", "{", "}", ", ", "&a ", "*a", "<<: *a", "<<", "!!int ", "!!set ", "!!binary ",
     "!!merge ", "!!null ", "!x ", "'", '"', "|\n", ">-\n", "#", " #", "\t", "---\n", "...\n", "~", "no", "1:30", "0x",
     "0b_", "-", "+", ".nan", "1e999", "2024-13-45", "2024-01-01T", "9" * 5000, "\x85", "\u2028", "\ufeff", "\xa0",
     "\\", "\\ud800", "\0"]
)  # fmt: skip


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch") / "r.yaml"


def survives(path: Path, data: bytes) -> None:
    """Reading gives a recipe whose fields are strict JSON, or a broken one with words for it."""
    path.write_bytes(data)
    recipe = validate(Document.read(path), "r", Layer(LayerKind.PROJECT, path.parent))
    if isinstance(recipe, BrokenRecipe):
        assert recipe.fault.startswith(str(path))
    else:
        assert recipe.description.strip()
        assert recipe.engine.strip()
        assert json.loads(to_json(recipe.fields)) == recipe.fields
    found = recipe.findings if isinstance(recipe, BrokenRecipe) else recipe.warnings
    assert all(finding.line().isprintable() for finding in found)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(scratch: Path, data: bytes) -> None:
    survives(scratch, data)


@settings(max_examples=200, deadline=None)
@given(scraps=st.lists(WORDS, max_size=25).map("".join))
def test_any_scraps_of_yaml_are_read_or_refused(scratch: Path, scraps: str) -> None:
    for head in ("", HEAD, HEAD + "params:\n  p: "):
        survives(scratch, (head + scraps).encode())


# A file that changes under the reader.


def test_a_file_that_is_swapped_for_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("description: x\nengine: ford\n")
    (tmp_path / "a.yaml").symlink_to("secret")
    document = Document.read(tmp_path / "a.yaml", follow=False)
    assert [finding.code for finding in document.findings] == ["unreadable"]
    assert Document.read(tmp_path / "a.yaml").root is not None


def test_a_file_that_is_written_to_meanwhile_is_not_taken_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("description: x\nengine: ford\n")
    real, calls = os.fstat, []

    def growing(handle: int) -> os.stat_result:
        calls.append(handle)
        if len(calls) <= always:
            with path.open("a") as file:
                file.write("# more\n")
        return real(handle)

    monkeypatch.setattr(os, "fstat", growing)
    always = 2
    assert Document.read(path).lines[-1] == "# more"
    always = 10**6
    assert [finding.data["reason"] for finding in Document.read(path).findings] == ["it is being written to"]


# What would take long is refused, with its line.

HEAD = "description: x\nengine: ford\n"
COSTLY = {
    "directives": "".join(f"%TAG !a{i}! tag:x{i},2000:\n" for i in range(35_000)) + f"---\n{HEAD}",
    "deep flow": f"{HEAD}x: {'[' * 999}{'a,' * 490_000}",
    "wide flow": f"{HEAD}x: {'[' * 90}{'a,' * 400_000}{']' * 90}",
    "unknown keys": HEAD + "".join(f"keyx{i}: 1\n" for i in range(9_900)),
    "anchors": HEAD + "".join(f"k{i}: &a{i} x\n" for i in range(50_000)),
    "documents": HEAD + "---\n" * 200_000,
    "a key again and again": HEAD + "a: 1\n" * 100_000,
    "tags": f"{HEAD}x: [{'!a b,' * 100_000}]\n",
    "openings of conflicts": HEAD + "<<<<<<< \n" * 100_000,
}


@pytest.mark.parametrize("kind", COSTLY)
def test_what_would_take_long_is_refused(kind: str) -> None:
    started = time.process_time()
    document = Document.of_text(Path("x.yaml"), COSTLY[kind])
    validate(document, "x", Layer(LayerKind.PROJECT, Path()))
    lines = [finding.line() for finding in document.findings]
    assert time.process_time() - started < 2
    assert 1 <= len(lines) <= 102
    assert all(line.startswith("x.yaml:") for line in lines)


@pytest.mark.parametrize("value", ["!!set {a, b}", "!!omap [a: 1]", "!!pairs [a: 1]", "!!set [a]", "!!binary eA==",
                                   "!!timestamp 2001-01-01", "!!python/object/apply:os.getcwd []", "!!null {a: 1}",
                                   "!!int {a: 1}", "!!map x", "!!merge {a: 1}"])  # fmt: skip
@pytest.mark.parametrize("field", ["params", "modes", "triggers", "profiles", "guard", "tags", "internal", "title"])
def test_an_odd_tag_is_a_finding_or_a_value(field: str, value: str) -> None:
    document = Document.of_text(Path("x.yaml"), f"{HEAD}{field}: {value}\n")
    recipe = validate(document, "x", Layer(LayerKind.PROJECT, Path()))
    if isinstance(recipe, Recipe):
        to_json(recipe.fields)
        dict(recipe.params), dict(recipe.profiles), recipe.phrases, recipe.tags  # they must not raise


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("description: x\n engine: ford\n", "x.yaml:2:8", "the indentation is wrong"),
        ("params:\n  a: 1\n    b: 2\n", "x.yaml:3:6", "the indentation is wrong"),
        ("description: x\nengine: ford\ntitle: 'x\n", "x.yaml:3:8", "a quote is opened here and never closed"),
        ('title: "x\n', "x.yaml:1:8", "a quote is opened here and never closed"),
        ("description: a: b\n", "x.yaml:1:15", "put the value in quotes"),
        (
            "triggers:\n  keywords:\n<<<<<<< HEAD\n    - a\n=======\n    - b\n>>>>>>> x\n",
            "x.yaml:3",
            "conflict markers",
        ),
        ("<<<<<<< HEAD\ndescription: A\n=======\ndescription: B\n>>>>>>> x\n", "x.yaml:1", "conflict markers"),
        (f"{HEAD}keywords: [a]\n", "x.yaml:3:1", "it belongs under `triggers`, as `triggers.keywords`"),
    ],
)
def test_the_remedy_speaks_of_the_cause(text: str, place: str, told: str) -> None:
    document = Document.of_text(Path("x.yaml"), text)
    validate(document, "x", Layer(LayerKind.PROJECT, Path()))
    (line,) = [finding.line() for finding in document.findings if finding.code != "missing-field"]
    assert line.startswith(f"{place}: ")
    assert told in line


def test_markers_of_conflicts_in_a_prompt_are_text() -> None:
    text = f"{HEAD}promptPrefix: |\n  <<<<<<< HEAD\n  a\n  =======\n  b\n  >>>>>>> x\n"
    assert Document.of_text(Path("x.yaml"), text).findings == []


@pytest.mark.parametrize("file", ["P/recipes/a.yaml", "T/settings.yaml", "P/routes.yaml", "P/project.yaml"])
def test_every_file_speaks_of_its_conflict(ws: Workspace, file: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.write(file, "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n")
    told = [ws.run(*words) for words in (["recipes", "lint"], ["check"], ["settings", "show"])]
    assert any("conflict markers" in run.stdout + run.stderr for run in told)
    assert all("unexpectedly" not in run.stderr for run in told)
