"""Recipes that a process generates: where they belong, what their author is told, and which one has come of it.

The process that generates has the name that was asked for, until what it has generated takes that over: so a name has
one generator, whoever asks again meanwhile, and whatever becomes of who asked first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.delegation.hindrance import hindrance_of
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.layer import Layer, LayerKind, Layers
from vancectl.process.output import last_line_object
from vancectl.process.store import ProcessRecord
from vancectl.settings.settings import Settings
from vancectl.text.names import canonical

FOLDER = "_slart"
PENDING = "PENDING"
_PARAM, _KIND = "generates", "recipe"
_ID_LETTERS = 6
# Of `--recipes` the nearest folder: it takes the place of the cascade.
_STORED_IN = (LayerKind.PROJECT, LayerKind.TENANT, LayerKind.DIRECTORY)


class Assignment(NamedTuple):
    """What the author of a recipe must know: the layer that its caller reads, and the engines that can be started."""

    recipes: Path
    engines: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"recipesFolder": str(self.recipes), "engines": list(self.engines)}

    def instructions(self, process_id: str) -> str:
        """For a program that saves the file itself."""
        folder = f"{FOLDER}/{process_id or '<process id>'}"
        return (
            f"Save the recipe in the folder {self.recipes / folder}, as NAME.yaml with a name of lower-case letters, "
            f"digits and `-` for NAME; make the folder. Its engine must be one of {', '.join(self.engines)}: no other "
            "can be started here. Say everything else before that; the last line of the output must be "
            f'exactly this JSON object, with that name in place of NAME:\n{{"generatedRecipe": "{folder}/NAME"}}'
        )


def generates(params: Mapping[str, Any]) -> bool:
    """Whether an applied recipe with these params writes a recipe."""
    return params.get(_PARAM) == _KIND


def find_assignment(layers: Layers, settings: Settings, engines: Iterable[str]) -> Assignment | None:
    """None where there is no layer to store a recipe in."""
    layer = storing_layer(layers)
    if layer is None:
        return None
    return Assignment(layer.directory, tuple(name for name in engines if hindrance_of(settings, name, {}) is None))


def storing_layer(layers: Layers) -> Layer | None:
    """The nearest one of the project, else the tenant's, else the nearest that `--recipes` names."""
    for kind in _STORED_IN:
        for layer in layers.nearest_first:
            if layer.kind is kind:
                return layer
    return None


def generated_name(process: ProcessRecord, cascade: Cascade) -> str | None:
    """A name that the cascade has. Only a name below `_slart/` counts: what is generated is nothing that was there."""
    said = last_line_object(process.reply).get("generatedRecipe")
    if isinstance(said, str) and canonical(said).startswith(f"{FOLDER}/") and canonical(said) in cascade.names:
        return canonical(said)
    below = [name for name in cascade.names if name.startswith(f"{FOLDER}/{process.id}/")]
    return below[0] if len(below) == 1 else None


def later_name(record: ProcessRecord) -> str:
    """What the generating process is called once its name is free for what it has generated."""
    return f"{record.name}-{record.id[:_ID_LETTERS]}"


def holds_the_name(record: ProcessRecord) -> bool:
    """Whether this is a process that generates, or has generated, what the name was asked for."""
    renamed = record.name.endswith(f"-{record.id[:_ID_LETTERS]}")
    return record.decision.get("outcome") == PENDING and not renamed
