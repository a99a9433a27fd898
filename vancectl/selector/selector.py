"""Both stages, from top to bottom: triggers first, one model call otherwise; never raises, never guesses.

There is no matching of recipe names on free text: a word in a task is content until a phrase or the model says that
it is intent (docs/design.md, section 4).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vancectl.inventory.inventory import Inventory
from vancectl.model.reason import Reason
from vancectl.selector.decision import Decision, Hit, Stage, Verdict
from vancectl.selector.triggers.index import TriggerIndex, single_recipe
from vancectl.text.names import some_of

if TYPE_CHECKING:
    from vancectl.model.model import ModelError
    from vancectl.model.use import ModelUse
    from vancectl.selector.semantic.stage import Semantic

NEAREST = 5


class Selector:
    """Decides tasks over one inventory.

    `semantic` builds stage two on first use, since its parts are costly to load; it raises ModelError where no model
    can be asked. `nearest` ranks recipe names for a person then.
    """

    def __init__(
        self,
        inventory: Inventory,
        semantic: Callable[[], Semantic],
        nearest: Callable[[str], Sequence[str]],
        *,
        many_tasks: bool = False,
    ) -> None:
        self._recipes = {recipe.name: recipe for recipe in inventory.recipes}
        self.index = TriggerIndex(inventory.recipes, many_tasks=many_tasks)
        self._build = semantic
        self._built: Semantic | ModelError | None = None
        self._nearest = nearest
        self._warnings = tuple(inventory.faults)
        self._shadows = inventory.shadows
        self._tenant = inventory.tenant

    def select(self, task: str) -> Decision:
        """One decision (docs/design.md, section 4)."""
        if not task.strip():
            return self._decision(None, Stage.NONE, Reason.EMPTY_TASK, "empty task description")
        if not self._recipes:
            rationale = "no recipes available in any layer; `vancectl recipes path` shows where they belong"
            return self._decision(None, Stage.NONE, Reason.NO_RECIPES, rationale)
        hits = self.index.hits(task)
        decided = self.by_hits(hits)
        if decided is not None:
            return decided
        semantic = self._semantic()
        if isinstance(semantic, Exception):
            return self._unasked(task, semantic, hits)
        outcome = semantic.decide(task, hits)
        decision = self._decision(outcome.recipe, Stage.MODEL, outcome.reason, outcome.rationale, hits, outcome.use)
        return decision.with_warnings(outcome.warnings)

    def asking(self, semantic: Semantic) -> Selector:
        """The same triggers before another stage two."""
        other = copy.copy(self)
        other._built = semantic
        return other

    @property
    def has_recipes(self) -> bool:
        return bool(self._recipes)

    @property
    def semantic(self) -> Semantic | None:
        """Stage two, built where it was not yet; None where it cannot be asked."""
        built = self._semantic()
        return None if isinstance(built, Exception) else built

    def needs_model(self, task: str) -> bool:
        """Whether stage one leaves the task to stage two."""
        return bool(task.strip()) and self.has_recipes and single_recipe(self.index.hits(task)) is None

    def by_trigger(self, task: str) -> Decision | None:
        """The decision of stage one alone; None where it leaves the task to stage two."""
        return self.by_hits(self.index.hits(task))

    def by_hits(self, hits: tuple[Hit, ...]) -> Decision | None:
        """The same for hits that were found already."""
        name = single_recipe(hits)
        if name is None:
            return None
        phrases = [f'"{phrase}"' for phrase in dict.fromkeys(hit.phrase for hit in hits)]
        rationale = f"matched trigger{'s' * (len(phrases) > 1)} {some_of(phrases)}; no other recipe's trigger matched"
        return self._decision(name, Stage.TRIGGER, Reason.SINGLE_TRIGGER, rationale, hits)

    def _semantic(self) -> Semantic | ModelError:
        from vancectl.model.model import ModelError

        if self._built is None:
            try:
                self._built = self._build()
            except ModelError as error:
                self._built = error
        return self._built

    def _unasked(self, task: str, error: ModelError, hits: tuple[Hit, ...]) -> Decision:
        """NONE because there is no model to ask; lists the nearest recipes, those whose triggers matched first."""
        matched = list(dict.fromkeys(hit.recipe for hit in hits))
        several = f"triggers of {len(matched)} recipes matched ({some_of(matched)}), and " if matched else ""
        nearest = tuple(dict.fromkeys([*matched, *self._nearest(task)]))[:NEAREST]
        hint = f"; nearest recipes: {', '.join(nearest)}" if nearest else ""
        return self._decision(None, Stage.NONE, error.reason, several + error.text + hint, hits, nearest=nearest)

    def _look_alike(self, name: str) -> tuple[str, ...]:
        from vancectl.text.lookalikes import appearance

        looks = appearance(name)
        twins = [other for other in self._recipes if other != name and appearance(other) == looks]
        return (f"`{name}` looks like `{twins[0]}`, and is another recipe",) if twins else ()

    def _decision(
        self,
        recipe: str | None,
        stage: Stage,
        reason: Reason,
        rationale: str,
        matched: tuple[Hit, ...] = (),
        model: ModelUse | None = None,
        nearest: tuple[str, ...] = (),
    ) -> Decision:
        chosen = self._recipes[recipe] if recipe is not None else None
        disguised = () if chosen is None or chosen.name.isascii() else self._look_alike(chosen.name)
        return Decision(
            Verdict.NONE if chosen is None else Verdict.MATCH,
            reason,
            rationale,
            stage,
            recipe=recipe,
            engine=chosen.engine if chosen is not None else None,
            matched=matched,
            candidates=len(self._recipes),
            warnings=(*self._warnings, *disguised),
            model=model,
            nearest=nearest,
            layer=chosen.layer.kind.value if chosen is not None else None,
            source=chosen.source if chosen is not None else None,
            shadows=self._shadows.get(chosen.name, ()) if chosen is not None else (),
            tenant=self._tenant,
        )
