"""Layers: the directories of recipes, nearest first (project, tenant, bundled)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from vancectl.disk.folders import defaults_dir
from vancectl.errors import Place, UsageError
from vancectl.inventory.project import Project, project_folders, read_project, stray_files
from vancectl.reading.finding import Finding
from vancectl.settings.tenant import check_tenant, tenant_folder
from vancectl.sources.source import Source

DEFAULT_TENANT = "default"
TENANT_VARIABLE = "VANCECTL_TENANT"


class LayerKind(StrEnum):
    """Where a layer comes from; `directory` is one that `--recipes` names, `source` another program's folder."""

    PROJECT = "project"
    TENANT = "tenant"
    BUNDLED = "bundled"
    DIRECTORY = "directory"
    SOURCE = "source"


class Layer(NamedTuple):
    """One directory of recipes. It need not exist."""

    kind: LayerKind
    directory: Path
    source: Source | None = None

    @property
    def project_folder(self) -> Path:
        """Of a project's layer: the folder that holds its `.vance`."""
        return self.directory.parent.parent


class TenantSource(StrEnum):
    """Who named the tenant."""

    OPTION = "option"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    DEFAULT = "default"


class Layers(NamedTuple):
    """The layers in force, nearest first, with the project and tenant that they belong to.

    `tenant_origin` says where the tenant is named: an option, a variable, or the path of a `project.yaml`.
    `sources` are the folders of other programs, of each the nearest first; `untrusted` those of a project that the
    tenant does not trust, whose recipes are no candidates.
    """

    nearest_first: tuple[Layer, ...]
    tenant: str
    project: Project | None = None
    findings: tuple[Finding, ...] = ()
    tenant_source: TenantSource = TenantSource.DEFAULT
    tenant_origin: str = ""
    sources: tuple[Layer, ...] = ()
    untrusted: tuple[Layer, ...] = ()

    @property
    def tenant_of_project(self) -> tuple[str, str] | None:
        """The tenant and the file that names it, where a project has another policy hold than the user's own.

        That is always said.
        """
        if self.tenant_source is not TenantSource.PROJECT or self.tenant == DEFAULT_TENANT:
            return None
        return self.tenant, self.tenant_origin

    @property
    def has_bundled(self) -> bool:
        """False where `--recipes` took the place of the cascade."""
        return any(layer.kind is LayerKind.BUNDLED for layer in self.nearest_first)


def find_layers(
    directory: Path,
    *,
    tenant: str | None = None,
    with_project: bool = True,
    directories: Sequence[Path] = (),
    named_by: str = "--tenant",
) -> Layers:
    """The layers that hold at `directory`. `directories`, nearest first, replace the cascade.

    Tenant: the argument, which `named_by` has named, then `VANCECTL_TENANT`, then the project's, then `default`. Raises
    UsageError where there is no such tenant: an empty one in its place would drop the policy that was meant to hold.
    """
    folders, findings = project_folders(directory) if with_project else ([], [])
    project = read_project(folders[0]) if folders else None
    if project is not None:
        findings = [*findings, *project.findings]
    chosen, source, origin = _chosen_tenant(tenant, named_by, project)
    check_tenant(chosen, Place(Path(origin)) if source is TenantSource.PROJECT else None)
    _check_is_there(chosen, source, origin)
    home = tenant_folder(chosen)
    for project_folder in folders:
        findings = [*findings, *stray_files(project_folder, home / "settings.yaml" if home is not None else None)]
    if directories:
        for given in directories:
            if not os.path.isdir(given):
                raise UsageError(
                    f"no such folder of recipes: {given}", remedy="name an existing directory with --recipes"
                )
        layers = [Layer(LayerKind.DIRECTORY, given.absolute()) for given in directories]
        return Layers(_distinct(layers), chosen, project, tuple(findings), source, origin)
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
    return Layers(_distinct(layers), chosen, project, tuple(findings), source, origin)


def _chosen_tenant(given: str | None, named_by: str, project: Project | None) -> tuple[str, TenantSource, str]:
    """The tenant's name, who gave it, and where. A variable that is set to nothing names none."""
    if given is not None:
        return given, TenantSource.OPTION, named_by
    variable = os.environ.get(TENANT_VARIABLE)
    if variable:
        return variable, TenantSource.ENVIRONMENT, TENANT_VARIABLE
    if project is not None and project.tenant:
        return project.tenant, TenantSource.PROJECT, str(project.folder / "project.yaml")
    return DEFAULT_TENANT, TenantSource.DEFAULT, ""


def _check_is_there(tenant: str, source: TenantSource, origin: str) -> None:
    """Only `default` may be missing, by whatever way it was named: without its folder all is as it comes bundled."""
    if tenant == DEFAULT_TENANT:
        return
    folder = tenant_folder(tenant)
    if source is TenantSource.PROJECT:
        named, where = "", Place(Path(origin))
    else:
        named, where = f", which {origin} names", None
    if folder is None:
        raise UsageError(
            f"without a home directory there is no tenant `{tenant}`{named}",
            where=where,
            remedy="set HOME to an absolute path, or VANCECTL_CONFIG_DIR",
        )
    if os.path.isdir(folder):
        return
    from vancectl.text.names import did_you_mean, near_names

    near = near_names(tenant, _tenants(folder.parent), most=1)
    raise UsageError(
        f"there is no tenant `{tenant}`{named}: {folder} is no folder",
        where=where,
        remedy=did_you_mean(near, "name one that exists with --tenant, or make that folder"),
    )


def _tenants(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return []


def _distinct(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Each directory once, where it is nearest: no recipe shadows itself."""
    nearest: dict[str, Layer] = {}
    for layer in layers:
        nearest.setdefault(os.path.realpath(layer.directory), layer)
    return tuple(nearest.values())
