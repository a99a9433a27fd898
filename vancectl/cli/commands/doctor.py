"""`vancectl doctor`: what holds here, what is wrong, and what helps."""

from __future__ import annotations

from typing import Annotated

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("doctor")
@scoped
def doctor(
    scope: Scope,
    online: Annotated[
        bool, typer.Option("--online", help="Ask the model's server, too, by a call that costs nothing.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Look over project, settings, recipes, model and programs, and say what is wrong and what helps."""
    from vancectl.cli.runs.doctor import Health, examine
    from vancectl.errors import ExitStatus

    output = scope.output(as_json=json_output)
    parts = list(examine(scope, online=online))
    if output.as_json:
        output.array({"part": each.name, "health": each.health.value, "text": each.text, "remedy": each.remedy or None}
                     for each in parts)  # fmt: skip
    else:
        marks = {Health.FINE: ("ok", "green"), Health.WARNING: ("warning", "yellow"), Health.FAULT: ("wrong", "red")}
        width = max(len(each.name) for each in parts)
        for each in parts:
            mark, style = marks[each.health]
            output.styled([[(f"{mark:<8}", style), (f"{each.name:<{width}}  ", "bold"), (each.text, "")]])
            if each.remedy:
                output.styled([[(f"{' ' * (10 + width)}→ {each.remedy}", "dim")]])
    if any(each.health is Health.FAULT for each in parts):
        raise typer.Exit(ExitStatus.NEGATIVE)
