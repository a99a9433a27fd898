"""What a project begins with: a recipe to copy from, cases for it, the schemas for editors, and a job for CI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from vancectl.disk.folders import FOLDER_NAMES, defaults_dir
from vancectl.disk.storage import create_below
from vancectl.errors import Place, UsageError
from vancectl.reading.schema_line import with_line, write_schema

# Where a host looks for its job.
CI_FILES = {
    "github": (".github/workflows/vancectl.yml", "ci/github.yaml"),
    "gitlab": (".gitlab-ci.yml", "ci/gitlab.yaml"),
    "jenkins": ("Jenkinsfile", "ci/jenkins.groovy"),
}
_RECIPE, _CASES = "release-notes.yaml", "routes.yaml"


class Begun(NamedTuple):
    """Files that were written, and those that were there already and stay as they are."""

    folder: Path
    written: list[Path]
    kept: list[Path]


def begin_project(top: Path, ci: str | None) -> Begun:
    """Writes what is not there yet below `top`. Raises UsageError where a file cannot be written."""
    folder = next((top / name for name in FOLDER_NAMES if os.path.isdir(top / name)), top / FOLDER_NAMES[0])
    begun = Begun(folder, [], [])
    recipes = folder / "recipes"
    # A project with recipes of its own needs none to copy from, and its cases would fail without it.
    if not (os.path.isdir(recipes) and any(recipes.rglob("*.yaml"))):
        _write(begun, top, recipes / _RECIPE, _text("recipe.yaml"), "recipe")
        if not (os.path.lexists(folder / _CASES) or os.path.isdir(folder / "routes")):
            _write(begun, top, folder / _CASES, _text("routes.yaml"), "cases")
    if ci is not None:
        place, source = CI_FILES[ci]
        _write(begun, top, top / place, _text(source), None)
    for shape in ("recipe", "cases"):
        try:
            write_schema(shape, folder)
        except OSError as error:
            raise _unwritten(folder, error) from None
    return begun


def _text(name: str) -> str:
    return (defaults_dir() / "init" / name).read_text(encoding="utf-8")


def _write(begun: Begun, top: Path, path: Path, text: str, shape: str | None) -> None:
    if shape is not None:
        text = with_line(text, shape, begun.folder, path)
    try:
        create_below(top, path, text.encode())
    except FileExistsError:
        begun.kept.append(path)
    except OSError as error:
        raise _unwritten(path, error) from None
    else:
        begun.written.append(path)


def _unwritten(path: Path, error: OSError) -> UsageError:
    reason = (error.strerror or str(error)).lower()
    return UsageError(f"cannot be written: {reason}", where=Place(path), remedy="make its folder writable")
