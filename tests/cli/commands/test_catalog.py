"""`vancectl catalog`: show the engines, read them again."""

import pytest

from tests.workspace import Workspace

GOOD = """\
engines:
  ford: {purpose: One job., when_to_use: The job is clear., not_for: Large goals.}
  marvin: {purpose: Deep thought., when_to_use: The goal is large., not_for: Small jobs.}
"""
FORD = {
    "name": "ford",
    "purpose": "One job.",
    "when_to_use": "The job is clear.",
    "not_for": "Large goals.",
}


@pytest.fixture
def good(ws: Workspace) -> Workspace:
    ws.write("B/catalog/engines.yaml", GOOD)
    return ws


def test_show_prints_all_engines_or_one(good: Workspace) -> None:
    every = good.run("catalog", "show").expect(0).json
    assert [engine["name"] for engine in every] == ["ford", "marvin"]
    assert good.run("catalog", "show", "Ford", "--json").expect(0).json == [FORD] == every[:1]


def test_show_prints_what_the_model_reads(good: Workspace) -> None:
    ford = "- ford: One job.\n  When to use: The job is clear.\n  Not for: Large goals.\n"
    marvin = "- marvin: Deep thought.\n  When to use: The goal is large.\n  Not for: Small jobs.\n"
    assert good.run("catalog", "show", "--prompt").expect(0).stdout == ford + marvin
    assert good.run("catalog", "show", "ford", "--prompt").expect(0).stdout == ford
    assert good.run("catalog", "show", "ford", "--prompt", tty=True).expect(0).stdout == ford


def test_a_table_for_people(good: Workspace) -> None:
    shown = good.run("catalog", "show", tty=True, columns=100, env={"TERM": "dumb"}).expect(0)
    assert [line.split("  ")[0].strip() for line in shown.stdout.splitlines()][2:] == ["ford", "marvin"]
    assert "The job is clear." in shown.stdout


def test_an_unknown_engine_gets_the_nearest(good: Workspace) -> None:
    failed = good.run("catalog", "show", "frod").expect(2)
    assert (failed.stdout, failed.stderr) == (
        "",
        "error: there is no engine `frod`\n  help: did you mean `ford`? the engines are ford, marvin\n",
    )


def test_a_new_engine_is_a_new_entry(good: Workspace) -> None:
    good.write("B/catalog/engines.yaml", GOOD + "  zarquon: {purpose: p, when_to_use: w, not_for: n}\n")
    assert good.run("catalog", "reload").expect(0).json["engines"] == ["ford", "marvin", "zarquon"]
    assert "- zarquon: p\n" in good.run("catalog", "show", "--prompt").expect(0).stdout


def test_reload_with_a_broken_file_leaves_the_last_good_one_in_force(good: Workspace) -> None:
    file = good.path("B/catalog/engines.yaml")
    kept = good.path("C/engines.yaml")
    assert good.run("catalog", "reload").expect(0).json == {
        "engines": ["ford", "marvin"],
        "path": str(file),
        "errors": [],
        "warnings": [],
    }
    good.write("B/catalog/engines.yaml", GOOD + "\tbroken: 1\n")
    fault = f"{file}:4:1: a tab is used for indentation (indent with spaces)"
    warning = f"warning: the engine catalog is broken, the last good one is in force: {fault}\n"
    for _ in range(2):
        again = good.run("catalog", "reload").expect(2)
        assert again.stderr == warning
        assert again.json == {"engines": ["ford", "marvin"], "path": str(kept), "errors": [fault], "warnings": []}
    assert good.run("catalog", "reload", tty=True).expect(2).stdout == f"2 engines from {kept}\n"
    shown = good.run("catalog", "show", "ford", "--json").expect(0)
    assert (shown.json, shown.stderr) == ([FORD], warning)
    good.write("B/catalog/engines.yaml", GOOD)
    assert good.run("catalog", "reload").expect(0).stderr == ""


@pytest.mark.parametrize("command", ["show", "reload"])
def test_without_a_last_good_one_a_broken_file_is_an_error(ws: Workspace, command: str) -> None:
    file = ws.write("B/catalog/engines.yaml", "engines:\n  ford: {purpose: p, when_to_use: w}\n")
    failed = ws.run("catalog", command).expect(2)
    assert failed.stdout == ""
    assert failed.stderr == (
        f"error: {file}:2:3: the engine catalog is broken: the field `engines.ford.not_for` is missing\n"
        "  help: add `engines.ford.not_for: …`, then run `vancectl catalog reload`\n"
    )


def test_an_unknown_field_is_a_warning(good: Workspace) -> None:
    file = good.write("B/catalog/engines.yaml", GOOD + "version: 2\n")
    warning = f"{file}:4:1: the key `version` is not known here and has no effect (rename or drop it)"
    again = good.run("catalog", "reload").expect(0)
    assert (again.json["errors"], again.json["warnings"]) == ([], [warning])
    assert again.stderr == f"warning: {warning}\n"


def test_a_cache_that_cannot_be_written_is_harmless(good: Workspace) -> None:
    good.write("H/file", "")
    env = {"VANCECTL_CACHE_DIR": str(good.home / "file/cache")}
    assert good.run("catalog", "reload", env=env).expect(0).json["engines"] == ["ford", "marvin"]
    assert good.run("recipes", "list", env=env).expect(0).stderr == ""


def test_triggers_decide_without_a_catalog(ws: Workspace) -> None:
    ws.write("B/catalog/engines.yaml", "[")
    ws.recipe("P/recipes/dep.yaml", triggers=["deploy it"])
    assert ws.run("select", "--json", "deploy it").expect(0).json["recipe"] == "dep"
