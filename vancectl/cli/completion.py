"""Shell completion: names of recipes and engines, and nothing else on any stream."""

from __future__ import annotations

from pathlib import Path


def complete_recipe(incomplete: str) -> list[str]:
    """Names that begin with what is typed. Whatever is wrong with the files must not disturb a prompt."""
    from vancectl.inventory.cascade import Cascade
    from vancectl.inventory.layer import find_layers

    try:
        names = Cascade(find_layers(Path.cwd())).names
    except Exception:  # noqa: BLE001  # a completion that fails completes nothing
        return []
    return [name for name in names if name.startswith(incomplete)]


def complete_engine(incomplete: str) -> list[str]:
    from vancectl.inventory.catalog import load_catalog

    try:
        names = load_catalog().names
    except Exception:  # noqa: BLE001  # as above
        return []
    return [name for name in names if name.startswith(incomplete)]
