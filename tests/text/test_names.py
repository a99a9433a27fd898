"""Recipe names: their canonical form, and which names are near."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vancectl.text.names import canonical, did_you_mean, edit_distance, near_names


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
        ("abc", "acb", 1),
        ("flaw", "lawn", 2),
        ("über", "uber", 1),
        ("deploy", "yolped", 5),
    ],
)
def test_edit_distance(left: str, right: str, distance: int) -> None:
    assert edit_distance(left, right) == edit_distance(right, left) == distance


@settings(max_examples=200, deadline=None)
@given(st.text("ab", max_size=7), st.text("ab", max_size=7))
def test_edit_distance_has_its_bounds(a: str, b: str) -> None:
    assert abs(len(a) - len(b)) <= edit_distance(a, b) <= max(len(a), len(b))
    assert (edit_distance(a, b) == 0) == (a == b)


NAMES = ["depot", "deploys", "employ", "deploy", "summarise-a-text", "code-review", "code-read", "spawn.env", "timeout"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("deplyo", ["deploy", "deploys"]),
        ("Deploy ", ["deploy", "deploys", "depot", "employ"]),
        ("code_review", ["code-review"]),
        ("code-rview", ["code-review"]),
        ("code_read", ["code-read"]),
        ("sumarize-a-text", ["summarise-a-text"]),
        ("time", ["timeout"]),
        ("code", ["code-read", "code-review"]),
        # Nothing is near: what differs is most of what is not the same in all.
        ("code-gen", []),
        ("spawn.foo", []),
        ("nosuch", []),
        ("gen", []),
        ("x", []),
        ("", []),
        ("deploy-1234", []),
        ("zzzzzzzzzzzzzz", []),
    ],
)
def test_near_names_nearest_first(name: str, near: list[str]) -> None:
    assert near_names(name, NAMES) == near


def test_near_names_are_five_at_most_and_only_kept_ones() -> None:
    names = [f"job{n}" for n in range(9)]
    assert near_names("job", names) == ["job0", "job1", "job2", "job3", "job4"]
    assert near_names("job", names, keep=lambda name: name not in ("job0", "job3")) == [
        "job1", "job2", "job4", "job5", "job6",
    ]  # fmt: skip
    assert near_names("job", names, most=1) == ["job0"]


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("promptprefix", ["promptPrefix"]),
        ("prompt_prefix", ["promptPrefix"]),
        ("engin", ["engine"]),
        ("tgs", ["tags"]),
        ("colour", []),
        ("", []),
        ("x", []),
    ],
)
def test_near_keys_in_any_case(key: str, nearest: list[str]) -> None:
    assert near_names(key, ["engine", "promptPrefix", "promptMode", "tags"], most=1) == nearest


@pytest.mark.parametrize(
    ("names", "question"),
    [
        ([], "see the list"),
        (["a"], "did you mean `a`? see the list"),
        (["a", "b"], "did you mean `a` or `b`? see the list"),
        (["a", "b", "c"], "did you mean `a`, `b` or `c`? see the list"),
    ],
)
def test_the_question(names: list[str], question: str) -> None:
    assert did_you_mean(names, "see the list") == question


def test_a_name_of_a_megabyte_costs_nothing() -> None:
    begun = time.monotonic()
    assert near_names("k" * 1_000_000, ["engine", "promptPrefix"] * 10) == []
    assert near_names("k" * 1_000_000, ["deploy"]) == []
    assert time.monotonic() - begun < 1
