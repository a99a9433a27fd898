"""Many phrases at once: the automaton must say what looking for each phrase in turn says."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from vancectl.inventory.cascade import Cascade
from vancectl.inventory.inventory import take_inventory
from vancectl.inventory.layer import Layer, LayerKind, find_layers
from vancectl.inventory.recipe import Recipe
from vancectl.selector.triggers.index import AUTOMATON_MIN_PHRASES, TriggerIndex

LAYER = Layer(LayerKind.BUNDLED, Path("/"))

# Pieces whose joins compose, fold, spread or vanish: that is where two ways to look could come apart.
PIECES = st.sampled_from(
    [
        *("a", "ab", "b", "A", " ", "  ", "\t", "\n", "ß", "SS", "ss", "ﬁ", "fi", "İ", "i̇", "ı", "I", "é", "e\u0301"),
        *("\u0301", "ǰ", "J\u030c", "Å", "가", "\u1100\u1161", "\u11a8", "日本", "ไทย", "क", "\u093f", "ᾳ", "ΐ", "Σ"),
        *("ς", "c++", ".net", "\u00a0", "\u3000", "\u200b", "\u200d", "😀", "👨\u200d👩", "½", "²", "Ⅷ", "-", "_", "1"),
        *("\ud800", "\x00", "\x1f"),
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


def recipes(phrases: list[list[str]], whole_words: list[bool]) -> list[Recipe]:
    """Recipes with these phrases, and enough others that an automaton pays."""
    filler = [[f"filler number {number}"] for number in range(AUTOMATON_MIN_PHRASES)]
    match = ["word" if whole else "substring" for whole in whole_words]

    def triggers(number: int, keywords: list[str]) -> dict[str, object]:
        return {"keywords": keywords, "match": match[number % len(match)]}

    return [
        Recipe(f"r{number}", LAYER, "/r", {"description": "d", "engine": "e", "triggers": triggers(number, keywords)})
        for number, keywords in enumerate([*phrases, *filler])
    ]


@given(
    phrases=st.lists(st.lists(TEXTS, max_size=4), max_size=6),
    whole_words=st.lists(st.booleans(), min_size=1, max_size=3),
    tasks=st.lists(TEXTS, min_size=1, max_size=4),
)
def test_both_ways_agree(phrases: list[list[str]], whole_words: list[bool], tasks: list[str]) -> None:
    library = recipes(phrases, whole_words)
    one_by_one, automaton = TriggerIndex(library), TriggerIndex(library, many_tasks=True)
    for task in [*tasks, *(phrase for keywords in phrases for phrase in keywords)]:
        assert automaton.hits(task) == one_by_one.hits(task)


def test_both_ways_agree_on_real_phrases_and_tasks(routing_bench: Path) -> None:
    folder = routing_bench / "gbrain-skills"
    inventory = take_inventory(Cascade(find_layers(folder, directories=[folder / "inventory"]), use_cache=False))
    one_by_one, automaton = TriggerIndex(inventory.recipes), TriggerIndex(inventory.recipes, many_tasks=True)
    tasks = [json.loads(line)["task"] for line in (folder / "cases.jsonl").read_text().splitlines()]
    joined = [" ".join(tasks[start : start + 3]) for start in range(0, len(tasks), 3)]
    hits = [one_by_one.hits(task) for task in [*tasks, *joined]]
    assert [automaton.hits(task) for task in [*tasks, *joined]] == hits
    assert sum(map(bool, hits)) > len(tasks) / 2
