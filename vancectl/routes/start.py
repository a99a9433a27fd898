"""What `delegate` would start for a decision: its own rules, applied without starting anything."""

from __future__ import annotations

from dataclasses import dataclass

from vancectl.delegation.applied import apply_recipe
from vancectl.delegation.fallback import SETTING, choose_fallback
from vancectl.errors import VancectlError
from vancectl.inventory.cascade import Cascade
from vancectl.routes.case import NONE
from vancectl.routes.verdict import Started
from vancectl.selector.decision import Decision
from vancectl.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Starts:
    """Answers for one cascade and its settings."""

    cascade: Cascade
    settings: Settings

    def __call__(self, decision: Decision, profile: str | None) -> Started:
        fallback = choose_fallback(decision, fallback_on_none=True, setting=self.settings[SETTING] or "")
        name = fallback.recipe if fallback is not None else decision.recipe
        if name is None:
            return Started(NONE)
        try:
            recipe = self.cascade.load(name)
        except VancectlError:  # `delegate` would fail with it; here it is simply not what the case says
            return Started(f"{name} (which cannot be used)")
        return Started(recipe.name, apply_recipe(recipe, {}, profile).profile)
