"""Layers: the directories of recipes, nearest first (project, tenant, bundled)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from vancectl.errors import Place, UsageError
from vancectl.folders import config_dir, defaults_dir
from vancectl.inventory.finding import Finding
from vancectl.inventory.project import Project, project_folders, read_project

DEFAULT_TENANT = "default"


class LayerKind(StrEnum):
    """Where a layer comes from; `directory` is one that `--recipes` names."""

    PROJECT = "project"
    TENANT = "tenant"
    BUNDLED = "bundled"
    DIRECTORY = "directory"


class Layer(NamedTuple):
    """One directory of recipes. It need not exist."""

    kind: LayerKind
    directory: Path


class Layers(NamedTuple):
    """The layers in force, nearest first, with the project and tenant that they belong to."""

    nearest_first: tuple[Layer, ...]
    tenant: str
    project: Project | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def has_bundled(self) -> bool:
        """False where `--recipes` took the place of the cascade."""
        return any(layer.kind is LayerKind.BUNDLED for layer in self.nearest_first)


def find_layers(
    directory: Path, *, tenant: str | None = None, with_project: bool = True, directories: Sequence[Path] = ()
) -> Layers:
    """The layers that hold at `directory`. `directories`, nearest first, replace the cascade.

    Tenant: the argument, then `VANCECTL_TENANT`, then the project's, then `default`.
    """
    folders, findings = project_folders(directory) if with_project else ([], [])
    project = read_project(folders[0]) if folders else None
    if project is not None:
        findings = [*findings, *project.findings]
    chosen = tenant or os.environ.get("VANCECTL_TENANT")
    where = None
    if not chosen and project is not None and project.tenant:
        chosen, where = project.tenant, Place(project.folder / "project.yaml")
    chosen = chosen or DEFAULT_TENANT
    check_tenant(chosen, where)
    if directories:
        for given in directories:
            if not os.path.isdir(given):
                raise UsageError(
                    f"no such folder of recipes: {given}", remedy="name an existing directory with --recipes"
                )
        layers = [Layer(LayerKind.DIRECTORY, given.absolute()) for given in directories]
        return Layers(_distinct(layers), chosen, project, tuple(findings))
    layers = []
    for project_folder in folders:
        recipes = project_folder / "recipes"
        target = Path(os.path.realpath(recipes))  # Path.resolve raises for a link to itself
        if not target.is_relative_to(os.path.realpath(project_folder.parent)):
            findings = [*findings, Finding("folder-outside", Place(recipes), {"target": str(target)})]
        else:
            layers.append(Layer(LayerKind.PROJECT, recipes))
    folder = tenant_folder(chosen)
    if folder is not None:
        layers.append(Layer(LayerKind.TENANT, folder / "recipes"))
    else:
        findings = [*findings, Finding("no-home", Place(Path("~")))]
    layers.append(Layer(LayerKind.BUNDLED, defaults_dir() / "recipes"))
    return Layers(_distinct(layers), chosen, project, tuple(findings))


def _distinct(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Each directory once, where it is nearest: no recipe shadows itself."""
    nearest: dict[str, Layer] = {}
    for layer in layers:
        nearest.setdefault(os.path.realpath(layer.directory), layer)
    return tuple(nearest.values())


def check_tenant(tenant: str, where: Place | None = None) -> None:
    """Raises UsageError for a name that could be a path."""
    if not tenant[:1].isalnum() or not all(character.isalnum() or character in "-_." for character in tenant):
        raise UsageError(
            f"`{tenant}` is no tenant's name",
            where=where,
            remedy="use letters, digits, `-`, `_` and `.`, beginning with a letter or digit",
        )


def tenant_folder(tenant: str) -> Path | None:
    """`<configuration>/tenants/<tenant>`; None without a home. Raises UsageError for a name that could be a path."""
    check_tenant(tenant)
    config = config_dir()
    return config / "tenants" / tenant if config is not None else None
