"""Which recipes to show the model when the library is too large to show it whole.

`LexicalRanker` ranks by words alone, without a package and within milliseconds: BM25 over terms, where a word of the
task also counts for the words that resemble it. That carries it over inflection, German compounds and cognates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import log, sqrt
from typing import Protocol

from vancectl.selector.shortlist.terms import FUNCTION_TERMS, terms

# BM25's usual constants: how fast repetition saturates, how much a long text is held against a recipe.
_SATURATION, _LENGTH_PENALTY = 1.2, 0.75
_TASK_SATURATION = 1.0  # the same for the task: a word that it repeats is not its only point
_NAME_WEIGHT = 2  # a word of the name counts as two
_FUNCTION_WEIGHT = 0.2  # not 0: "who are you" has nothing else to go by

# Resemblance is the cosine of two terms' n-grams, rare ones weighing more. A faint one is still better than a guess at
# the far end of a shortlist, but must not outweigh a real one: hence the low threshold and the power.
_GRAM_SIZES = (3, 4, 5)
_RESEMBLANCE_MIN = 0.1
_RESEMBLANCE_POWER = 1.5


class Ranker(Protocol):
    def rank(self, task: str) -> Sequence[int]:
        """Indices of the recipes, best first."""
        ...


@dataclass(frozen=True, slots=True)
class RecipeText:
    name: str
    title: str
    description: str
    phrases: tuple[str, ...]
    tags: tuple[str, ...]

    def term_counts(self) -> Counter[str]:
        counts = Counter(chain.from_iterable(map(terms, (self.title, self.description, *self.phrases, *self.tags))))
        for term in terms(self.name):
            counts[term] += _NAME_WEIGHT
        return counts


def shortlist(ranking: Sequence[int], limit: int, always: Collection[int]) -> list[int]:
    """Ascending indices: all of `always`, even if they are more than `limit`, and the ranking's best up to it."""
    kept = set(always)
    others = (index for index in ranking if index not in kept)
    return sorted([*kept, *islice(others, max(limit - len(kept), 0))])


class LexicalRanker:
    """Deterministic; ranks every recipe. Where two agree with the task equally, the shorter text comes first, since it
    had fewer chances to agree, then the order of the inventory."""

    def __init__(self, texts: Sequence[RecipeText]) -> None:
        documents = [text.term_counts() for text in texts]
        lengths = [document.total() for document in documents]
        self._ids: dict[str, int] = {}
        # Term id → (recipe, BM25 weight). A recipe's terms of equal count share one pair: 8 bytes a posting, not 90.
        self._postings: list[list[tuple[int, float]]] = []
        mean_length = sum(lengths) / max(1, len(lengths)) or 1
        for recipe, (document, length) in enumerate(zip(documents, lengths, strict=True)):
            penalty = _SATURATION * (1 - _LENGTH_PENALTY + _LENGTH_PENALTY * length / mean_length)
            pairs = {count: (recipe, count * (_SATURATION + 1) / (count + penalty)) for count in document.values()}
            for term, count in document.items():
                term_id = self._ids.setdefault(term, len(self._postings))
                if term_id == len(self._postings):
                    self._postings.append([])
                self._postings[term_id].append(pairs[count])
        self._rarity = [log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5)) for found in self._postings]
        # What a recipe's terms amount to together: the task can cover no more than this.
        self._substance = [sum(self._rarity[self._ids[term]] for term in document) or 1 for document in documents]
        self._on_a_tie = sorted(range(len(texts)), key=lengths.__getitem__)
        self._resemblance = _Resemblance(self._ids)

    def rank(self, task: str) -> list[int]:
        relevance = [0.0] * len(self._substance)
        coverage = relevance.copy()
        for term_id, (weight, likeness) in self._matches(task).items():
            relevance_share, coverage_share = weight * self._rarity[term_id], likeness * self._rarity[term_id]
            for recipe, bm25 in self._postings[term_id]:
                relevance[recipe] += relevance_share * bm25
                coverage[recipe] += coverage_share
        best = max(relevance, default=0) or 1
        # How much of the task the recipe answers, and how much of the recipe the task asks for: equals, both up to 1.
        scores = [
            relevant / best + covered / substance
            for relevant, covered, substance in zip(relevance, coverage, self._substance, strict=True)
        ]
        # Reversed or not, a sort leaves ties in the order that it found them in.
        return sorted(self._on_a_tie, key=scores.__getitem__, reverse=True)

    def _matches(self, task: str) -> dict[int, tuple[float, float]]:
        """The library's terms that the task has, or something like them: id → (summed weight, best likeness)."""
        matches: dict[int, tuple[float, float]] = {}
        for term, count in Counter(terms(task)).items():
            saturated = count * (_TASK_SATURATION + 1) / (count + _TASK_SATURATION)
            for term_id, resemblance in self._like(term):
                weight, likeness = matches.get(term_id, (0.0, 0.0))
                matches[term_id] = (weight + saturated * resemblance, max(likeness, resemblance))
        return matches

    def _like(self, term: str) -> Iterator[tuple[int, float]]:
        if term not in FUNCTION_TERMS:
            yield from self._resemblance.to(term)
        elif term in self._ids:
            yield self._ids[term], _FUNCTION_WEIGHT


class _Resemblance:
    """Finds the terms that share n-grams with a given one, through an index of n-grams over the vocabulary: far
    smaller than one over the recipes, since a word stands in many of them."""

    def __init__(self, ids: dict[str, int]) -> None:
        self._index: defaultdict[str, list[int]] = defaultdict(list)
        for term, term_id in ids.items():
            if term not in FUNCTION_TERMS:
                for gram in _grams(term):
                    self._index[gram].append(term_id)
        self._vocabulary = len(ids)
        squares = [0.0] * len(ids)
        for found in self._index.values():
            weight = self._weight(len(found))
            for term_id in found:
                squares[term_id] += weight
        self._norms = [sqrt(square) for square in squares]

    def _weight(self, found: int) -> float:
        """Squared rarity of a gram that `found` terms have."""
        return log(1 + self._vocabulary / max(1, found)) ** 2

    def to(self, term: str) -> list[tuple[int, float]]:
        """Ids of terms with their resemblance, 1 for the term itself."""
        shared: defaultdict[int, float] = defaultdict(float)
        square = 0.0
        for gram in _grams(term):
            found = self._index.get(gram, ())
            weight = self._weight(len(found))
            square += weight
            for term_id in found:
                shared[term_id] += weight
        norm = sqrt(square)
        cosines = ((term_id, weight / (norm * self._norms[term_id])) for term_id, weight in shared.items())
        return [(term_id, cosine**_RESEMBLANCE_POWER) for term_id, cosine in cosines if cosine >= _RESEMBLANCE_MIN]


def _grams(term: str) -> Collection[str]:
    """The term's n-grams, each once. Its start is marked and its end is not: inflection is at the end."""
    marked = f"^{term}"
    grams = (marked[start : start + size] for size in _GRAM_SIZES for start in range(len(marked) - size + 1))
    # Not a set: its order differs from run to run, and with it the last digit of a sum of floats.
    return dict.fromkeys(grams) or (marked,)
