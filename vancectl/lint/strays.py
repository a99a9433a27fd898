"""Files in a layer that nobody reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.lint.library import Library
from vancectl.reading.finding import Finding

# What belongs beside recipes without being one.
_COMPANIONS = ("readme", "license", "licence", "notice", "changelog", "contributing", "codeowners")


def stray_findings(library: Library) -> Iterator[Finding]:
    """Files of other kinds; other spellings of `.yaml` are found by the cascade itself."""
    for layer in library.cascade.layers.nearest_first:
        for folder, folders, files in os.walk(layer.directory):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                lower = name.lower()
                if name.startswith(".") or lower.endswith((".yaml", ".yml")) or lower.startswith(_COMPANIONS):
                    continue
                path = Path(folder) / name
                recipe = path.with_suffix(".yaml")
                beside = f"; {recipe.name} is what counts" if recipe.is_file() else ""
                yield Finding("stray-file", Place(path), {"beside": beside})
