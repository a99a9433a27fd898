"""Which recipes lie close together: those that share triggers, and those whose descriptions are alike.

Where they form a cluster routing is fragile: a task for one may be taken by another.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from vancectl.lint.library import Library
from vancectl.lint.likeness import Likeness

# Of the bundled descriptions, written to be told apart, hardly a pair lies above it.
CLOSE = 0.3


@dataclass(frozen=True, slots=True)
class Shared:
    """A phrase of one recipe that also hits a phrase of another."""

    recipe: str
    phrase: str
    other: str
    other_phrase: str

    def as_json(self) -> dict[str, str]:
        return {
            "recipe": self.recipe,
            "phrase": self.phrase,
            "other": self.other,
            "otherPhrase": self.other_phrase,
        }


@dataclass(frozen=True, slots=True)
class Link:
    """Two recipes that lie close, `left` before `right` in the inventory."""

    left: str
    right: str
    likeness: float
    shared: tuple[Shared, ...]

    @property
    def weight(self) -> float:
        return self.likeness + len(self.shared)

    def as_json(self) -> dict[str, Any]:
        return {
            "left": self.left,
            "right": self.right,
            "likeness": round(self.likeness, 3),
            "shared": [each.as_json() for each in self.shared],
        }


@dataclass(frozen=True, slots=True)
class Cluster:
    """Recipes that hang together by links, the closest link first."""

    recipes: tuple[str, ...]
    links: tuple[Link, ...]

    def as_json(self) -> dict[str, Any]:
        return {"recipes": list(self.recipes), "links": [link.as_json() for link in self.links]}


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The clusters, the largest first, and the recipes that lie by themselves. `engines` by recipe."""

    clusters: tuple[Cluster, ...]
    alone: tuple[str, ...]
    engines: dict[str, str]
    close: float

    def as_json(self) -> dict[str, Any]:
        return {
            "version": 1,
            "close": self.close,
            "clusters": [cluster.as_json() for cluster in self.clusters],
            "alone": list(self.alone),
        }


def find_neighbours(library: Library, close: float = CLOSE) -> Neighbourhood:
    recipes = library.inventory.recipes
    names = [recipe.name for recipe in recipes]
    place = {name: number for number, name in enumerate(names)}
    likeness = Likeness([recipe.description for recipe in recipes])
    shared = _shared(library, place)
    alike = {(left, right): value for left, right, value in likeness.pairs(close)}
    links = [
        Link(
            names[left],
            names[right],
            alike.get((left, right)) or likeness.of(left, right),
            tuple(shared.get((left, right), ())),
        )
        for left, right in sorted({*alike, *shared})
    ]
    clusters = _clusters(names, links)
    together = {name for cluster in clusters for name in cluster.recipes}
    return Neighbourhood(
        tuple(clusters),
        tuple(name for name in names if name not in together),
        {recipe.name: recipe.engine for recipe in recipes},
        close,
    )


def _shared(library: Library, place: dict[str, int]) -> dict[tuple[int, int], list[Shared]]:
    """Phrases that, said alone, already hit two recipes. A phrase that both have counts once."""
    found: defaultdict[tuple[int, int], list[Shared]] = defaultdict(list)
    for trigger in library.index.triggers:
        for hit in library.index.hits(trigger.folded):
            if hit.recipe != trigger.recipe:
                here, there = place[trigger.recipe], place[hit.recipe]
                pair = (min(here, there), max(here, there))
                twin = any(each.phrase.casefold() == hit.phrase.casefold() for each in found[pair])
                if not (twin and hit.phrase.casefold() == trigger.phrase.casefold()):
                    found[pair].append(Shared(trigger.recipe, trigger.phrase, hit.recipe, hit.phrase))
    return found


def _clusters(names: list[str], links: list[Link]) -> list[Cluster]:
    """Connected parts, by union of the links."""
    above = {name: name for name in names}

    def top(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for link in links:
        above[top(link.right)] = top(link.left)
    members: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        members[top(name)].append(name)
    of_top: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        of_top[top(link.left)].append(link)
    clusters = [
        Cluster(tuple(group), tuple(sorted(of_top[name], key=lambda link: (-link.weight, link.left, link.right))))
        for name, group in members.items()
        if len(group) > 1
    ]
    return sorted(clusters, key=lambda cluster: (-len(cluster.recipes), cluster.recipes))
