"""What the cases leave untested: recipes without a case, triggers that no case hits, and cases that cannot fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from vancectl.inventory.recipe import Recipe
from vancectl.routes.case import NONE, Case
from vancectl.routes.summary import ratio
from vancectl.routes.verdict import Judged
from vancectl.text.comparison import normalise_phrase


@dataclass(frozen=True, slots=True)
class Coverage:
    """`units` are the recipes and triggers together; `copies` are cases with what they copy."""

    units: int
    recipes_without: tuple[str, ...]
    triggers_without: tuple[tuple[str, str], ...]
    copies: tuple[tuple[Case, str], ...]

    @property
    def ratio(self) -> float | None:
        return ratio(self.units - len(self.recipes_without) - len(self.triggers_without), self.units)

    def failures(self, bar: float) -> list[str]:
        if self.ratio is None:
            return [f"coverage: there is nothing to cover, so it cannot be {bar:g}"]
        return [f"coverage: {self.ratio:.4f} is below {bar:g}"] if self.ratio < bar else []

    def as_json(self) -> dict[str, Any]:
        return {
            "ratio": self.ratio,
            "recipesWithoutCase": list(self.recipes_without),
            "triggersWithoutCase": [{"recipe": name, "phrase": phrase} for name, phrase in self.triggers_without],
            "copies": [
                {"file": str(case.place.path), "line": case.place.line, "task": case.task, "copyOf": of}
                for case, of in self.copies
            ],
        }


def measure(recipes: Sequence[Recipe], judged: Sequence[Judged]) -> Coverage:
    """A recipe is covered by a case that expects it, a trigger by a case whose task it stands in."""
    copies = tuple(_copies(recipes, judged))
    copied = {id(case) for case, _ in copies}
    real = [case for case in judged if id(case.case) not in copied]
    due = {name for case in real for name in case.case.right_names}
    due |= {case.case.starts for case in real if case.case.starts is not None}
    hit = {(hit.recipe, hit.phrase) for case in real for hit in case.decision.matched}
    triggers = [(recipe.name, phrase) for recipe in recipes for phrase in recipe.phrases if normalise_phrase(phrase)]
    return Coverage(
        len(recipes) + len(triggers),
        tuple(recipe.name for recipe in recipes if recipe.name not in due),
        tuple(trigger for trigger in triggers if trigger not in hit),
        copies,
    )


def _copies(recipes: Iterable[Recipe], judged: Iterable[Judged]) -> Iterable[tuple[Case, str]]:
    """Cases whose task is a trigger or a description word for word: they would be right whatever else changed."""
    sources: dict[str, tuple[str, str]] = {}
    for recipe in recipes:
        for phrase in recipe.phrases:
            sources.setdefault(_bare(phrase), (recipe.name, f"a trigger of {recipe.name}"))
        sources.setdefault(_bare(recipe.description), (recipe.name, f"the description of {recipe.name}"))
        for sentence in recipe.description.split(". "):
            sources.setdefault(_bare(sentence), (recipe.name, f"a sentence of the description of {recipe.name}"))
    for case in judged:
        found = sources.get(_bare(case.case.task))
        if found is not None and found[0] in case.case.right_names and case.case.expect != NONE:
            yield case.case, found[1]


def _bare(text: str) -> str:
    return normalise_phrase(text).strip(" .!?…,;:")
