"""Recipe names: their canonical form, and which names are near."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vancectl.text.names import canonical, edit_distance, near_names, nearest_key


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("deploy", "deploy"),
        ("  Deploy \t", "deploy"),
        ("Deploy   To\tProd", "deploy-to-prod"),
        ("deploy\u00a0to\u3000prod", "deploy-to-prod"),
        ("deploy\nit", "deploy-it"),
        ("Team / Code  Review", "team/code-review"),
        ("_user/Mine", "_user/mine"),
        ("ÜBUNG", "übung"),
        ("re\u0301sume\u0301", "résumé"),
        ("風林", "風林"),
        ("c++", "c++"),
        ("a--b", "a--b"),
        ("Straße", "straße"),
        ("\u0130stanbul", "i\u0307stanbul"),
        ("", ""),
    ],
)
def test_canonical(written: str, name: str) -> None:
    assert canonical(written) == name


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=20))
def test_a_canonical_name_is_its_own(text: str) -> None:
    name = canonical(text)
    assert canonical(name) == name
    assert canonical(unicodedata.normalize("NFD", text)) == name
    assert not any(character.isspace() for character in name)


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "abc", 0),
        ("kitten", "sitting", 3),
        ("abc", "acb", 2),
        ("flaw", "lawn", 2),
        ("über", "uber", 1),
        ("deploy", "yolped", 6),
    ],
)
def test_edit_distance(left: str, right: str, distance: int) -> None:
    assert edit_distance(left, right) == edit_distance(right, left) == distance


@settings(max_examples=200, deadline=None)
@given(st.text("ab", max_size=7), st.text("ab", max_size=7), st.text("ab", max_size=7))
def test_edit_distance_is_a_distance(a: str, b: str, c: str) -> None:
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)
    assert abs(len(a) - len(b)) <= edit_distance(a, b) <= max(len(a), len(b))
    assert (edit_distance(a, b) == 0) == (a == b)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("deplyo", ["deploy", "deploys", "depot", "employ"]),
        ("Deploy ", ["deploy", "deploys", "depot", "employ"]),
        ("deploy-12345", []),
        ("deploy-1234", ["deploy", "deploys"]),
        ("zzzzzzzzzzzzzz", []),
    ],
)
def test_near_names_nearest_first(name: str, near: list[str]) -> None:
    assert near_names(name, ["depot", "deploys", "employ", "deploy", "summarise-a-text"]) == near


def test_near_names_are_five_at_most_and_only_kept_ones() -> None:
    names = [f"job{n}" for n in range(9)]
    assert near_names("job", names) == ["job0", "job1", "job2", "job3", "job4"]
    assert near_names("job", names, keep=lambda name: name not in ("job0", "job3")) == [
        "job1", "job2", "job4", "job5", "job6",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("promptprefix", "promptPrefix"),
        ("prompt_prefix", "promptPrefix"),
        ("engin", "engine"),
        ("tgs", "tags"),
        ("colour", None),
        ("", None),
        ("x", None),
    ],
)
def test_nearest_key(key: str, nearest: str | None) -> None:
    assert nearest_key(key, ["engine", "promptPrefix", "promptMode", "tags"]) == nearest


def test_the_nearest_of_no_keys_is_none() -> None:
    assert nearest_key("x", []) is None


def test_a_name_of_a_megabyte_costs_nothing() -> None:
    begun = time.monotonic()
    assert nearest_key("k" * 1_000_000, ["engine", "promptPrefix"] * 10) is None
    assert near_names("k" * 1_000_000, ["deploy"]) == []
    assert time.monotonic() - begun < 1
