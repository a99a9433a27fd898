"""`vancectl settings set` and `unset`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vancectl.cli.completion import complete_setting
from vancectl.cli.scope import Scope, scoped

KeyArgument = Annotated[
    str,
    typer.Argument(
        metavar="KEY", help="A key, or an entry of one: `spawn.env.DEBUG`.", autocompletion=complete_setting
    ),
]


@scoped
def set_value(
    scope: Scope,
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A text where one is expected, else JSON.")],
) -> None:
    """Set a key in the tenant's file; comments there stay."""
    from vancectl.settings.edit import with_value
    from vancectl.settings.settings import clean_value, parse_value

    parsed = parse_value(key, value, "VALUE")
    clean_value(key, parsed, "VALUE")
    _change(scope, key, lambda text, way: with_value(text, way, parsed))


@scoped
def unset_value(scope: Scope, key: KeyArgument) -> None:
    """Take a key out of the tenant's file, so that its default holds again."""
    from vancectl.settings.edit import without_value
    from vancectl.settings.settings import clean_value

    clean_value(key, None, "KEY")
    _change(scope, key, without_value)


def _change(scope: Scope, key: str, edit: Any) -> None:
    from vancectl.cli.tenant_file import read_tenant_file, write_tenant_file
    from vancectl.errors import Place, UsageError
    from vancectl.settings.edit import UneditableError
    from vancectl.settings.keys import split_key

    output = scope.output()
    path, before = read_tenant_file(scope)
    setting, entry = split_key(key)
    try:
        after = edit(before, [*setting.split("."), *entry])
    except UneditableError as error:
        raise UsageError(
            f"cannot be edited here: {error}", where=Place(path), remedy="`vancectl settings edit` opens it"
        ) from None
    if after == before:
        output.progress(f"note: nothing to change in {path}")
        return
    write_tenant_file(path, after)
    found = scope.fresh_settings().value(setting)
    output.progress(f"note: written to {path}")
    if found.origin != str(path) and edit.__name__ != "without_value":
        output.warn(f"{found.origin} sets `{setting}` in its place")
