"""One run of `vancectl check`: the recordings of each file of cases, asked for where that is wanted, then verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vancectl.assembly import assemble_semantic
from vancectl.cli.options import Via
from vancectl.disk.lock import HeldError, Lock
from vancectl.disk.plain_file import refusal
from vancectl.errors import Place, UsageError
from vancectl.model.model import ModelError
from vancectl.recordings.recordings import Recordings
from vancectl.routes.assembly import assemble_bench
from vancectl.routes.bench import Bench
from vancectl.routes.case import Case, read_cases
from vancectl.routes.files import recordings_of, unnamed_siblings
from vancectl.routes.names import absent_source
from vancectl.routes.recording import Recorder, Wanted, find_wanted
from vancectl.routes.verdict import CaseVerdict, Judged
from vancectl.selector.decision import Decision
from vancectl.selector.semantic.stage import Semantic

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.cli.scope import Scope
    from vancectl.inventory.cascade import Cascade


class CheckRun:
    """One run over the cases: a bench, and the recordings of each file of cases."""

    def __init__(self, scope: Scope, output: Output, model: str | None, *, allow_stale: bool) -> None:
        self._scope = scope
        self._output = output
        self._model = model
        self._recordings: dict[Path, Recordings] = {}
        self._locks: list[Lock] = []
        self._bench = assemble_bench(scope.cascade, scope.candidates, scope.settings, model, allow_stale=allow_stale)

    def judge(
        self, cases: Sequence[Case], replay: Path | None, record_with: tuple[Via, int] | None, *, prune: bool = False
    ) -> list[Judged]:
        """All verdicts, in the order of the cases. With `prune` the recordings are kept from others until then."""
        by_file: dict[Path, list[Case]] = {}
        for case in cases:
            by_file.setdefault(replay or recordings_of(case.place.path), []).append(case)
        benches, unasked = {}, {}
        for path, own in by_file.items():
            if record_with is not None or prune:
                lock = _lock(path)
                self._locks.extend([lock] if lock is not None else [])
            self._recordings[path] = Recordings.read(path, must_exist=replay is not None and record_with is None)
            benches[path] = self._bench.over(self._recordings[path])
            unasked[path] = self._record(benches[path], path, own, *record_with) if record_with else {}
        return [
            _where_sources_are(case, benches[path].judge(case, unasked[path]), self._scope.cascade)
            for case in cases
            for path in [replay or recordings_of(case.place.path)]
        ]

    def close(self) -> None:
        """Lets other runs write the recordings."""
        for lock in self._locks:
            lock.release()

    def _record(self, bench: Bench, path: Path, cases: Sequence[Case], via: Via, jobs: int) -> dict[str, Decision]:
        from vancectl.cli.render.progress import Progress

        if bench.replay is None:
            return {}
        wanted = find_wanted(bench, cases)
        if not wanted:
            self._recordings[path].save()
            return {}
        scope = self._scope
        try:
            live = assemble_semantic(scope.cascade, scope.candidates, scope.settings, self._model)
        except ModelError:
            # No key, or nothing to ask: the selector's own decision says why, once for each task.
            selector = scope.selector(self._model)
            return {each.task: selector.select(each.task) for each in wanted}
        if via is Via.BATCHES:
            return self._record_via_batches(bench, path, wanted, live)
        progress = Progress("recording", lambda: len(wanted), quiet=scope.quiet)
        try:
            recorder = Recorder(bench, live, self._recordings[path])
            return recorder.record(wanted, jobs, progress.step)
        finally:
            progress.clear()

    def _record_via_batches(
        self, bench: Bench, path: Path, wanted: Sequence[Wanted], live: Semantic
    ) -> dict[str, Decision]:
        from vancectl.batch.submitted import collect, open_batches
        from vancectl.model.messages_api.batches import Answered, request_id

        batches = open_batches(live, self._output.warn)
        name = live.model.name
        questions = {
            request_id(name, question, number): question
            for each in wanted
            for question in [bench.question(each.task)]
            if question is not None
            for number in range(each.missing)
        }
        replies = collect(batches, questions)
        once = replace(live, max_attempts=1)
        recorder = Recorder(bench, once, self._recordings[path], lambda number: Answered(name, replies, number))
        unasked = recorder.record(wanted, 1, lambda: None)
        batches.close()
        return unasked

    def prune(self, files: Sequence[Path], cases: Sequence[Case]) -> None:
        """Cases in files that were not named keep their recordings, too."""
        others = read_cases(unnamed_siblings(files))
        broken = next((finding for finding in others.findings if finding.code != "no-cases"), None)
        if broken is not None:
            raise UsageError(
                f"nothing is pruned, since other cases here cannot be read: {broken.sentence()}",
                where=broken.place,
                remedy=broken.remedy(),
            )
        used = {case.task for case in (*cases, *others.cases)}
        for path, recordings in self._recordings.items():
            dropped = recordings.prune(used)
            recordings.save()
            if dropped:
                self._output.warn(f"{path}: {len(dropped)} recordings dropped that no case uses")


def _lock(path: Path) -> Lock | None:
    """What one run writes over, another would lose. None where nothing can be written: who tries to will say why."""
    if refusal(path) is not None:
        return None
    try:
        return Lock(path.with_name(f"{path.name}.lock"))
    except HeldError as error:
        by = f"process {error.holder}" if error.holder else "another process"
        raise UsageError(f"{by} is writing these recordings", where=Place(path), remedy="wait until it ends") from None
    except OSError:
        return None


def _where_sources_are(case: Case, judged: Judged, cascade: Cascade) -> Judged:
    """A verdict that hangs on a source which is not on this machine is none: elsewhere the case may be right."""
    absent = absent_source(case, cascade)
    if absent is not None:
        return replace(judged, verdict=CaseVerdict.UNRECORDED, why=f"the source `{absent}` is not on this machine")
    if case.with_sources and judged.verdict is CaseVerdict.STALE and not cascade.layers.sources:
        return replace(judged, verdict=CaseVerdict.UNRECORDED, why="recorded with sources that this machine lacks")
    return judged
