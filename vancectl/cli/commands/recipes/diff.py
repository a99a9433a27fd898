"""`vancectl recipes diff`: two states of a library, and what tasks get in each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vancectl.cli.render.output import Output
    from vancectl.inventory.layer import Layers
    from vancectl.routes.bench import Bench
    from vancectl.routes.case import Case
    from vancectl.routes.difference import Difference, State, TaskChange


@scoped
def diff_recipes(
    scope: Scope,
    before: Annotated[str, typer.Argument(metavar="A", help="A folder of recipes, or one in git: REV:path.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    cases: Annotated[
        list[Path] | None,
        typer.Option("--cases", metavar="FILE", help="Also say which of these tasks change (repeatable)."),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", metavar="FILE", help="The file of recordings. [routes.recorded.jsonl beside the cases]"
        ),
    ] = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Take each folder alone, not over the tenant's and the bundled recipes.")
    ] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 where anything differs.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Compare two states of a library: recipes, shadowing, triggers, and what tasks get."""
    from contextlib import ExitStack
    from dataclasses import replace

    from vancectl.errors import ExitStatus
    from vancectl.inventory.cascade import Cascade
    from vancectl.routes.difference import State, compare
    from vancectl.routes.revision import folders_of

    output = scope.output(as_json=json_output)
    read = _read_cases(cases or [], output)
    with ExitStack() as stack:
        states = []
        sides = stack.enter_context(folders_of(before, after))
        for given, side in zip((before, after), sides, strict=True):
            if side.missing:
                output.warn(f"there is no `{given}`, so that side is empty")
            layers = _layers(scope, side.folder, alone=alone)
            states.append(State(Cascade(layers, use_cache=False)))
        found = compare(states[0], states[1])
        if read:
            changes = _task_changes(scope, states, read, replay)
            tasks = tuple(change for change in changes if change is not None)
            found = replace(found, tasks=tasks, unchanged_tasks=len(changes) - len(tasks))
    if output.as_json:
        output.document(found.as_json())
    else:
        _print(output, found, with_tasks=bool(read))
    if exit_code and found.any:
        raise typer.Exit(ExitStatus.NEGATIVE)


def _layers(scope: Scope, folder: Path, *, alone: bool) -> Layers:
    """The folder stands where the project's recipes stand; with `--recipes`, those are the layers below it."""
    from vancectl.inventory.layer import Layer, LayerKind

    below = [] if alone else [layer for layer in scope.layers.nearest_first if layer.kind is not LayerKind.PROJECT]
    nearest = Layer(LayerKind.DIRECTORY if alone else LayerKind.PROJECT, folder.absolute())
    return scope.layers._replace(nearest_first=(nearest, *below))


def _read_cases(files: Sequence[Path], output: Output) -> Sequence[Case]:
    from vancectl.cli.render.check import bad_cases
    from vancectl.routes.case import read_cases

    read = read_cases(files)
    if read.findings:
        raise bad_cases(read.findings, output)
    return read.cases


def _task_changes(
    scope: Scope, states: Sequence[State], cases: Sequence[Case], replay: Path | None
) -> list[TaskChange | None]:
    from vancectl.recordings.recordings import Recordings
    from vancectl.routes.difference import compare_tasks
    from vancectl.routes.files import recordings_of

    benches = [_bench(scope, state) for state in states]
    by_file: dict[Path, list[Case]] = {}
    for case in cases:
        by_file.setdefault(replay or recordings_of(case.place.path), []).append(case)
    changes: list[TaskChange | None] = []
    for path, own in by_file.items():
        recordings = Recordings.read(path, must_exist=replay is not None)
        before, after = (bench.over(recordings) for bench in benches)
        changes.extend(compare_tasks(before, after, own))
    return changes


def _bench(scope: Scope, state: State) -> Bench:
    from vancectl.routes.assembly import assemble_bench
    from vancectl.selector.shortlist.candidates import Candidates

    return assemble_bench(state.cascade, Candidates(state.inventory, lambda: scope.settings), scope.settings, None)


def _print(output: Output, found: Difference, *, with_tasks: bool) -> None:
    rows = [("added", name, "") for name in found.added]
    rows += [("removed", name, "") for name in found.removed]
    rows += [("changed", name, ", ".join(fields)) for name, fields in found.changed]
    for name, old, new in found.shadowing:
        rows.append(("shadowing", name, f"{', '.join(old) or 'nothing'} → {', '.join(new) or 'nothing'}"))
    for word, meetings in (("now meet", found.new_meetings), ("no longer meet", found.gone_meetings)):
        rows += [(word, name, f"its “{phrase}” holds “{inner}” of {other}") for name, phrase, other, inner in meetings]
    output.table(("change", "recipe", "what"), rows, empty="no recipe differs")
    if not with_tasks:
        return
    output.text("\n")
    output.table(
        ("case", "change", "before", "after", "task"),
        (
            (
                f"{change.case.place.path.name}:{change.case.place.line}",
                change.kind,
                f"{change.before.recipe or '?'} ({change.before.stage})",
                f"{change.after.recipe or '?'} ({change.after.stage})",
                change.case.task,
            )
            for change in found.tasks
        ),
        empty=f"no task changes ({found.unchanged_tasks} looked at)",
    )
