"""How alike two descriptions are: the cosine of their weighted terms, 0 for nothing in common and 1 for the same.

A term weighs by how rare it is in the library, so that what all descriptions say ("take it when") counts for little.
No word is left out: "turns on" and "turns off" differ in one that other texts use as mere grammar.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log, sqrt

from vancectl.selector.shortlist.terms import terms

Pair = tuple[int, int, float]


class Likeness:
    """The descriptions of a library, ready to be compared."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        found = Counter(term for each in counts for term in each)
        rarity = {term: log(1 + len(texts) / number) for term, number in found.items()}
        self._vectors = [
            {term: (1 + log(count)) * rarity[term] for term, count in sorted(each.items())} for each in counts
        ]
        self._norms = [sqrt(sum(weight * weight for weight in vector.values())) for vector in self._vectors]
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        for number, vector in enumerate(self._vectors):
            for term in vector:
                self._postings[term].append(number)

    def of(self, left: int, right: int) -> float:
        a, b = sorted((self._vectors[left], self._vectors[right]), key=len)
        norm = self._norms[left] * self._norms[right]
        return min(1.0, sum(weight * b[term] for term, weight in a.items() if term in b) / norm) if norm else 0.0

    def pairs(self, least: float) -> list[Pair]:
        """All pairs that are at least so alike, the most alike first."""
        pairs: list[Pair] = []
        for left, vector in enumerate(self._vectors):
            shared: defaultdict[int, float] = defaultdict(float)
            for term, weight in vector.items():
                for right in self._postings[term]:
                    if right > left:
                        shared[right] += weight * self._vectors[right][term]
            pairs.extend(
                (left, right, min(1.0, product / (self._norms[left] * self._norms[right])))
                for right, product in shared.items()
                if product >= least * self._norms[left] * self._norms[right]
            )
        return sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))

    def terms(self, number: int) -> frozenset[str]:
        return frozenset(self._vectors[number])
