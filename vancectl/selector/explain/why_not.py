"""Why one recipe was not chosen for a task: the first thing that stood in its way, and how near it came."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vancectl.inventory.cascade import Cascade, Entry
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.model.use import ModelUse
from vancectl.selector.decision import Stage
from vancectl.selector.explain.explanation import Explanation
from vancectl.selector.shortlist.candidates import Candidates
from vancectl.selector.triggers.index import TriggerIndex
from vancectl.selector.triggers.phrase import at_whole_words
from vancectl.text.comparison import normalise, normalise_phrase
from vancectl.text.names import some_of


class Explained(Protocol):
    """What an explanation needs of a decision, be it of now or one that a record holds."""

    @property
    def recipe(self) -> str | None: ...
    @property
    def stage(self) -> str: ...
    @property
    def rationale(self) -> str: ...
    @property
    def model(self) -> ModelUse | None: ...


@dataclass(frozen=True, slots=True)
class WhyNot:
    """`code` for programs: chosen, broken, underscore, internal, explicit, other-trigger, several-triggers, not-asked,
    left-out, no-answer, or model. `sentences` for people."""

    recipe: str
    code: str
    sentences: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "code": self.code, "sentences": list(self.sentences)}


def why_not(
    name: str, decision: Explained, explanation: Explanation, cascade: Cascade, candidates: Candidates
) -> WhyNot:
    """Raises UnknownRecipeError with near names."""
    entry = cascade.find(name)
    name, recipe = entry.name, entry.recipe
    if decision.recipe == name:
        return WhyNot(name, "chosen", (f"it was chosen: {decision.rationale}",))
    hidden = list(_hidden_matches(cascade, entry, explanation.task))
    if isinstance(recipe, BrokenRecipe):
        return WhyNot(name, "broken", (f"the selector may not choose it, since it is broken: {recipe.fault}", *hidden))
    excluded = next((each for each in explanation.excluded if each.recipe == name), None)
    if excluded is not None:
        return WhyNot(name, excluded.why, (f"the selector may not choose it: {excluded.text}", *hidden))
    code, sentences = _reason(name, decision, explanation)
    if explanation.task.strip() and code != "explicit":
        if not any(hit.recipe == name for hit in explanation.hits):
            sentences.append(_nearest_phrase(recipe, explanation.task))
        rank = list(candidates.nearest(explanation.task)).index(name) + 1
        sentences.append(f"by the words it shares with the task it is number {rank} of {candidates.total}")
    return WhyNot(name, code, (*sentences, *hidden))


def _reason(name: str, decision: Explained, explanation: Explanation) -> tuple[str, list[str]]:
    stage, other = decision.stage, decision.recipe
    hit = list(dict.fromkeys(each.recipe for each in explanation.hits))
    if stage == Stage.EXPLICIT:
        return "explicit", [f"nothing was selected, since {decision.rationale}"]
    if stage == Stage.TRIGGER:
        return "other-trigger", [f"only a trigger of `{other}` matched, so no model was asked"]
    model = decision.model
    several = []
    if name in hit and len(hit) > 1:
        several = [f"its trigger matched, but so did that of {some_of([f'`{each}`' for each in hit if each != name])}"]
    left_out = [f"it was not among the {len(explanation.shown)} recipes that the model is shown"]
    if name not in explanation.left_out:
        left_out = []
    if stage == Stage.NONE or model is None:
        code = "several-triggers" if several else "not-asked"
        return code, [*several, f"no model was asked: {decision.rationale}", *left_out]
    if model.error:
        return "no-answer", [*several, *left_out, f"the model gave no answer that can be used: {model.error}"]
    answer = f"chose `{other}`" if other else "chose none"
    second = ", with this one as the runner-up" if model.runner_up == name else ""
    said = f"{answer}{second}: {decision.rationale}"
    if left_out:
        return "left-out", [*left_out, f"the model {said}"]
    return "model", [*several, f"the model was shown it and {said}"]


def _hidden_matches(cascade: Cascade, entry: Entry, task: str) -> Iterator[str]:
    """The phrases of recipes that this one hides, where they are in the task: hiding a recipe hides its phrases."""
    for hidden in cascade.hidden(entry):
        hits = TriggerIndex([hidden]).hits(task) if isinstance(hidden, Recipe) else ()
        phrases = list(dict.fromkeys(hit.phrase for hit in hits))
        if phrases and not (isinstance(entry.recipe, Recipe) and set(phrases) <= set(entry.recipe.phrases)):
            quoted = some_of([f"“{phrase}”" for phrase in phrases])
            yield f"it hides the {hidden.layer.kind.value} recipe {hidden.path}, whose trigger would match: {quoted}"


def _nearest_phrase(recipe: Recipe, task: str) -> str:
    """The phrase that came nearest by its words."""
    text = normalise(task)
    phrases = [(phrase, folded) for phrase in recipe.phrases if (folded := normalise_phrase(phrase))]
    if not phrases:
        return "it has no trigger phrases, so that only the model can choose it"
    if inside := next((phrase for phrase, folded in phrases if folded in text), None):
        return f"its phrase “{inside}” is in the task only as a part of longer words, and it asks for whole words"
    plain = _unaccented(text)
    if accented := next((phrase for phrase, folded in phrases if _has(plain, _unaccented(folded), recipe)), None):
        return f"its phrase “{accented}” differs from the task in accents or in the dot of an i, and these count"
    best, words, missing = max(_by_words(phrases, text, recipe), key=lambda each: 1 - len(each[2]) / len(each[1]))
    if len(missing) == len(words):
        kind = "whole word" if recipe.whole_words else "word"
        count = len(phrases)
        none = "its trigger phrase is not" if count == 1 else f"none of its {count} trigger phrases is"
        return f"{none} in the task, nor any {kind} of {'it' if count == 1 else 'them'}"
    if missing:
        return f"its phrase “{best}” came nearest: the task lacks {', '.join(f'“{word}”' for word in missing)}"
    return f"its phrase “{best}” came nearest: the task has all its words, but not as one piece"


def _by_words(
    phrases: Sequence[tuple[str, str]], text: str, recipe: Recipe
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each phrase with its words, and those of them that the task lacks."""
    for phrase, folded in phrases:
        words = folded.split()
        yield phrase, words, [word for word in words if not _has(text, word, recipe)]


def _has(text: str, part: str, recipe: Recipe) -> bool:
    """Whether a part is in a normalised text as the recipe's triggers look for it."""
    start = text.find(part)
    while start >= 0:
        if not recipe.whole_words or at_whole_words(text, start, start + len(part)):
            return True
        start = text.find(part, start + 1)
    return False


def _unaccented(text: str) -> str:
    bare = "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
    return bare.replace("ı", "i")
