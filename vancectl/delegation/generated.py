"""The recipe that a process has generated: what it says itself, else the one file that lies in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vancectl.inventory.cascade import Cascade
from vancectl.process.output import last_line_object
from vancectl.text.names import canonical

FOLDER = "_slart"


def generated_name(process: Mapping[str, Any], cascade: Cascade) -> str | None:
    """A name that the cascade has. Only a name below `_slart/` counts: what is generated is nothing that was there."""
    said = last_line_object(process.get("reply")).get("generatedRecipe")
    if isinstance(said, str) and canonical(said).startswith(f"{FOLDER}/") and canonical(said) in cascade.names:
        return canonical(said)
    below = [name for name in cascade.names if name.startswith(f"{FOLDER}/{process.get('id')}/")]
    return below[0] if len(below) == 1 else None
