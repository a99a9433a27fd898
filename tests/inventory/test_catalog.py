"""The engine catalog: what it may hold, and the last good one that stays in force."""

from pathlib import Path

import pytest

from vancectl.errors import CatalogError
from vancectl.inventory.catalog import EngineCatalog, load_catalog

ENGINE = "{purpose: p, when_to_use: w, not_for: n}"
GOOD = f"engines:\n  ford: {ENGINE}\n"


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The catalog's file; the last good copy will be `cache/engines.yaml`."""
    file = tmp_path / "defaults/catalog/engines.yaml"
    file.parent.mkdir(parents=True)
    monkeypatch.setenv("VANCECTL_DEFAULTS_DIR", str(tmp_path / "defaults"))
    return file


def loaded(file: Path, content: str) -> EngineCatalog:
    file.write_text(content, encoding="utf-8")
    return load_catalog()


def test_the_bundled_catalog_is_good() -> None:
    catalog = load_catalog()
    assert catalog.names == [
        "eddie",
        "arthur",
        "ford",
        "marvin",
        "vogon",
        "slartibartfast",
        "hactar",
        "zaphod",
        "jeltz",
    ]
    assert (catalog.findings, catalog.warnings) == ((), ())


def test_a_new_engine_is_a_new_entry(catalog: Path) -> None:
    text = GOOD + "  Deep Thought:\n    purpose: Thinks\n      long.\n    when_to_use: 42\n    not_for: no\n"
    found = loaded(catalog, text)
    assert found.names == ["ford", "deep thought"]
    engine = found.find(" Deep Thought ")
    assert (engine.purpose, engine.when_to_use, engine.not_for) == ("Thinks long.", "42", "no")
    assert found.render_for_prompt() == (
        "- ford: p\n  When to use: w\n  Not for: n\n- deep thought: Thinks long.\n  When to use: 42\n  Not for: no"
    )


@pytest.mark.parametrize("asked", ["frod", "FORT"])
def test_an_unknown_engine_gets_the_nearest(catalog: Path, asked: str) -> None:
    with pytest.raises(CatalogError, match=f"there is no engine `{asked}`") as raised:
        loaded(catalog, GOOD).find(asked)
    assert raised.value.remedy == "did you mean `ford`? the engines are ford"


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (GOOD + "version: 2\n", ":3:1: the key `version` is not known here and has no effect (rename or drop it)"),
        (GOOD.replace("not_for: n", "not_for: n, icon: x"),
         ":2:50: the key `engines.ford.icon` is not known here and has no effect (rename or drop it)"),
        ("engines:\n  ford:\n    purpose: C #1\n    when_to_use: w\n    not_for: n\n",
         ":3:15: the text after ` #` is a comment (quote the value if the text belongs to it)"),
    ],
)  # fmt: skip
def test_an_oddity_leaves_the_catalog_usable(catalog: Path, content: str, warning: str) -> None:
    found = loaded(catalog, content)
    assert (found.names, found.path, found.findings) == (["ford"], catalog, ())
    assert [finding.line() for finding in found.warnings] == [f"{catalog}{warning}"]


@pytest.mark.parametrize(
    ("content", "what", "line"),
    [
        ("", "top level must be a mapping (found empty)", 0),
        ("- a\n", "top level must be a mapping (found a list)", 1),
        ("engines:\n", "the field `engines` is missing", 1),
        ("engine: {}\n", "the field `engines` is missing", 1),
        ("engines: []\n", "`engines` must be a mapping (found a list)", 1),
        ("engines:\n  ford:\n", "the field `engines.ford.purpose` is missing", 2),
        ("engines:\n  ford: text\n", "`engines.ford` must be a mapping (found text)", 2),
        ("engines:\n  ford: {purpose: p, when_to_use: w}\n", "the field `engines.ford.not_for` is missing", 2),
        ("engines:\n  ford: {purpose: [p], when_to_use: w, not_for: n}\n",
         "`engines.ford.purpose` must be text (found a list)", 2),
        (GOOD + f"  ford: {ENGINE}\n", "the key `ford` is there twice (first on line 2)", 3),
        (GOOD + f"  ' Ford': {ENGINE}\n", "the key `ford` is there twice (first on line 2)", 3),
        (GOOD + "\tx: 1\n", "a tab is used for indentation", 3),
    ],
)  # fmt: skip
def test_a_broken_catalog_is_an_error_where_there_was_no_good_one(
    catalog: Path, content: str, what: str, line: int
) -> None:
    with pytest.raises(CatalogError) as raised:
        loaded(catalog, content)
    assert raised.value.what() == f"the engine catalog is broken: {what}"
    assert raised.value.where is not None
    assert (raised.value.where.path, raised.value.where.line) == (catalog, line)
    assert raised.value.remedy.endswith(", then run `vancectl catalog reload`")


def test_the_last_good_one_stays_in_force_until_the_next_good_one(catalog: Path, tmp_path: Path) -> None:
    kept = tmp_path / "cache/engines.yaml"
    loaded(catalog, GOOD)
    assert kept.read_text() == GOOD
    found = loaded(catalog, "engines: [")
    assert (found.names, found.path) == (["ford"], kept)
    assert [finding.line() for finding in found.findings] == [
        f"{catalog}:2:1: is not valid YAML: did not find expected node content (correct the syntax near this place)"
    ]
    assert loaded(catalog, "engines: [").names == ["ford"]
    catalog.unlink()
    assert load_catalog().findings[0].sentence() == "cannot be read: no such file or directory"
    newer = loaded(catalog, GOOD.replace("ford", "marvin"))
    assert (newer.names, newer.path, newer.findings) == (["marvin"], catalog, ())
    assert loaded(catalog, "").names == ["marvin"]


@pytest.mark.parametrize("content", ["", "engines: [", "engines: {}", "\0", "- x"])
def test_a_spoilt_copy_is_no_last_good_one(catalog: Path, tmp_path: Path, content: str) -> None:
    kept = tmp_path / "cache/engines.yaml"
    kept.parent.mkdir()
    kept.write_text(content)
    with pytest.raises(CatalogError):
        loaded(catalog, "")
    assert loaded(catalog, GOOD).names == ["ford"]
    assert kept.read_text() == GOOD


@pytest.mark.parametrize("cache", ["file/cache", "/dev/null/cache", "file"])
def test_a_cache_that_cannot_be_written_is_harmless(
    catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VANCECTL_CACHE_DIR", str(tmp_path / cache))
    assert loaded(catalog, GOOD).names == ["ford"]
    with pytest.raises(CatalogError, match="the engine catalog is broken"):
        loaded(catalog, "")


def test_without_a_home_nothing_is_kept(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("VANCECTL_CACHE_DIR")
    assert loaded(catalog, GOOD).names == ["ford"]
    with pytest.raises(CatalogError):
        loaded(catalog, "")
