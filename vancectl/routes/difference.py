"""What changes between two states of a library: recipes, what they shadow, whose triggers meet, and what tasks get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vancectl.inventory.cascade import Cascade, Entry
from vancectl.inventory.difference import changed_fields
from vancectl.inventory.inventory import Inventory, take_inventory
from vancectl.inventory.recipe import BrokenRecipe
from vancectl.routes.case import NONE, Case
from vancectl.selector.selector import Selector

if TYPE_CHECKING:
    from vancectl.routes.bench import Bench

# A phrase of one recipe that stands in a phrase of another: a task with the longer one hits both.
Meeting = tuple[str, str, str, str]


class State:
    """One state of the library, with what is read from it once."""

    def __init__(self, cascade: Cascade) -> None:
        self.cascade = cascade
        self.entries: dict[str, Entry] = {entry.name: entry for entry in cascade.entries()}
        self.inventory: Inventory = take_inventory(cascade)

    @cached_property
    def meetings(self) -> set[Meeting]:
        from vancectl.selector.triggers.index import TriggerIndex

        index = TriggerIndex(self.inventory.recipes, many_tasks=True)
        return {
            (recipe.name, phrase, hit.recipe, hit.phrase)
            for recipe in self.inventory.recipes
            for phrase in recipe.phrases
            for hit in index.hits(phrase)
            if hit.recipe != recipe.name
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one state does with a task. `recipe` is a name or NONE, and None where only a model could tell."""

    recipe: str | None
    stage: str

    def as_json(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "stage": self.stage}


@dataclass(frozen=True, slots=True)
class TaskChange:
    """A task that the two states treat differently; `kind` is recipe, stage, or undecided."""

    case: Case
    kind: str
    before: Outcome
    after: Outcome

    def as_json(self) -> dict[str, Any]:
        place = self.case.place
        return {
            "task": self.case.task,
            "file": str(place.path),
            "line": place.line,
            "change": self.kind,
            "before": self.before.as_json(),
            "after": self.after.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that differs. `changed` names the fields, `shadowing` the layers shadowed before and after."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[tuple[str, tuple[str, ...]], ...]
    shadowing: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    new_meetings: tuple[Meeting, ...]
    gone_meetings: tuple[Meeting, ...]
    tasks: tuple[TaskChange, ...] = ()
    unchanged_tasks: int = 0

    @property
    def any(self) -> bool:
        return any((self.added, self.removed, self.changed, self.shadowing, self.tasks))

    def as_json(self) -> dict[str, Any]:
        return {
            "version": 1,
            "added": list(self.added),
            "removed": list(self.removed),
            "changed": [{"name": name, "fields": list(fields)} for name, fields in self.changed],
            "shadowing": [
                {"name": name, "before": list(before), "after": list(after)} for name, before, after in self.shadowing
            ],
            "triggersThatNowMeet": list(map(_meeting_json, self.new_meetings)),
            "triggersThatNoLongerMeet": list(map(_meeting_json, self.gone_meetings)),
            "tasks": [change.as_json() for change in self.tasks],
            "unchangedTasks": self.unchanged_tasks,
        }


def compare(before: State, after: State) -> Difference:
    """The difference of the recipes alone."""
    both = [name for name in after.entries if name in before.entries]
    changed = [(name, _changed_fields(before.entries[name], after.entries[name])) for name in both]
    shadows = [(name, _shadowed(before.entries[name]), _shadowed(after.entries[name])) for name in both]
    return Difference(
        added=tuple(name for name in after.entries if name not in before.entries),
        removed=tuple(name for name in before.entries if name not in after.entries),
        changed=tuple((name, fields) for name, fields in changed if fields),
        shadowing=tuple((name, old, new) for name, old, new in shadows if old != new),
        new_meetings=tuple(sorted(after.meetings - before.meetings)),
        gone_meetings=tuple(sorted(before.meetings - after.meetings)),
    )


def compare_tasks(before: Bench, after: Bench, cases: Iterable[Case]) -> Iterator[TaskChange | None]:
    """For each task once its change, or None where there is none.

    Triggers decide first, then recordings that still hold. A question that is the same in both states has the same
    answer, whatever it is.
    """
    seen: set[str] = set()
    for case in cases:
        if case.task in seen:
            continue
        seen.add(case.task)
        old, new = _outcome(before, case.task), _outcome(after, case.task)
        if None in {old.recipe, new.recipe}:
            yield _undecided(before, after, case, old, new)
        elif old.recipe != new.recipe:
            yield TaskChange(case, "recipe", old, new)
        else:
            yield TaskChange(case, "stage", old, new) if old.stage != new.stage else None


def _undecided(before: Bench, after: Bench, case: Case, old: Outcome, new: Outcome) -> TaskChange | None:
    if old.stage != new.stage:
        return TaskChange(case, "stage", old, new)
    questions = before.question(case.task), after.question(case.task)
    if questions[0] is not None and questions[0] == questions[1]:
        return None
    return TaskChange(case, "undecided", old, new)


def _outcome(bench: Bench, task: str) -> Outcome:
    selector: Selector = bench.selector
    decision = selector.select(task)
    return Outcome(
        None if decision.unanswered else decision.recipe or NONE,
        "model" if decision.unanswered else decision.stage.value,
    )


def _changed_fields(before: Entry, after: Entry) -> tuple[str, ...]:
    old, new = before.recipe, after.recipe
    if isinstance(old, BrokenRecipe) or isinstance(new, BrokenRecipe):
        if isinstance(old, BrokenRecipe) and isinstance(new, BrokenRecipe):
            return ()
        return ("(broken now)",) if isinstance(new, BrokenRecipe) else ("(no longer broken)",)
    return changed_fields(old, new)


def _shadowed(entry: Entry) -> tuple[str, ...]:
    return tuple(file.layer.kind.value for file in entry.shadows)


def _meeting_json(meeting: Meeting) -> dict[str, str]:
    recipe, phrase, other, inner = meeting
    return {"recipe": recipe, "phrase": phrase, "other": other, "otherPhrase": inner}
