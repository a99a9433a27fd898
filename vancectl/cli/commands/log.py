"""`vancectl log`: what was decided, by which stage, and which recipes are never chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.completion import complete_recipe, complete_stage
from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.decision_log.history import History
    from vancectl.decision_log.log import Journal

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("log")
@scoped
def show_log(
    scope: Scope,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="A date, or an age such as 12h or 7d.")
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe", metavar="NAME", help="Only decisions for this recipe.", autocompletion=complete_recipe
        ),
    ] = None,
    stage: Annotated[
        str | None,
        typer.Option("--stage", metavar="STAGE", help="Only decisions of this stage.", autocompletion=complete_stage),
    ] = None,
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="What was decided in every project and for every tenant.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="NUMBER", min=0, help="How many decisions to show, the latest.")
    ] = 20,
    json_output: JsonOption = False,
) -> None:
    """Show what was decided, the rates per stage, and the recipes that are never chosen."""
    from datetime import UTC, datetime

    from vancectl.decision_log.history import look_back, parse_since
    from vancectl.errors import Place, UsageError
    from vancectl.selector.decision import Stage

    output = scope.output(as_json=json_output)
    if stage is not None and stage not in set(Stage):
        raise UsageError(f"there is no stage `{stage}`", remedy=f"the stages are {', '.join(Stage)}")
    start = parse_since(since, datetime.now(UTC)) if since is not None else None
    journal = scope.journal
    if journal is None:
        raise UsageError("there is no log without a home directory", remedy="set VANCECTL_STATE_DIR")
    # Of hundreds of agents of other programs most are never chosen, and nothing follows from that.
    inventory = [each.name for each in scope.inventory.recipes if each.source is None]
    project = scope.layers.project.key if scope.layers.project is not None else None
    here = None if all_projects else (scope.layers.tenant, project)
    try:
        history = look_back(journal.read(), inventory, since=start, recipe=recipe, stage=stage, scope=here)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be read: {reason}", where=Place(journal.path), remedy="make it readable") from None
    if history.unread:
        output.warn(f"{history.unread} lines of the log are no decisions and are passed over")
    document = history.as_json()
    document["decisions"] = document["decisions"][-limit:] if limit else []
    if output.as_json:
        output.document(document)
        return
    _print(document, history, output, journal)


def _print(document: dict[str, Any], history: History, output: Output, journal: Journal) -> None:
    output.table(
        ("time", "decision", "recipe", "stage", "task"),
        (
            (
                each["time"][:19].replace("T", " "),
                each["decision"],
                each["recipe"] or (f"({each['fallback']})" if each.get("fallback") else "—"),
                f"{each['stage']} ({each['reason']})",
                each.get("task") or f"{each['taskHash'][:8]}, {each['taskLength']} characters",
            )
            for each in document["decisions"]
        ),
        empty=f"nothing to show from {journal.path}",
        one_line=True,
    )
    if not document["total"]:
        return
    rates = ", ".join(f"{stage} {each['count']} ({each['rate']:.0%})" for stage, each in document["stages"].items())
    output.text("\n")
    output.facts(
        [
            ("decisions", str(document["total"])),
            ("stages", rates),
            ("recipes", ", ".join(f"{name} {count}" for name, count in history.recipes.items())),
            ("fallbacks", ", ".join(f"{name} {count}" for name, count in history.fallbacks.items())),
            ("never chosen", ", ".join(history.never_chosen)),
        ]
    )
