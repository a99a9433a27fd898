"""What a model's answer depends on besides the task: prompt version, model, system prompt, engine catalog, inventory.

An answer that was recorded under one binding holds under another only where the question is the same, letter by letter;
the two bindings then say what has changed, recipe by recipe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vancectl.model.question import PROMPT_VERSION, Question, digest, question_digest
from vancectl.selector.semantic.wording import render_recipe

if TYPE_CHECKING:
    from vancectl.inventory.recipe import Recipe
    from vancectl.selector.semantic.prompt import Prompt

_NAMED = 10


@dataclass(frozen=True)
class Binding:
    """Digests of all that stays the same from task to task; `recipes` has one for each candidate, by name."""

    model: str
    system: str
    catalog: str
    recipes: dict[str, str] = field(repr=False)
    prompt_version: int = PROMPT_VERSION

    @classmethod
    def of(cls, model: str, prompt: Prompt, recipes: Sequence[Recipe]) -> Binding:
        return cls(
            model,
            digest(prompt.system),
            digest(prompt.catalog.render_for_prompt()),
            {recipe.name: digest(render_recipe(recipe, prompt.description_characters)) for recipe in recipes},
        )

    @cached_property
    def id(self) -> str:
        parts = [str(self.prompt_version), self.model, self.system, self.catalog]
        return digest("\0".join([*parts, *(f"{name}\0{text}" for name, text in self.recipes.items())]))

    def question(self, question: Question) -> str:
        return question_digest(self.model, question)

    def changes_since(self, old: Binding) -> Changes:
        return Changes(
            prompt=old.prompt_version != self.prompt_version or old.system != self.system,
            catalog=old.catalog != self.catalog,
            models=(old.model, self.model) if old.model != self.model else None,
            added=tuple(name for name in self.recipes if name not in old.recipes),
            removed=tuple(name for name in old.recipes if name not in self.recipes),
            changed=tuple(name for name, text in self.recipes.items() if old.recipes.get(name, text) != text),
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two bindings; where nothing does, the hits that hint at recipes or their order do."""

    prompt: bool = False
    catalog: bool = False
    models: tuple[str, str] | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def sentence(self) -> str:
        """What has changed, for a person."""
        said = []
        if self.models:
            said.append(f"the model ({self.models[0]} → {self.models[1]})")
        if self.prompt:
            said.append("the prompt")
        if self.catalog:
            said.append("the engine catalog")
        for word, names in (("changed", self.changed), ("added", self.added), ("removed", self.removed)):
            if names:
                more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
                said.append(f"recipes {word}: {', '.join(names[:_NAMED])}{more}")
        return "; ".join(said) or "the order of the recipes, or the trigger phrases that hint at them"

    def as_json(self) -> dict[str, Any]:
        return {
            "model": list(self.models) if self.models else None,
            "prompt": self.prompt,
            "catalog": self.catalog,
            "recipesChanged": list(self.changed),
            "recipesAdded": list(self.added),
            "recipesRemoved": list(self.removed),
        }
