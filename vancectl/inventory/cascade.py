"""The cascade: for each name the nearest layer wins as a whole, and what it shadows is remembered.

One scan and one look-up serve every command, so that what is listed is what is shown and what is started.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from vancectl.errors import Place, UsageError, VancectlError
from vancectl.inventory.finding import Finding
from vancectl.inventory.layer import Layer, Layers
from vancectl.inventory.name import canonical, near_names
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.inventory.schema import load_recipe

SUFFIX = ".yaml"
USER_PREFIX = "_user/"


class UnknownRecipeError(UsageError):
    """No recipe has this name; `near` holds up to five that are close.

    `selectable` says that the caller could also leave the choice to the selector.
    """

    def __init__(self, name: str, near: list[str], *, selectable: bool = False) -> None:
        meant = f"did you mean {', '.join(near)}? " if near else ""
        leave = "; leave the recipe out to let the selector choose" if selectable else ""
        super().__init__(f"there is no recipe `{name}`", remedy=f"{meant}`vancectl recipes list` shows all{leave}")
        self.name = name
        self.near = near


class BrokenRecipeError(VancectlError):
    """The recipe that has this name cannot be used."""

    def __init__(self, recipe: BrokenRecipe) -> None:
        finding = next(finding for finding in recipe.findings if finding.breaks)
        super().__init__(
            f"the recipe `{recipe.name}` is broken: {finding.sentence()}", where=finding.place, remedy=finding.remedy()
        )
        self.recipe = recipe


@dataclass(frozen=True, slots=True)
class RecipeFile:
    """One file that a scan found: its canonical name, and findings from the scan itself."""

    name: str
    layer: Layer
    path: Path
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A name's winner and the files that it shadows, nearest first."""

    recipe: Recipe | BrokenRecipe
    shadows: tuple[RecipeFile, ...]

    @property
    def name(self) -> str:
        return self.recipe.name


class Cascade:
    """The recipes of some layers. Files are found at once, and parsed when they are asked for."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self.findings: list[Finding] = list(layers.findings)
        self._files: dict[str, list[RecipeFile]] = {}
        self._entries: dict[str, Entry] = {}
        # Farthest layer first: the order in which names appear is the order of the inventory
        # (bundled, then tenant, then project additions; an override keeps the place of what it overrides).
        for layer in reversed(layers.nearest_first):
            for file in self._scan(layer):
                self._files.setdefault(file.name, []).insert(0, file)

    @property
    def names(self) -> list[str]:
        """All names, broken ones included, in the inventory's order."""
        return list(self._files)

    def entries(self) -> Iterator[Entry]:
        """The winners in the inventory's order."""
        return (self._entry(name) for name in self._files)

    def find(self, name: str) -> Entry:
        """The winner for a name, or for a short name `_user/NAME`.

        Raises UnknownRecipeError; a broken winner is given back as it is.
        """
        wanted = canonical(name)
        for candidate in (wanted, USER_PREFIX + wanted):
            if candidate in self._files:
                return self._entry(candidate)
        raise UnknownRecipeError(name, self.near(name))

    def load(self, name: str) -> Recipe:
        """The usable recipe of a name. Raises UnknownRecipeError or BrokenRecipeError."""
        recipe = self.find(name).recipe
        if isinstance(recipe, BrokenRecipe):
            raise BrokenRecipeError(recipe)
        return recipe

    def near(self, name: str) -> list[str]:
        """Up to five near names, internal ones left out."""
        return near_names(name, self._files, keep=self._visible)

    def _visible(self, name: str) -> bool:
        if name.startswith("_"):
            return False
        recipe = self._entry(name).recipe
        return isinstance(recipe, Recipe) and not recipe.internal

    def _entry(self, name: str) -> Entry:
        entry = self._entries.get(name)
        if entry is None:
            nearest, *others = self._files[name]
            recipe = load_recipe(name, nearest.layer, nearest.path) if not _breaks(nearest) else None
            if recipe is None:
                recipe = BrokenRecipe(name, nearest.layer, nearest.path, nearest.findings)
            elif nearest.findings and isinstance(recipe, Recipe):
                recipe = replace(recipe, warnings=(*nearest.findings, *recipe.warnings))
            entry = self._entries[name] = Entry(recipe, tuple(others))
        return entry

    # -- finding the files

    def _scan(self, layer: Layer) -> list[RecipeFile]:
        """The layer's files by name. Two files with one canonical name break that name."""
        found: dict[str, RecipeFile] = {}
        for parts, path, is_link in self._walk(layer.directory, ()):
            written = "/".join(parts).removesuffix(SUFFIX)
            name = canonical(written)
            findings: list[Finding] = []
            if not all(name.split("/")):
                findings.append(Finding("empty-name", Place(path)))
                name = name.strip("/") or "-"
            elif name != written:
                findings.append(Finding("not-canonical", Place(path), {"name": name}))
            if is_link:
                findings.extend(_link_findings(layer, path))
            if name in found:
                other = found[name]
                clash = Finding("name-collision", Place(path), {"other": str(other.path)})
                found[name] = replace(other, findings=(*other.findings, clash))
            else:
                found[name] = RecipeFile(name, layer, path, tuple(findings))
        return [found[name] for name in sorted(found)]

    def _walk(self, directory: Path, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Path, bool]]:
        """Path parts, path, and whether it is a link, of each recipe file, in sorted order."""
        try:
            with os.scandir(directory) as scan:
                items = sorted(scan, key=lambda item: item.name)
        except FileNotFoundError:
            return
        except NotADirectoryError:
            self.findings.append(Finding("not-a-folder", Place(directory)))
            return
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self.findings.append(Finding("folder-unreadable", Place(directory), {"reason": reason}))
            return
        for item in items:
            if item.name.startswith("."):
                continue
            path = Path(item.path)
            if item.is_dir(follow_symlinks=False) and not item.name.endswith(SUFFIX):
                yield from self._walk(path, (*above, item.name))
            elif item.name.endswith(SUFFIX):
                yield (*above, item.name), path, item.is_symlink()
            elif item.name.endswith(".yml"):
                rename = item.name.removesuffix(".yml") + SUFFIX
                self.findings.append(Finding("not-read", Place(path), {"rename": rename}))
            elif item.is_symlink() and item.is_dir():
                # Followed, a link to a folder could leave the layer or never end.
                self.findings.append(Finding("linked-folder", Place(path), {"target": os.readlink(path)}))


def _link_findings(layer: Layer, path: Path) -> list[Finding]:
    target = path.resolve()
    if target.is_relative_to(layer.directory.resolve()):
        return []
    code = "link-outside" if target.exists() else "dead-link"
    return [Finding(code, Place(path), {"target": str(target)})]


def _breaks(file: RecipeFile) -> bool:
    return any(finding.breaks for finding in file.findings)
