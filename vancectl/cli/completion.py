"""Shell completion: names of recipes and engines, and nothing else on any stream."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer


def complete_recipe(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names that begin with what is typed. Whatever is wrong with the files must not disturb a prompt."""
    from vancectl.inventory.cascade import USER_PREFIX, Cascade
    from vancectl.inventory.layer import find_layers

    try:
        layers = find_layers(
            Path.cwd(),
            tenant=ctx.params.get("tenant"),
            with_project=not ctx.params.get("no_project"),
            directories=[Path(folder) for folder in ctx.params.get("recipes") or ()],
        )
        names = Cascade(layers).names
    except Exception:  # noqa: BLE001  # a completion that fails completes nothing
        return []
    if not incomplete.startswith("_"):  # nobody wants to see what was generated, and a user's own has a short name
        names = [name.removeprefix(USER_PREFIX) for name in names if not name.startswith("_") or USER_PREFIX in name]
    return _matching(names, incomplete)


def complete_engine(incomplete: str) -> list[str]:
    from vancectl.inventory.catalog import load_catalog

    try:
        names = load_catalog().names
    except Exception:  # noqa: BLE001  # as above
        return []
    return _matching(names, incomplete)


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    """Without what would act on a terminal, or cannot be typed."""
    return [
        name
        for name in dict.fromkeys(names)
        if name.startswith(incomplete) and name.isprintable() and "\ufffd" not in name
    ]
