"""A file in a layer that is not read; the cascade itself finds other spellings of `.yaml`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vancectl.errors import Place
from vancectl.lint.library import Library
from vancectl.lint.rule import LintRule
from vancectl.reading.finding import Finding
from vancectl.reading.rule import Severity

# What belongs beside recipes without being one.
_COMPANIONS = ("readme", "license", "licence", "notice", "changelog", "contributing", "codeowners")


def find(library: Library) -> Iterator[Finding]:
    for layer in library.cascade.layers.nearest_first:
        for folder, folders, files in os.walk(layer.directory):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                lower = name.lower()
                if name.startswith(".") or lower.endswith((".yaml", ".yml")) or lower.startswith(_COMPANIONS):
                    continue
                path = Path(folder) / name
                recipe = path.with_suffix(".yaml")
                beside = f"; {recipe.name} is what counts" if os.path.isfile(recipe) else ""
                yield RULE.at(Place(path), beside=beside)


RULE = LintRule(
    code="stray-file",
    severity=Severity.WARNING,
    sentence="is not read{beside}",
    remedy="move it out of the layer",
    why=(
        "A file beside the recipes that no one reads: a backup, a JSON twin, a script. READMEs and "
        "licences are no strays."
    ),
    find=find,
)
