"""`vancectl settings`: every value, who set it, and where."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def settings() -> None:
    """Settings: bundled < tenant < environment < options."""


@app.command("show")
@scoped
def show_settings(
    scope: Scope,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="Only this setting.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Show the settings in force with the source of each."""
    from vancectl.errors import Place
    from vancectl.settings.keys import KINDS
    from vancectl.settings.settings import unknown_key, variable_of
    from vancectl.settings.tenant import tenant_folder

    output = scope.output(as_json=json_output)
    if key is not None and key not in KINDS:
        raise unknown_key(key, None)
    rows = [
        {
            "key": name,
            "value": _shown(name, value.value),
            "source": value.source.value,
            "origin": value.origin,
            "variable": variable_of(name),
        }
        for name, value in scope.settings.values()
        if key in (None, name)
    ]
    if output.as_json:
        output.array(rows)
        return
    output.table(
        ("key", "value", "source", "origin"),
        ((row["key"], json.dumps(row["value"], ensure_ascii=False), row["source"], row["origin"]) for row in rows),
        empty="no settings",
    )
    folder = tenant_folder(scope.layers.tenant)
    if folder is not None:
        output.note(f"the tenant's file is {Place(folder / 'settings.yaml')}")


def _shown(key: str, value: Any) -> Any:
    """Without the secrets that the environments of programs hold; their names stay."""
    from vancectl.programs.secrets import masked
    from vancectl.settings.keys import ENVIRONMENTS

    if key == "spawn.engines":
        return {
            engine: {part: _shown(f"spawn.{part}", each) for part, each in parts.items()}
            for engine, parts in value.items()
        }
    if key not in ENVIRONMENTS or not value:
        return value
    return {name: masked(name, text) for name, text in value.items()}
