"""Whether a project's recipe may be started: a tenant may want each folder listed first (`trust.required`)."""

from __future__ import annotations

import shlex
from pathlib import Path

from vancectl.delegation.generated import FOLDER
from vancectl.errors import Place, UsageError
from vancectl.inventory.layer import LayerKind
from vancectl.inventory.recipe import Recipe
from vancectl.settings.settings import Settings
from vancectl.settings.trust import FOLDERS, REQUIRED, is_trusted, owner_of


def may_grant(recipe: Recipe, settings: Settings) -> bool:
    """Whether a recipe may allow its program more tools: none of a folder that is not trusted, and no generated one."""
    if recipe.name.startswith(f"{FOLDER}/"):
        return False
    return recipe.layer.kind is not LayerKind.PROJECT or is_trusted(recipe.layer.project_folder, settings[FOLDERS])


def check_consent(recipe: Recipe, settings: Settings) -> None:
    """Raises UsageError for a project's recipe where the tenant wants to be asked for its folder first."""
    if recipe.layer.kind is not LayerKind.PROJECT or not settings[REQUIRED]:
        return
    folder = recipe.layer.project_folder
    if is_trusted(folder, settings[FOLDERS]):
        return
    raise UsageError(
        f"the recipe `{recipe.name}` comes from {folder}, which belongs to {owner_of(folder)} and is not among "
        f"trust.folders; {REQUIRED} is set in {settings.value(REQUIRED).origin}",
        where=Place(Path(recipe.path)),
        remedy=f"read it, then: vancectl trust {shlex.quote(str(folder))}",
    )
