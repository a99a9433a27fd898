"""Recipe fields: what each may hold, what is left out, and what is said of the rest."""

from pathlib import Path

import pytest

from tests.workspace import Workspace
from vancectl.inventory.layer import Layer, LayerKind
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.inventory.schema import validate
from vancectl.reading.document import Document

HEAD = "description: x\nengine: ford\n"

FULL = """\
title: Deploy
description: Deploys.
engine: ford
listed: false
internal: true
locked: yes
tags: [ops, 2024]
params: {model: default:fast, depth: 3}
promptPrefix: |
  You deploy.
promptMode: Overwrite
dataRelayCorrection: "no"
allowedToolsAdd: [a]
allowedToolsRemove: [b]
allowedToolsDefer: [c]
allowedToolsKeep: [d]
allowedToolsDropFirst: [e]
modes: {plan: {on: true}}
profiles:
  fast:
    params: {depth: 1}
    promptPrefixAppend: Be quick.
    allowedToolsAdd: [z]
    modes: {plan: {on: false}}
    session: {fresh: true}
  empty:
defaultActiveSkills: [s]
allowedSkills: [s, t]
triggers: {keywords: [deploy it], match: Word}
guard: [anything, {goes: here}]
"""


def load(folder: Path, content: str) -> Recipe | BrokenRecipe:
    path = folder / "r.yaml"
    path.write_text(content, encoding="utf-8")
    return validate(Document.read(path), "r", Layer(LayerKind.PROJECT, folder))


def findings(folder: Path, content: str) -> list[str]:
    """All of them, without the folder and without what to do."""
    recipe = load(folder, content)
    found = recipe.findings if isinstance(recipe, BrokenRecipe) else recipe.warnings
    return [f"{finding.place.line}:{finding.place.column} {finding.sentence()}" for finding in found]


def test_every_field_is_known(tmp_path: Path) -> None:
    recipe = load(tmp_path, FULL)
    assert isinstance(recipe, Recipe)
    assert recipe.warnings == ()
    assert (recipe.title, recipe.description, recipe.engine) == ("Deploy", "Deploys.", "ford")
    assert (recipe.listed, recipe.internal, recipe.locked, recipe.whole_words) == (False, True, True, True)
    assert (recipe.tags, recipe.params, recipe.phrases) == (
        ["ops", "2024"],
        {"model": "default:fast", "depth": 3},
        ["deploy it"],
    )
    assert recipe.profiles == {
        "fast": {
            "params": {"depth": 1},
            "promptPrefixAppend": "Be quick.",
            "allowedToolsAdd": ["z"],
            "modes": {"plan": {"on": False}},
            "session": {"fresh": True},
        },
        "empty": {},
    }
    assert recipe.fields["promptMode"] == "overwrite"
    assert recipe.fields["dataRelayCorrection"] == "no"
    assert recipe.fields["guard"] == ["anything", {"goes": "here"}]


def test_description_and_engine_are_enough(tmp_path: Path) -> None:
    recipe = load(tmp_path, "description: x\nengine: ' ford '\n")
    assert isinstance(recipe, Recipe)
    assert recipe.fields == {"description": "x", "engine": "ford"}
    assert (recipe.listed, recipe.internal, recipe.locked, recipe.whole_words) == (True, False, False, False)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("title: x\n", ["1:1 the field `description` is missing", "1:1 the field `engine` is missing"]),
        ("description: ' '\nengine: ford\n", ["1:1 the field `description` is missing"]),
        ("description: x\nengine:\n", ["1:1 the field `engine` is missing"]),
        ("description: [a, b]\nengine: ford\n", ["1:14 `description` must be text (found a list)"]),
        ("description: x\nengine: {name: ford}\n", ["2:9 `engine` must be text (found a mapping)"]),
        ("description: !!binary aGk=\nengine: ford\n",
         ["1:14 `description` must be text (found the tag tag:yaml.org,2002:binary)"]),
        ("description: !note x\nengine: ford\n", ["1:14 `description` must be text (found the tag !note)"]),
        (HEAD + "internal: 1\n", ["3:11 `internal` must be true or false (found a number)"]),
        (HEAD + "listed: y\n", ["3:9 `listed` must be true or false (found text)"]),
        (HEAD + "locked: [yes]\n", ["3:9 `locked` must be true or false (found a list)"]),
        (HEAD + "tags: one, two\n", ["3:7 `tags` must be a list (found text)"]),
        (HEAD + "tags: [a, [b]]\n", ["3:11 `tags[]` must be text (found a list)"]),
        (HEAD + "params: [a]\n", ["3:9 `params` must be a mapping (found a list)"]),
        (HEAD + "params: 2024-01-01\n", ["3:9 `params` must be a mapping (found a date)"]),
        (HEAD + "promptMode: replace\n", ["3:13 `promptMode` is `replace`, but must be one of append | overwrite"]),
        (HEAD + "modes: on\n", ["3:8 `modes` must be a mapping (found true or false)"]),
        (HEAD + "profiles: {a: [], b: {params: 1}}\n",
         ["3:15 `profiles.a` must be a mapping (found a list)",
          "3:31 `profiles.b.params` must be a mapping (found a number)"]),
        (HEAD + "triggers: fix it\n", ["3:11 `triggers` must be a mapping (found text)"]),
        (HEAD + "triggers: [fix it]\n", ["3:11 `triggers` must be a mapping (found a list)"]),
        (HEAD + "triggers: {keywords: fix it}\n", ["3:22 `triggers.keywords` must be a list (found text)"]),
        (HEAD + "triggers: {keywords: [{use when: x}]}\n",
         ["3:23 `triggers.keywords[]` must be text (found a mapping)"]),
        (HEAD + "triggers: {match: regex}\n",
         ["3:19 `triggers.match` is `regex`, but must be one of substring | word"]),
    ],
)  # fmt: skip
def test_a_wrong_field_breaks_the_recipe_and_is_named(tmp_path: Path, content: str, expected: list[str]) -> None:
    assert isinstance(load(tmp_path, content), BrokenRecipe)
    assert findings(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("prompt_prefix: x", "3:1 the key `prompt_prefix` …; did you mean `promptPrefix`?"),
        ("Engine: x", "3:1 the key `Engine` …; did you mean `engine`?"),
        ("colour: red", "3:1 the key `colour` …"),
        ("triggers: {keyword: [a]}", "3:12 the key `triggers.keyword` …; did you mean `keywords`?"),
        ("profiles: {a: {param: {}}}", "3:16 the key `profiles.a.param` …; did you mean `params`?"),
        ("triggers:\n\u00a0\u00a0keywords: [abc]",
         "4:1 the key `\\xa0\\xa0keywords` …; it holds an unusual or invisible character"),
        ("tag\u200bs: [a]",
         "3:1 the key `tag\\u200bs` …; did you mean `tags`?; it holds an unusual or invisible character"),
        ("~: 1", "3:1 the key `~` …"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_reported_with_the_nearest(tmp_path: Path, content: str, expected: str) -> None:
    assert isinstance(load(tmp_path, HEAD + content + "\n"), Recipe)
    found = findings(tmp_path, HEAD + content + "\n")
    assert found == [expected.replace("…", "is not known here and has no effect")]


@pytest.mark.parametrize("length", [60, 600, 600_000])
def test_a_long_unknown_key_costs_nothing(tmp_path: Path, length: int) -> None:
    key = "k" * length
    shown = key if length <= 500 else key[:500] + "…"
    content = HEAD + f"? {key}\n: 1\n"
    assert findings(tmp_path, content) == [f"3:3 the key `{shown}` is not known here and has no effect"]


@pytest.mark.parametrize(
    ("keywords", "phrases"),
    [
        ("[]", []),
        ("", []),
        ("[fix it, Fix It, ' fix it ']", ["fix it"]),
        ("[STRASSE, straße]", ["STRASSE"]),
        ("[no, on, 12:30, 007, 2024-01-01, 1.10]", ["no", "on", "12:30", "007", "2024-01-01", "1.10"]),
    ],
)
def test_phrases_are_texts_and_each_stands_once(tmp_path: Path, keywords: str, phrases: list[str]) -> None:
    recipe = load(tmp_path, HEAD + f"triggers:\n  keywords: {keywords}\n")
    assert isinstance(recipe, Recipe)
    assert (recipe.phrases, recipe.warnings) == (phrases, ())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Alpha Phrase", "ALPHA  phrase"),
        ("don't do it", "don\u2019t do it"),
        ("e-mail it", "e\u2011mail it"),
        ("r\u00e9sum\u00e9", "re\u0301sume\u0301"),
        ("say it", "s\u200bay it"),
    ],
)
def test_phrases_that_are_compared_as_equal_are_kept_once(tmp_path: Path, first: str, second: str) -> None:
    recipe = load(tmp_path, f'{HEAD}triggers:\n  keywords:\n    - "{first}"\n    - "{second}"\n    - other\n')
    assert isinstance(recipe, Recipe)
    assert recipe.phrases == [first, "other"]


def test_blank_phrases_are_left_out_and_reported(tmp_path: Path) -> None:
    content = HEAD + "triggers:\n  keywords: [a, '', ~, '  ', b]\n"
    recipe = load(tmp_path, content)
    assert isinstance(recipe, Recipe)
    assert recipe.phrases == ["a", "b"]
    assert findings(tmp_path, content) == [f"4:{column} a blank trigger phrase is ignored" for column in (17, 21, 24)]


def test_unknown_keys_are_kept_and_passed_on(ws: Workspace) -> None:
    ws.write("P/recipes/r.yaml", HEAD + "colour: {hue: 12}\nwhen: 2026-01-01\n")
    shown = ws.run("recipes", "show", "r", "--json").expect(0)
    assert shown.json["applied"]["colour"] == {"hue": 12}
    assert shown.json["applied"]["when"] == "2026-01-01"
    path = ws.path("P/recipes/r.yaml")
    assert shown.stderr.splitlines() == [
        f"warning: {path}:3:1: the key `colour` is not known here and has no effect (rename or drop it)",
        f"warning: {path}:4:1: the key `when` is not known here and has no effect (rename or drop it)",
    ]


def test_words_that_yaml_takes_for_numbers_are_names_descriptions_and_phrases(ws: Workspace) -> None:
    ws.write("P/recipes/3000.yaml", "description: 3000\nengine: ford\n")
    ws.write("P/recipes/yes.yaml", "description: Draft mode\nengine: ford\n")
    ws.write("P/recipes/no.yaml", "description: Norway desk\nengine: ford\ntriggers: {keywords: [no, 12:30, 007, ~]}\n")
    ws.write("B/recipes/list.yaml", "description: [a, b]\nengine: ford\n")
    rows = {row["name"]: row for row in ws.run("recipes", "list", "--json").expect(0).json}
    assert {name: row["description"] for name, row in rows.items()} == {
        "3000": "3000",
        "yes": "Draft mode",
        "no": "Norway desk",
        "list": None,
    }
    assert rows["list"]["error"].endswith("list.yaml:1:14: `description` must be text (found a list) (write text)")
    assert ws.run("recipes", "show", "3000", "--json").expect(0).json["name"] == "3000"
    decision = ws.run("select", "--json", "meeting at 12:30").expect(0).json
    assert (decision["recipe"], decision["matched"][0]["phrase"]) == ("no", "12:30")


def test_dates_bytes_sets_and_nan_leave_the_answer_strict_json(ws: Workspace) -> None:
    ws.write(
        "P/recipes/dated.yaml",
        HEAD + "triggers: {keywords: [dated job]}\nparams:\n  since: 2026-03-05\n  at: 2026-03-05 10:00:00\n"
        "  blob: !!binary aGk=\n  set: !!set {a, b}\n  nan: .nan\n",
    )
    assert ws.run("select", "--json", "dated job").expect(0).json["recipe"] == "dated"
    assert ws.run("recipes", "show", "dated", "--json").expect(0).json["applied"]["params"] == {
        "since": "2026-03-05",
        "at": "2026-03-05T10:00:00",
        "blob": "aGk=",
        "set": ["a", "b"],
        "nan": ".nan",
    }
