"""The way of one task through the stages, as plain data: what there was to choose from, what hit, what was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vancectl.inventory.cascade import Cascade
from vancectl.inventory.inventory import DEFAULT_RECIPE, SELECTOR_RECIPE, routable
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.selector.decision import Hit, Stage
from vancectl.selector.shortlist.candidates import Candidates
from vancectl.selector.triggers.index import TriggerIndex


@dataclass(frozen=True, slots=True)
class LayerCount:
    """One layer, nearest first: its files, and how many of them are in force."""

    layer: str
    path: str
    files: int
    in_force: int


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A recipe in force that the selector may not choose. `why` is `internal`, `underscore` or `broken`."""

    recipe: str
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """A recipe that the model was shown: its place in the ranking by words, from 1, and why it was kept."""

    recipe: str
    rank: int
    kept: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """`hits` holds every place of every phrase; `shown` is empty where no model was to be asked.

    `left_out` names the recipes that a shortlist left out, nearest first.
    """

    layers: tuple[LayerCount, ...]
    excluded: tuple[Exclusion, ...]
    candidates: int
    task: str
    hits: tuple[Hit, ...]
    shown: tuple[Ranked, ...]
    left_out: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "layers": [
                {"layer": each.layer, "path": each.path, "files": each.files, "inForce": each.in_force}
                for each in self.layers
            ],
            "excluded": [{"recipe": each.recipe, "why": each.why, "text": each.text} for each in self.excluded],
            "candidates": self.candidates,
            "hits": [hit.as_json() for hit in self.hits],
            "shown": [{"recipe": each.recipe, "rank": each.rank, "kept": each.kept} for each in self.shown],
            "leftOut": len(self.left_out),
            "leftOutRecipes": list(self.left_out),
        }


def explain(cascade: Cascade, index: TriggerIndex, candidates: Candidates, task: str, stage: Stage) -> Explanation:
    """Looks again at what a decision rested on. `stage` is what decided: only then was there a shortlist."""
    hits = tuple(index.places(task))
    shown: tuple[Ranked, ...] = ()
    left_out: tuple[str, ...] = ()
    if stage in {Stage.MODEL, Stage.NONE} and task.strip() and candidates.total:
        listed = candidates.shortlist(task, hits)
        left_out = listed.left_out
        shown = tuple(_shown(candidates, listed.shown, task, hits))
    return Explanation(
        tuple(_layers(cascade)),
        tuple(_excluded(cascade)),
        candidates.total,
        task,
        hits,
        shown,
        left_out,
    )


def marked(task: str, hits: Sequence[Hit]) -> Iterator[tuple[str, bool]]:
    """The task in pieces, each with whether a hit covers it; overlapping hits become one piece."""
    position = 0
    for start, end in _joined(hits):
        if start > position:
            yield task[position:start], False
        yield task[start:end], True
        position = end
    if position < len(task):
        yield task[position:], False


def _joined(hits: Sequence[Hit]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end in sorted((hit.start, hit.end) for hit in hits):
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _layers(cascade: Cascade) -> Iterator[LayerCount]:
    files, in_force = Counter[str](), Counter[str]()
    for entry in cascade.entries():
        in_force[str(entry.recipe.layer.directory)] += 1
        for each in (entry.recipe, *entry.shadows):
            files[str(each.layer.directory)] += 1
    for layer in cascade.layers.nearest_first:
        path = str(layer.directory)
        yield LayerCount(layer.kind.value, path, files[path], in_force[path])


def _excluded(cascade: Cascade) -> Iterator[Exclusion]:
    for entry in cascade.entries():
        recipe = entry.recipe
        if isinstance(recipe, BrokenRecipe):
            yield Exclusion(entry.name, "broken", recipe.fault)
        elif recipe.internal:
            yield Exclusion(entry.name, "internal", "it is `internal: true`")
        elif entry.name == SELECTOR_RECIPE:
            yield Exclusion(entry.name, "internal", "it holds the selector's own model and prompt")
        elif not routable(entry.name):
            yield Exclusion(entry.name, "underscore", "its name begins with `_`, so that only its name starts it")


def _shown(candidates: Candidates, everyone: Sequence[Recipe], task: str, hits: Sequence[Hit]) -> Iterator[Ranked]:
    ranks = {name: number for number, name in enumerate(candidates.nearest(task), 1)}
    hit = {each.recipe for each in hits}
    for recipe in sorted(everyone, key=lambda each: ranks[each.name]):
        kept = "all"
        if len(everyone) < candidates.total:
            kept = "trigger" if recipe.name in hit else "default" if recipe.name == DEFAULT_RECIPE else "rank"
        yield Ranked(recipe.name, ranks[recipe.name], kept)
