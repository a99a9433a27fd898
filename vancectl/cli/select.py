"""`vancectl select`: prints the decision."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.output import Output
    from vancectl.selector.decision import Decision
    from vancectl.selector.selector import Selector

ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="The model, or an alias of the settings. [VANCECTL_MODEL]"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, as in a pipe.")]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit with 4 where the model was needed and could not be used.")
]


@scoped
def select(
    scope: Scope,
    task: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TASK…]", help="The task in plain words; `-` reads it from standard input."),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the task from a file.")] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch",
            metavar="FILE",
            help="Decide many tasks: JSON lines with `task`, or a task a line; `-` is standard input.",
        ),
    ] = None,
    model: ModelOption = None,
    json_output: JsonOption = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 on NONE.")] = False,
    strict: StrictOption = False,
) -> None:
    """Say which recipe fits a task, or that none does, and why."""
    from vancectl.cli.task import read_task
    from vancectl.errors import ExitStatus, UsageError

    output = scope.output(as_json=json_output)
    words = read_task(task or [], file)
    if batch is not None and words is not None:
        raise UsageError("a task and --batch are both given", remedy="leave one of them out")
    if batch is None and words is None:
        raise UsageError("there is no task", remedy='say it in words, as in: vancectl select "summarise this report"')
    scope.report_findings(output)
    selector = scope.selector(model)
    for broken in scope.inventory.broken:
        output.warn(f"broken recipe left out: {broken.fault}")
    if batch is not None:
        decisions = _select_batch(selector, batch, output)
    else:
        decisions = _Tally()
        decisions.add(selector.select(words or ""))
        _print(decisions.last, output)
    if strict and decisions.unanswered:
        raise typer.Exit(ExitStatus.MODEL_UNUSABLE)
    if decisions.bad_lines:
        raise typer.Exit(ExitStatus.USAGE)
    if exit_code and decisions.none:
        raise typer.Exit(ExitStatus.NEGATIVE)


class _Tally:
    """What the exit status depends on."""

    def __init__(self) -> None:
        self.none = self.unanswered = self.bad_lines = 0
        self.last: Decision | None = None

    def add(self, decision: Decision) -> None:
        self.last = decision
        self.none += not decision.matches
        self.unanswered += decision.unanswered


def _select_batch(selector: Selector, path: Path, output: Output) -> _Tally:
    """A decision a line, in the order of the tasks; a bad line gives an object with `error` and the rest goes on."""
    tally = _Tally()
    for number, line in enumerate(_lines(path), 1):
        try:
            task, extra = _parse_line(line)
        except ValueError as error:
            tally.bad_lines += 1
            output.line({"version": 1, "error": f"line {number}: {error}"})
            continue
        decision = selector.select(task)
        tally.add(decision)
        output.line({**extra, **decision.as_json()})
    return tally


def _lines(path: Path) -> Iterator[str]:
    """The lines as they come; the first answer does not wait for the last task."""
    from vancectl.cli.task import STDIN
    from vancectl.errors import Place, UsageError

    try:
        stream = sys.stdin.buffer if str(path) == STDIN else open(path, "rb")  # noqa: SIM115  # closed with the process
    except OSError as error:
        raise UsageError(
            f"cannot be read: {(error.strerror or '').lower()}", where=Place(path), remedy="name a file, or `-`"
        ) from None
    for line in stream:
        yield line.decode("utf-8", "replace").rstrip("\r\n").removeprefix("\ufeff")


def _parse_line(line: str) -> tuple[str, dict[str, Any]]:
    """Task and what else goes into the answer (the caller's `id`). Raises ValueError for an object without a task."""
    if not line.lstrip().startswith("{"):
        return line, {}
    try:
        document = json.loads(line)
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(document.get("task"), str):
        raise ValueError("the object has no text `task`")
    return document["task"], {"id": document["id"]} if "id" in document else {}


def _print(decision: Decision | None, output: Output) -> None:
    if decision is None:
        return
    if output.as_json:
        output.document(decision.as_json())
    else:
        output.facts(decision_facts(decision.as_json()))


def decision_facts(decision: dict[str, Any]) -> list[tuple[str, str]]:
    """A decision for people, as labels and values."""
    facts = [
        (decision["decision"], f"{decision['recipe'] or decision['engine'] or '—'}"),
        ("engine", decision["engine"] or ""),
        ("why", decision["rationale"]),
        ("stage", f"{decision['stage']} ({decision['reason']})"),
    ]
    if decision["matched"]:
        hits = ", ".join(f"{hit['recipe']}: “{hit['phrase']}”" for hit in decision["matched"])
        facts.append(("triggers", hits))
    model = decision["model"]
    if model:
        facts.append(("model", f"{model['model']} ({model['backend']}, {model['latencyMs']} ms)"))
        facts.append(("evidence", model["evidence"] or ""))
        facts.append(("runner-up", model["runnerUp"] or ""))
        if model["leftOut"]:
            facts.append(("shortlist", f"{model['candidates']} of {model['candidates'] + model['leftOut']} recipes"))
    return facts
