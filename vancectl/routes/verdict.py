"""The verdict on one case: what it claims, held against what was decided, in one place for every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from vancectl.model.reason import Reason
from vancectl.model.use import ModelUse
from vancectl.recordings.fingerprint import Changes
from vancectl.routes.case import NONE, Case
from vancectl.selector.decision import Decision, Stage


class CaseVerdict(StrEnum):
    """The last three say that nothing could be judged: such a case is neither right nor wrong."""

    RIGHT = "right"
    WRONG_RECIPE = "wrong-recipe"
    MISSED = "missed"
    FALSE_MATCH = "false-match"
    WRONG_STAGE = "wrong-stage"
    WRONG_START = "wrong-start"
    STALE = "stale"
    UNRECORDED = "unrecorded"
    ERROR = "error"

    @property
    def judged(self) -> bool:
        return self not in _UNJUDGED

    @property
    def wrong(self) -> bool:
        return self.judged and self is not CaseVerdict.RIGHT


_UNJUDGED = frozenset({CaseVerdict.STALE, CaseVerdict.UNRECORDED, CaseVerdict.ERROR})
_BY_REASON = {Reason.NO_RECORDING: CaseVerdict.UNRECORDED, Reason.STALE_RECORDING: CaseVerdict.STALE}


@dataclass(frozen=True, slots=True)
class Started:
    """What `delegate` would start for a decision: a recipe or NONE, and the profile that it would apply."""

    recipe: str
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A case with its verdict and the evidence.

    `decision` is the commonest of `asked` answers, of which `right` were right. `changes` is set where a recorded
    answer is stale, whether it was let count or not. `stage_only` says that the model's answer was not needed.
    `uses` are the calls of all answers.
    """

    case: Case
    verdict: CaseVerdict
    decision: Decision
    why: str
    asked: int = 1
    right: int = 0
    changes: Changes | None = None
    stage_only: bool = False
    uses: tuple[ModelUse, ...] = ()

    @property
    def decided(self) -> str | None:
        """A recipe's name or NONE; None where nothing was decided."""
        return None if self.decision.unanswered else self.decision.recipe or NONE

    @property
    def truth(self) -> str | None:
        """The right name: what was decided where that is right, else `expect`."""
        return self.decided if self.decided in self.case.right_names else self.case.expect

    def as_json(self) -> dict[str, Any]:
        case = self.case
        return {
            "file": str(case.place.path),
            "line": case.place.line,
            "id": case.id,
            "task": case.task,
            "tags": list(case.tags),
            "expect": case.expect,
            "accept": list(case.accept),
            "not": list(case.avoid),
            "verdict": self.verdict.value,
            "why": self.why,
            "decided": self.decided,
            "layer": self.decision.layer,
            "shadows": list(self.decision.shadows),
            "stage": self.decision.stage.value,
            "reason": self.decision.reason.value,
            "rationale": self.decision.rationale,
            "matched": [hit.as_json() for hit in self.decision.matched],
            "asked": self.asked,
            "right": self.right,
            "stale": self.changes.as_json() if self.changes is not None else None,
        }


def judge(
    case: Case,
    decisions: Sequence[Decision],
    started: Callable[[Decision, str | None], Started],
    changes: Changes | None = None,
) -> Judged:
    """The verdict over one or more answers. `started` tells what a decision would start, with the case's profile."""
    verdicts = [_verdict(case, decision, started) for decision in decisions]
    counts = Counter(verdict for verdict, _ in verdicts)
    right = counts[CaseVerdict.RIGHT]
    needed = case.at_least if len(decisions) > 1 else 1
    open_answers = sum(count for verdict, count in counts.items() if not verdict.judged)
    if right >= needed:
        chosen = CaseVerdict.RIGHT
    elif right + open_answers >= needed:  # those that nobody could judge might have been right
        chosen = next(verdict for verdict, _ in verdicts if not verdict.judged)
    else:
        chosen = max((verdict for verdict in counts if verdict.wrong), key=counts.__getitem__)
    # The commonest of the answers with that verdict stands for all.
    names = Counter(
        decision.recipe for decision, (verdict, _) in zip(decisions, verdicts, strict=True) if verdict is chosen
    )
    name = names.most_common(1)[0][0]
    decision, why = next(
        (decision, why)
        for decision, (verdict, why) in zip(decisions, verdicts, strict=True)
        if verdict is chosen and decision.recipe == name
    )
    if len(decisions) > 1:
        why = f"{right} of {len(decisions)} answers are right, {needed} are needed" + (f": {why}" if why else "")
    only = chosen is CaseVerdict.RIGHT and decision.unanswered
    uses = tuple(decision.model for decision in decisions if decision.model is not None)
    return Judged(case, chosen, decision, why, len(decisions), right, changes, only, uses)


def _verdict(
    case: Case, decision: Decision, started: Callable[[Decision, str | None], Started]
) -> tuple[CaseVerdict, str]:
    if decision.unanswered:
        return _unanswered(case, decision)
    name = decision.recipe or NONE
    said = f"{_said(decision)}"
    if case.right_names and name not in case.right_names:
        wanted = " or ".join(case.right_names)
        if case.expect == NONE:
            return CaseVerdict.FALSE_MATCH, f"{said}, where NONE was due"
        if name == NONE:
            return CaseVerdict.MISSED, f"{said}, where {wanted} was due"
        return CaseVerdict.WRONG_RECIPE, f"{said}, where {wanted} was due"
    if name in case.avoid:
        verdict = CaseVerdict.MISSED if name == NONE else CaseVerdict.WRONG_RECIPE
        return verdict, f"{said}, which the case says is wrong"
    if case.stage is not None and case.stage != decision.stage.value:
        return CaseVerdict.WRONG_STAGE, f"{said}, where the stage {case.stage} should have decided"
    if case.starts is not None or case.profile is not None:
        start = started(decision, case.profile)
        if case.starts is not None and start.recipe != case.starts:
            return CaseVerdict.WRONG_START, f"{start.recipe} would be started, where {case.starts} was due"
        if case.profile is not None and start.profile != case.profile:
            return CaseVerdict.WRONG_START, f"{start.recipe} has no profile `{case.profile}`"
    return CaseVerdict.RIGHT, ""


def _unanswered(case: Case, decision: Decision) -> tuple[CaseVerdict, str]:
    """The task needs the model, and there is no answer. What is claimed of stage one can be judged all the same."""
    if case.stage is not None and case.stage != Stage.MODEL.value:
        return CaseVerdict.WRONG_STAGE, f"the model is needed ({_hits(decision)}), where the stage {case.stage} was due"
    stage_only = case.stage is not None and case.expect is None and case.starts is None
    if stage_only and decision.reason is not Reason.STALE_RECORDING:
        return CaseVerdict.RIGHT, f"left to the model ({_hits(decision)}), whose answer the case does not claim"
    why = decision.model.error if decision.model is not None else None
    return _BY_REASON.get(decision.reason, CaseVerdict.ERROR), why or decision.rationale


def _said(decision: Decision) -> str:
    name = decision.recipe or NONE
    if decision.stage is Stage.TRIGGER:
        return f"{name} by the trigger “{decision.matched[0].phrase}”"
    if decision.stage is Stage.MODEL:
        return f"{name} by the model ({decision.rationale})"
    return f"{name} ({decision.rationale})"


def _hits(decision: Decision) -> str:
    names = list(dict.fromkeys(hit.recipe for hit in decision.matched))
    return f"triggers of {', '.join(names)} are hit" if names else "no trigger is hit"
