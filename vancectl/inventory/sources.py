"""Adds the sources to the layers: the folders of other programs, as the tenant's settings have them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vancectl.errors import Place, SettingsError
from vancectl.inventory.layer import Layer, LayerKind, Layers
from vancectl.reading.finding import Finding
from vancectl.settings.tenant import tenant_folder
from vancectl.settings.trust import FOLDERS, is_trusted
from vancectl.sources.places import AUTO, find_sources
from vancectl.sources.source import Source

if TYPE_CHECKING:
    from vancectl.settings.settings import Settings

SETTING = "sources"
_GROUPS = (SETTING, "trust")


def with_sources(layers: Layers, directory: Path, assignments: Iterable[str], load: Callable[[], Settings]) -> Layers:
    """The same layers with their sources. Settings are loaded only where some place speaks of sources or trust."""
    setting, trusted = AUTO, []
    if _spoken_of(layers, assignments):
        try:
            settings = load()
        except SettingsError as error:
            # Which ones are wanted is unknown; a decision that a phrase makes needs no settings.
            place = error.where or Place(Path("settings.yaml"))
            return layers._replace(findings=(*layers.findings, Finding("sources-left-out", place)))
        setting, trusted = settings[SETTING], settings[FOLDERS]
    home = Path(os.path.expanduser("~"))

    def trusts(folder: Path, more: Sequence[str]) -> bool:
        return is_trusted(folder, [*trusted, *more])

    found, left = find_sources(setting, home if home.is_absolute() else None, directory, trusts)
    return layers._replace(sources=tuple(map(_layer, found)), untrusted=tuple(map(_layer, left)))


def _layer(source: Source) -> Layer:
    return Layer(LayerKind.SOURCE, source.directory, source)


def _spoken_of(layers: Layers, assignments: Iterable[str]) -> bool:
    if os.environ.get("VANCECTL_DEFAULTS_DIR") or any(
        name.startswith(tuple(f"VANCECTL_{group.upper()}" for group in _GROUPS)) for name in os.environ
    ):
        return True
    if any(assignment.lstrip().startswith(_GROUPS) for assignment in assignments):
        return True
    folder = tenant_folder(layers.tenant)
    try:
        data = (folder / "settings.yaml").read_bytes() if folder is not None else b""
    except OSError:
        return False
    return any(group.encode() in data for group in _GROUPS) or b"\\" in data  # a key may be written with escapes
