"""The project: the `.vance` (or `_vance`) folders between the working directory and the repository's top.

The project brings recipes, never settings: a cloned repository must not name a program to run, a base
URL or a fallback policy (docs/design.md, section 3: the security boundary). So `project.yaml` is read for its
id, tenant and hub flag, and for nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from vancectl.disk.folders import FOLDER_NAMES
from vancectl.errors import Place
from vancectl.reading.compiled import PlainFinding, compiled, findings_of, plain_findings
from vancectl.reading.finding import Finding

_READ = ("project.yaml", "routes.yaml", "routes.jsonl")
_ODD_SUFFIXES = (".yaml", ".yml", ".json", ".toml")
_LARGEST = 1_000_000


class Project(NamedTuple):
    """What `project.yaml` says; `folder` is the nearest project folder.

    `key` tells it from all other projects: the id that its author gave, else where it lies.
    """

    folder: Path
    id: str
    key: str
    tenant: str | None = None
    hub: bool = False
    findings: tuple[Finding, ...] = ()


def project_folders(directory: Path) -> tuple[list[Path], list[Finding]]:
    """The project folders from `directory` upward, nearest first, and what was passed over.

    The walk ends at the top of a repository (a `.git` folder, or the file that stands for it in a linked
    work tree), as git's own search would; `GIT_DIR` is not asked, since hooks set it. In a repository with
    several projects the nearer folder wins and the outer ones still serve.
    """
    folders: list[Path] = []
    findings: list[Finding] = []
    between: Path | None = None
    for parent in [directory, *directory.parents]:
        found: list[Path] = []
        if parent != directory and between is None and _foreign(parent, roots=True):
            between = parent
        for name in FOLDER_NAMES:
            folder = parent / name
            if not os.path.isdir(folder):  # Path.is_dir raises where one may not look
                findings.extend(_in_its_place(folder))
            elif parent != directory and _foreign(folder):
                findings.append(Finding("foreign-folder", Place(folder)))
            elif between is not None:
                findings.append(Finding("foreign-between", Place(folder), {"between": str(between)}))
            elif found:
                findings.append(Finding("second-folder", Place(folder), {"other": str(found[0])}))
            else:
                found.append(folder)
        folders.extend(found)
        if os.path.exists(parent / ".git"):
            break
    return folders, findings


def top_of(directory: Path) -> Path:
    """The top of the repository that a folder is in; the folder itself where it is in none."""
    return next((each for each in [directory, *directory.parents] if os.path.exists(each / ".git")), directory)


def _in_its_place(folder: Path) -> list[Finding]:
    """What else may have the folder's name: a file that stood for a link in another checkout, or a dead link."""
    if os.path.isfile(folder):
        return [Finding("not-a-folder", Place(folder))]
    if os.path.islink(folder):
        return [Finding("dead-link", Place(folder), {"target": os.readlink(folder)})]
    return []


def read_project(folder: Path) -> Project:
    """`project.yaml` of the folder; without one the project's id is the name of the directory around it."""
    path = folder / "project.yaml"
    default_id = folder.parent.name or "root"
    default_key = os.fsencode(os.path.realpath(folder.parent)).decode("utf-8", "backslashreplace")
    try:
        path.lstat()
    except FileNotFoundError:
        return Project(folder, default_id, default_key)
    except OSError:
        pass  # reading it will say why it cannot be read
    said, findings = compiled(path, "project", lambda: _said(path))
    id_, tenant = said.get("id"), said.get("tenant")
    return Project(
        folder,
        str(id_ or default_id),
        str(id_ or default_key),
        str(tenant) if tenant else None,
        bool(said.get("hub")),
        findings_of(findings, path),
    )


def _said(path: Path) -> tuple[dict[str, str | bool], list[PlainFinding]]:
    """What the file says, and what is wrong with it; one that says nothing at all is no fault."""
    from vancectl.inventory.project_shape import ProjectShape
    from vancectl.reading.document import Document
    from vancectl.reading.reader import read_shape

    document = Document.read(path)
    shape = read_shape(ProjectShape, document)
    said = {name: getattr(shape, name) for name in ("id", "tenant", "hub")} if shape is not None else {}
    found = [] if document.empty else plain_findings(document.findings)
    return {name: value for name, value in said.items() if value is not None}, found


def stray_files(folder: Path, settings: Path | None) -> list[Finding]:
    """Files in a project's folder that look as if they were read there, and are not.

    `settings` is the tenant's file. Cases and plans may have any name, since they can be named on the command line.
    """
    try:
        with os.scandir(folder) as scan:
            names = sorted(item.name for item in scan if item.name.lower().endswith(_ODD_SUFFIXES))
    except OSError:
        return []
    findings = []
    for name in names:
        stem, _, suffix = name.lower().rpartition(".")
        place = Place(folder / name)
        if stem in ("settings", "config"):
            into = str(settings) if settings is not None else "the tenant's settings.yaml"
            findings.append(Finding("project-settings", place, {"settings": into}))
        elif stem in ("project", "routes") and name not in _READ:
            findings.append(Finding("project-misnamed", place, {"rename": f"{stem}.yaml"}))
        elif name not in _READ and suffix in ("yaml", "yml") and _is_recipe(folder / name):
            findings.append(Finding("project-misplaced", place, {"into": f"recipes/{name.rpartition('.')[0]}.yaml"}))
    return findings


def _is_recipe(path: Path) -> bool:
    from vancectl.disk.plain_file import read_plain

    try:
        lines = read_plain(path, _LARGEST).splitlines()
    except OSError:
        return False
    keys = {line.partition(b":")[0].strip() for line in lines if b":" in line}
    return bool(keys & {b"description", b"engine", b"triggers"}) and not keys & {b"cases", b"children"}


def _foreign(folder: Path, *, roots: bool = False) -> bool:
    """Whether someone else owns a folder above the working directory: a shared `/tmp` must not bring recipes.

    `roots` lets what is root's pass, as what stands between may be: root needs no folder to do harm.
    """
    if os.name == "nt":
        return False
    mine = {os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdigit():
        mine.add(int(os.environ["SUDO_UID"]))
    if roots:
        mine.add(0)
    try:
        owners = {folder.lstat().st_uid, folder.stat().st_uid}  # of a link both count
    except OSError:
        return True
    return not owners <= mine
