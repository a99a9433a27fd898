"""`vancectl settings show`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from vancectl.cli.completion import complete_setting
from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped


@scoped
def show_settings(
    scope: Scope,
    key: Annotated[
        str | None,
        typer.Argument(metavar="[KEY]", help="Only this setting, or those below it.", autocompletion=complete_setting),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Show the settings in force with the source of each.

    Where the tenant's file is broken the others are shown, and the exit status is 2.
    """
    from vancectl.errors import Place, SettingsError
    from vancectl.settings.keys import KINDS
    from vancectl.settings.settings import unknown_key, variable_of
    from vancectl.settings.tenant import tenant_folder

    output = scope.output(as_json=json_output)
    wanted = [name for name in KINDS if key is None or name == key or name.startswith(f"{key}.")]
    if not wanted:
        raise unknown_key(key or "", None)
    broken: SettingsError | None = None
    try:
        settings = scope.settings
    except SettingsError as error:
        broken, settings = error, scope.settings_without_file()
    rows = [
        {
            "key": name,
            "value": _shown(name, settings.value(name).value),
            "source": settings.value(name).source.value,
            "origin": settings.value(name).origin,
            "variable": variable_of(name),
        }
        for name in wanted
    ]
    if output.as_json:
        output.array(rows)
    else:
        cells = (
            (row["key"], json.dumps(row["value"], ensure_ascii=False), row["source"], row["origin"]) for row in rows
        )
        output.table(("key", "value", "source", "origin"), cells, empty="no settings")
        folder = tenant_folder(scope.layers.tenant)
        if folder is not None:
            output.note(f"the tenant's file is {Place(folder / 'settings.yaml')}")
    if broken is not None:
        raise broken


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
