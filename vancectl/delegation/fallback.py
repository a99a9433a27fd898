"""What is started after NONE (docs/design.md, section 5). A fallback is never called a match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vancectl.inventory.inventory import DEFAULT_RECIPE
from vancectl.model.reason import Reason
from vancectl.selector.decision import Decision
from vancectl.text.names import canonical

SETTING = "routing.fallback.recipe"


@dataclass(frozen=True, slots=True)
class Fallback:
    """The recipe to start instead, and the rule that named it."""

    recipe: str
    source: str
    generated: str | None = None  # the recipe that this one has written, and that was started
    layer: str | None = None  # where the recipe comes from, and the files that it hides: as in the decision
    shadows: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        document = {
            "recipe": self.recipe,
            "source": self.source,
            "layer": self.layer,
            "shadows": list(self.shadows),
        }
        return {**document, "generatedRecipe": self.generated} if self.generated is not None else document


DEFAULT_FALLBACK = Fallback(DEFAULT_RECIPE, "default-recipe")


def choose_fallback(decision: Decision, *, fallback_on_none: bool, setting: str) -> Fallback | None:
    """None where nothing is started: on MATCH, with `fallback_on_none` off, or with an empty setting after a trigger.

    A blank task asks for nothing, so no fallback is started for it.
    """
    if decision.matches or not fallback_on_none or decision.reason is Reason.EMPTY_TASK:
        return None
    if not decision.trigger_observed:
        return DEFAULT_FALLBACK
    return Fallback(canonical(setting), SETTING) if setting else None
