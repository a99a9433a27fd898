"""Why one recipe was not chosen for a task: the first thing that stood in its way, and how near it came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vancectl.inventory.cascade import Cascade
from vancectl.inventory.recipe import Recipe
from vancectl.selector.decision import Stage
from vancectl.selector.explain.explanation import Explanation
from vancectl.selector.shortlist.candidates import Candidates
from vancectl.selector.triggers.phrase import normalise, normalise_phrase

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class WhyNot:
    """`code` for programs: chosen, broken, underscore, internal, explicit, other-trigger, several-triggers, not-asked,
    left-out, or model. `sentences` for people."""

    recipe: str
    code: str
    sentences: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "code": self.code, "sentences": list(self.sentences)}


def why_not(
    name: str, decision: Mapping[str, Any], explanation: Explanation, cascade: Cascade, candidates: Candidates
) -> WhyNot:
    """`decision` in its JSON form. Raises UnknownRecipeError with near names."""
    entry = cascade.find(name)
    name, recipe = entry.name, entry.recipe
    if decision["recipe"] == name:
        return WhyNot(name, "chosen", (f"it was chosen: {decision['rationale']}",))
    excluded = next((each for each in explanation.excluded if each.recipe == name), None)
    if excluded is not None or not isinstance(recipe, Recipe):
        why, text = (excluded.why, excluded.text) if excluded is not None else ("broken", "it is broken")
        return WhyNot(name, why, (f"the selector may not choose it: {text}",))
    code, reason = _reason(name, decision, explanation)
    sentences = [reason]
    if not any(hit.recipe == name for hit in explanation.hits):
        sentences.append(_nearest_phrase(recipe, explanation.task))
    if explanation.task.strip() and code != "explicit":
        rank = list(candidates.nearest(explanation.task)).index(name) + 1
        sentences.append(f"by the words it shares with the task it is number {rank} of {candidates.total}")
    return WhyNot(name, code, tuple(sentences))


def _reason(name: str, decision: Mapping[str, Any], explanation: Explanation) -> tuple[str, str]:
    stage, other = decision["stage"], decision["recipe"]
    hit = list(dict.fromkeys(each.recipe for each in explanation.hits))
    if stage == Stage.EXPLICIT:
        return "explicit", f"nothing was selected, since {decision['rationale']}"
    if stage == Stage.TRIGGER:
        return "other-trigger", f"only `{other}` had a trigger phrase in the task, so no model was asked"
    if explanation.shown and all(each.recipe != name for each in explanation.shown):
        return "left-out", f"it was not among the {len(explanation.shown)} recipes that the model is shown"
    model = decision["model"]
    several = f"its trigger was hit, but so was that of {_others(name, hit)}: " if name in hit and len(hit) > 1 else ""
    if stage == Stage.NONE or model is None:
        return ("several-triggers" if several else "not-asked"), f"{several}no model decided: {decision['rationale']}"
    answer = f"chose `{other}`" if other else "chose none"
    second = ", with this one as the runner-up" if model["runnerUp"] == name else ""
    return "model", f"{several}the model was shown it and {answer}{second}: {decision['rationale']}"


def _others(name: str, hit: list[str]) -> str:
    return ", ".join(f"`{each}`" for each in hit if each != name)


def _nearest_phrase(recipe: Recipe, task: str) -> str:
    """The phrase that came nearest by its words."""
    if not recipe.phrases:
        return "it has no trigger phrases, so that only the model can choose it"
    inside = next(
        (each for each in recipe.phrases if normalise_phrase(each) and normalise_phrase(each) in normalise(task)), None
    )
    if inside is not None:
        return f"its phrase “{inside}” is in the task only as a part of longer words, and it asks for whole words"
    words = {*normalise(task).split(), *_WORD.findall(normalise(task))}
    best, missing = max(
        ((phrase, [word for word in normalise(phrase).split() if word not in words]) for phrase in recipe.phrases),
        key=lambda each: 1 - len(each[1]) / max(1, len(normalise(each[0]).split())),
    )
    total = len(normalise(best).split())
    if len(missing) == total:
        return f"none of its {len(recipe.phrases)} trigger phrases is in the task, nor any whole word of them"
    if missing:
        return f"its phrase “{best}” came nearest: the task lacks {', '.join(f'“{word}”' for word in missing)}"
    return f"its phrase “{best}” came nearest: the task has all its words, but not as one piece"
