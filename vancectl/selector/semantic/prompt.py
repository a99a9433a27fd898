"""What a question is made of: the parts that stay the same for an inventory, and the candidates for a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vancectl.inventory.catalog import EngineCatalog
from vancectl.model.question import Question
from vancectl.selector.semantic.wording import render_context, render_recipe, render_request, shown_description

if TYPE_CHECKING:
    from vancectl.inventory.recipe import Recipe
    from vancectl.selector.decision import Hit
    from vancectl.selector.shortlist.candidates import Shortlist

# Roughly what a token holds of the texts that prompts are made of; the model's own count stands in the decision.
CHARACTERS_PER_TOKEN = 4
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a prompt and its size."""

    name: str
    characters: int

    @property
    def tokens(self) -> int:
        """An estimate."""
        return -(-self.characters // CHARACTERS_PER_TOKEN)

    def as_json(self) -> dict[str, str | int]:
        return {"part": self.name, "characters": self.characters, "tokens": self.tokens}


@dataclass(slots=True)
class Prompt:
    """System prompt, engine catalog, and the shortlist that narrows an inventory for a task.

    `names` are those of the whole inventory: what may be answered, shown or not.
    """

    system: str
    catalog: EngineCatalog
    shortlist: Callable[[str, Sequence[Hit]], Shortlist]
    names: frozenset[str]
    description_characters: int
    _rendered: tuple[Sequence[Recipe], str, tuple[str, ...]] | None = field(default=None, init=False)

    def question(self, task: str, hits: Sequence[Hit]) -> Question:
        candidates, left_out = self.shortlist(task, hits)
        # An inventory within the limit is the same object for every task, and is rendered once. Candidates and their
        # text are kept as one: tasks are asked about at the same time, and each must get the text of its own.
        rendered = self._rendered
        if rendered is None or rendered[0] is not candidates:
            context = render_context(self.catalog, candidates, len(self.names), self.description_characters)
            rendered = self._rendered = (candidates, context, self._cut(candidates))
        names = tuple(recipe.name for recipe in candidates)
        request = render_request(task, hits)
        return Question(self.system, rendered[1], request, names, task=task, warnings=rendered[2], left_out=left_out)

    def _cut(self, candidates: Sequence[Recipe]) -> tuple[str, ...]:
        """What is to be said of descriptions that are shown in part."""
        most = self.description_characters
        # Rendering takes characters away and adds few, so most need no second look.
        long = [recipe for recipe in candidates if len(recipe.description) > most]
        cut = [recipe for recipe in long if len(shown_description(recipe)) > most]
        said = tuple(
            f"the description of `{recipe.name}` ({recipe.path}) has {len(recipe.description):,} characters; the model "
            f"is shown the first {most:,} (limits.descriptionCharacters)"
            for recipe in cut[:_NAMED]
        )
        return (*said, f"the same holds for {len(cut) - _NAMED} more recipes") if len(cut) > _NAMED else said

    def parts(self, task: str, hits: Sequence[Hit]) -> list[Part]:
        """System, catalog, task, then each recipe's line, the longest first."""
        recipes = [
            Part(f"recipe {recipe.name}", len(render_recipe(recipe, self.description_characters)))
            for recipe in self.shortlist(task, hits).shown
        ]
        return [
            Part("system", len(self.system)),
            Part("catalog", len(self.catalog.render_for_prompt())),
            Part("task", len(render_request(task, hits))),
            *sorted(recipes, key=lambda part: (-part.characters, part.name)),
        ]
