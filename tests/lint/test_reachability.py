"""Which phrases can decide alone: against an independent computation, and against tasks that try to refute it."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspace import Workspace
from vancectl.inventory.layer import Layer, LayerKind
from vancectl.inventory.recipe import Recipe
from vancectl.lint.reachability import blocked_phrases
from vancectl.selector.triggers.index import TriggerIndex

LAYER = Layer(LayerKind.PROJECT, Path("/none"))


def index(recipes: dict[str, tuple[bool, list[str]]]) -> TriggerIndex:
    return TriggerIndex(
        [
            Recipe(
                name,
                LAYER,
                "/none",
                {"triggers": {"keywords": phrases, "match": "word" if word else "substring"}},
            )
            for name, (word, phrases) in recipes.items()
        ]
    )


def test_a_public_library_against_an_independent_computation(ws: Workspace, routing_bench: Path) -> None:
    """Every recipe there matches substrings: a phrase is blocked exactly if it holds another recipe's phrase."""
    folder = routing_bench / "gbrain-skills" / "inventory"
    phrases = [
        (path.stem, phrase, phrase.lower())
        for path in sorted(folder.glob("*.yaml"))
        for phrase in (yaml.safe_load(path.read_text()).get("triggers") or {}).get("keywords", [])
    ]
    assert len(phrases) == 507
    blockers = {
        (recipe, phrase): {(other, it) for other, it, part in phrases if other != recipe and part in lower}
        for recipe, phrase, lower in phrases
    }
    blocked = {key: found for key, found in blockers.items() if found}
    dead = {recipe for recipe, _, _ in phrases} - {recipe for (recipe, _), found in blockers.items() if not found}

    report = ws.run("recipes", "lint", "--recipes", folder).expect(0).json
    told = [each for each in report["findings"] if each["code"] == "never-alone"]
    assert {(each["data"]["recipe"], each["data"]["phrase"]) for each in told} == set(blocked)
    for each in told:
        by = {(hit["recipe"], hit["phrase"]) for hit in each["data"]["blockedBy"]}
        assert by == blocked[each["data"]["recipe"], each["data"]["phrase"]]
    assert {Path(each["path"]).stem for each in report["findings"] if each["code"] == "dead-recipe"} == dead
    assert len(blocked) == 40


WORDS = st.text("ab c+翻", min_size=1, max_size=4).filter(str.strip)
LIBRARIES = st.dictionaries(
    st.sampled_from(["one", "two", "three"]),
    st.tuples(st.booleans(), st.lists(WORDS, min_size=1, max_size=3)),
    min_size=2,
)


@settings(max_examples=100, deadline=None)
@given(LIBRARIES, st.lists(st.text("abcx +翻", max_size=5), min_size=6, max_size=6))
def test_no_task_hits_a_blocked_phrase_alone_and_some_task_hits_any_other(
    library: dict[str, tuple[bool, list[str]]], around: list[str]
) -> None:
    triggers = index(library)
    blocked = {(each.recipe, each.phrase) for each in blocked_phrases(triggers)}
    for trigger in triggers.triggers:
        texts = [before + trigger.folded + after for before in ["", "z", *around] for after in ["", "z", *around]]
        hit_by = [
            {hit.recipe for hit in hits}
            for text in texts
            if (hits := triggers.hits(text))
            and (trigger.recipe, trigger.phrase) in {(h.recipe, h.phrase) for h in hits}
        ]
        alone = {trigger.recipe} in hit_by
        if (trigger.recipe, trigger.phrase) in blocked:
            assert not alone, (library, trigger)
        else:
            assert alone, (library, trigger)
