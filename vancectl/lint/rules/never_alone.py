"""A phrase that can never be the only hit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vancectl.errors import Place
from vancectl.inventory.layer import LayerKind
from vancectl.lint.library import Library
from vancectl.lint.reachability import Blocked
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity
from vancectl.selector.decision import Hit


def find(library: Library) -> Iterator[Finding]:
    for blocked in library.blocked.values():
        blocked_by = [{"recipe": hit.recipe, "phrase": hit.phrase} for hit in blocked.by]
        yield RULE.at(
            _place(library, blocked),
            recipe=blocked.recipe, phrase=blocked.phrase, blockers=_in_words(blocked.by), blockedBy=blocked_by,
        )  # fmt: skip


def _place(library: Library, blocked: Blocked) -> Place:
    """The phrase's; where that is bundled and what blocks it is not, that of the latter, which can be changed."""
    recipe = library.by_name[blocked.recipe]
    if recipe.layer.kind is LayerKind.BUNDLED:
        for hit in blocked.by:
            other = library.by_name[hit.recipe]
            if other.layer.kind is not LayerKind.BUNDLED:
                return library.phrase_place(other, hit.phrase)
    return library.phrase_place(recipe, blocked.phrase)


def _in_words(hits: Sequence[Hit]) -> str:
    return ", ".join(f"“{hit.phrase}” of `{hit.recipe}`" for hit in hits)


RULE = LintRule(
    code="never-alone",
    severity=Severity.WARNING,
    sentence=(
        "the phrase “{phrase}” of `{recipe}` can never be the only hit: each task that holds it also hits {blockers}"
    ),
    remedy="change one of the phrases, or set `triggers.match: word` where a part of a word is hit",
    why=(
        "Trigger phrases decide only where exactly one recipe is hit. If all tasks that hold this phrase "
        "also hold a phrase of another recipe, it can never decide, and only adds questions to the model. "
        "This is proved with the matcher itself: the phrase is tried with a free edge and with a letter on "
        "either side, which covers every task that there can be."
    ),
    find=find,
)
