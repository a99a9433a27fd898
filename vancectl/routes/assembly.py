"""Puts together what cases are judged by: a selector whose stage two replays recordings."""

from __future__ import annotations

from vancectl.assembly import assemble_replay
from vancectl.inventory.cascade import Cascade
from vancectl.model.model import ModelError
from vancectl.recordings.recordings import Recordings
from vancectl.routes.bench import Bench
from vancectl.routes.start import Starts
from vancectl.selector.selector import Selector
from vancectl.selector.semantic.stage import Semantic
from vancectl.selector.shortlist.candidates import Candidates
from vancectl.settings.settings import Settings


def assemble_bench(
    cascade: Cascade, candidates: Candidates, settings: Settings, wanted: str | None, *, allow_stale: bool = False
) -> Bench:
    """A bench without recordings yet. Where stage two lacks a part, the decisions of those who need it say which."""
    starts = Starts(cascade, settings)
    try:
        semantic, replay = assemble_replay(
            cascade, candidates, settings, wanted, Recordings.none(), allow_stale=allow_stale
        )
    except ModelError as error:
        missing = error

        def unbuilt() -> Semantic:
            raise missing

        return Bench(Selector(candidates.inventory, unbuilt, candidates.nearest, many_tasks=True), None, None, starts)

    selector = Selector(candidates.inventory, lambda: semantic, candidates.nearest, many_tasks=True)
    return Bench(selector, semantic, replay, starts, allow_stale)
