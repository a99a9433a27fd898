"""The cascade: for each name the nearest layer wins as a whole, and what it shadows is remembered.

One scan and one look-up serve every command, so that what is listed is what is shown and what is started.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vancectl.errors import Place, UsageError, VancectlError
from vancectl.inventory.compiled import CompiledLayer
from vancectl.inventory.layer import Layer, Layers
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.reading.compiled import Stamp, stamp_of
from vancectl.reading.finding import Finding
from vancectl.text.invisible import first_invisible
from vancectl.text.names import NEAR_COUNT, canonical, did_you_mean, near_names
from vancectl.text.printable import UNSAFE, well_formed

if TYPE_CHECKING:
    from vancectl.sources.folder import Item

SUFFIX = ".yaml"
_OTHER_SUFFIXES = (".yml", ".yaml")  # in any case of letters
USER_PREFIX = "_user/"


class UnknownRecipeError(UsageError):
    """No recipe has this name; `near` holds up to five that are close.

    `selectable` says that the caller could also leave the choice to the selector.
    """

    def __init__(self, name: str, near: list[str], *, selectable: bool = False) -> None:
        leave = "; leave the recipe out to let the selector choose" if selectable else ""
        super().__init__(
            f"there is no recipe `{name}`", remedy=did_you_mean(near, f"`vancectl recipes list` shows all{leave}")
        )
        self.name = name
        self.near = near


class BrokenRecipeError(VancectlError):
    """The recipe that has this name cannot be used."""

    def __init__(self, recipe: BrokenRecipe) -> None:
        finding = recipe.finding
        super().__init__(
            f"the recipe `{recipe.name}` is broken: {finding.sentence()}", where=finding.place, remedy=finding.remedy()
        )
        self.recipe = recipe


class RecipeFile(NamedTuple):
    """One file that a scan found: its canonical name, and findings from the scan itself.

    `file` is its path below the layer; `stamp` tells whether it has changed, and is None where that cannot be told.
    """

    name: str
    layer: Layer
    path: str
    file: str
    stamp: Stamp | None
    findings: tuple[Finding, ...] = ()


class Entry(NamedTuple):
    """A name's winner and the files that it shadows, nearest first."""

    recipe: Recipe | BrokenRecipe
    shadows: tuple[RecipeFile, ...]

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def shadowed_paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.shadows)


class Cascade:
    """The recipes of some layers. Files are found at once, and parsed when they are asked for.

    `parsed` counts the files that had to be read, since no cache knew them. `unread` are the folders that cannot be
    read, each with the beginning of the names in it: whether it holds such a name is unknown, so that no farther layer
    may decide for one.
    """

    def __init__(self, layers: Layers, *, use_cache: bool = True) -> None:
        self.layers = layers
        self.parsed = 0
        self._compiled = {
            layer: CompiledLayer(layer, enabled=use_cache) for layer in (*layers.nearest_first, *layers.sources)
        }
        self.findings: list[Finding] = list(layers.findings)
        self._files: dict[str, list[RecipeFile]] = {}
        self._entries: dict[str, Entry] = {}
        self._present: dict[Layer, Collection[str]] = {}  # files by their path below the layer
        self.unread: list[RecipeFile] = []
        # Farthest layer first: the order in which names appear is the order of the inventory
        # (bundled, then tenant, then project additions; an override keeps the place of what it overrides).
        for layer in reversed(layers.nearest_first):
            known = len(self.unread)
            for file in self._scan(layer):
                self._files.setdefault(file.name, []).insert(0, file)
            for folder in self.unread[known:]:
                self._cover(folder)
        # Sources stand below all layers, and behind them in the order.
        self._foreign: dict[Layer, dict[str, Recipe | BrokenRecipe]] = {}
        if layers.sources:
            self._take_sources()

    @property
    def names(self) -> list[str]:
        """All names, broken ones included, in the inventory's order."""
        return list(self._files)

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def entries(self) -> Iterator[Entry]:
        """The winners in the inventory's order."""
        yield from map(self._entry, self._files)
        self._save()

    def listings(self) -> Iterator[tuple[str, str] | Entry]:
        """For each name, with the kept JSON of a plain recipe that lists show and that shadows nothing, or its entry.

        Thousands of recipes are listed without one of them being built.
        """
        for name, files in self._files.items():
            nearest = files[0]
            if len(files) == 1 and nearest.stamp is not None and not nearest.findings:
                kept = self._compiled[nearest.layer].listing(nearest.file, nearest.stamp)
                if kept:
                    yield name, kept
                    continue
            yield self._entry(name)
        self._save()

    def find(self, name: str) -> Entry:
        """The winner for a name, or for a short name `_user/NAME`.

        Raises UnknownRecipeError; a broken winner is given back as it is.
        """
        wanted = canonical(name)
        for candidate in (wanted, USER_PREFIX + wanted):
            if candidate in self._files:
                return self._entry(candidate)
            for folder in self.unread:
                if candidate.startswith(folder.name):
                    return Entry(BrokenRecipe(candidate, folder.layer, folder.path, folder.findings), ())
        if self.layers.untrusted:
            self._check_trust(wanted)
        raise UnknownRecipeError(name, self.near(name))

    def _check_trust(self, wanted: str) -> None:
        """Raises UsageError for what would have this name, if the project that it lies in were trusted."""
        from vancectl.inventory.foreign import untrusted_files

        for name, path in untrusted_files(self.layers):
            if name == wanted:
                raise UsageError(
                    f"`{name}` is left out: it lies in a project that is not trusted",
                    where=Place(Path(path)),
                    remedy="read it, then `vancectl trust` trusts the project's folder",
                )

    def load(self, name: str) -> Recipe:
        """The usable recipe of a name. Raises UnknownRecipeError or BrokenRecipeError."""
        recipe = self.find(name).recipe
        if isinstance(recipe, BrokenRecipe):
            raise BrokenRecipeError(recipe)
        return recipe

    def nearest(self, name: str, admits: Callable[[Layer], bool]) -> tuple[Recipe | BrokenRecipe | None, list[str]]:
        """The winner among the layers that are admitted, and the paths of nearer files that are not in them."""
        passed: list[str] = []
        for file in self._files.get(name, ()):
            if admits(file.layer):
                return self._built(name, file), passed
            passed.append(file.path)
        return None, passed

    def hidden(self, entry: Entry) -> list[Recipe | BrokenRecipe]:
        """What the files say that an entry shadows, nearest first."""
        return [self._built(entry.name, file) for file in entry.shadows]

    def of_source(self, file: RecipeFile) -> Recipe | BrokenRecipe:
        """What a file of another program says."""
        return self._foreign[file.layer][file.file]

    def near(self, name: str) -> list[str]:
        """Up to five near names, internal ones left out; first those that end in a folder's part of that name."""
        wanted = f"/{canonical(name)}"
        below = [known for known in self._files if known.endswith(wanted)]
        near = near_names(name, self._files, keep=self._visible)
        return list(dict.fromkeys([*below, *near]))[:NEAR_COUNT]

    def _visible(self, name: str) -> bool:
        if name.startswith("_"):
            return False
        recipe = self._entry(name).recipe
        return isinstance(recipe, Recipe) and not recipe.internal

    def _entry(self, name: str) -> Entry:
        entry = self._entries.get(name)
        if entry is None:
            nearest, *others = self._files[name]
            entry = self._entries[name] = Entry(self._built(name, nearest), tuple(others))
        return entry

    def _built(self, name: str, file: RecipeFile) -> Recipe | BrokenRecipe:
        if _breaks(file):
            return BrokenRecipe(name, file.layer, file.path, file.findings)
        if file.layer.source is not None:
            return self.of_source(file)
        recipe = self._read(file)
        if file.findings and isinstance(recipe, Recipe):
            return recipe._replace(warnings=(*file.findings, *recipe.warnings))
        return recipe

    def _read(self, file: RecipeFile) -> Recipe | BrokenRecipe:
        compiled = self._compiled[file.layer]
        if file.stamp is not None:
            known = compiled.get(file.file, file.stamp, file.name, file.path)
            if known is not None:
                return known
        # Only where a file has to be read: the YAML library costs more than all the rest of a warm start.
        from vancectl.inventory.schema import load_recipe

        self.parsed += 1
        recipe = load_recipe(file.name, file.layer, file.path, follow=file.stamp is None)
        # Whether a file can be read is no matter of what it says, and may change without a trace in the file.
        if file.stamp is not None and not (isinstance(recipe, BrokenRecipe) and not recipe.has_text):
            compiled.put(file.file, file.stamp, recipe)
        return recipe

    def _save(self) -> None:
        """Keeps what was read for the next run; what is shadowed here may be in force elsewhere, and stays."""
        for layer, compiled in self._compiled.items():
            present = self._present[layer]
            if compiled.outdated(len(present)):
                compiled.save(set(present))

    # -- finding the files

    def _take_sources(self) -> None:
        """What other programs have, the nearest folder of each source first."""
        from vancectl.inventory.foreign import foreign_files

        for layer in self.layers.sources:
            compiled = self._compiled[layer]
            found = foreign_files(layer, compiled)
            self._present[layer] = found.seen
            self.parsed += found.parsed
            recipes = self._foreign[layer] = {}
            for item, stamp, recipe in sorted(found.recipes, key=_name_of):
                recipes[item.file] = recipe
                file = RecipeFile(recipe.name, layer, item.path, item.file, stamp)
                # A file that is broken is none to its program, and covers none that lies farther.
                if recipe.name in self._files:
                    self._files[recipe.name].append(file)
                else:
                    self._files[recipe.name] = [file]

    def _cover(self, folder: RecipeFile) -> None:
        """Breaks the names of farther layers that the folder may take the place of."""
        for name, files in self._files.items():
            if name.startswith(folder.name) and files[0].layer != folder.layer:
                files.insert(0, folder._replace(name=name))

    def _scan(self, layer: Layer) -> list[RecipeFile]:
        """The layer's files by name. Two files with one canonical name break that name."""
        found: dict[str, RecipeFile] = {}
        for file, item in self._walk(layer):
            path = item.path
            written = file.removesuffix(SUFFIX)
            name = canonical(written)
            findings: tuple[Finding, ...] = ()
            if name != written or item.is_symlink() or not (name.isascii() and name.isprintable()):
                name, findings = _oddities(layer, path, written, item.is_symlink())
            if name in found:
                other = found[name]
                clash = Finding("name-collision", Place(Path(path)), {"other": other.path})
                found[name] = other._replace(findings=(*other.findings, clash))
            else:
                found[name] = RecipeFile(name, layer, path, file, _stamp(item), findings)
        self._present[layer] = [file.file for file in found.values()]
        return [found[name] for name in sorted(found)]

    def _walk(self, layer: Layer) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Path below the layer and directory entry of each recipe file, each folder's in sorted order."""
        folders = [(str(layer.directory), "")]  # no recursion: folders may lie deeper than Python's stack goes
        while folders:
            folder, above = folders.pop()
            below = []
            for item in self._items(layer, folder, above):
                if item.name.endswith(SUFFIX):
                    yield above + item.name, item
                elif item.is_dir(follow_symlinks=False):
                    below.append((item.path, f"{above}{item.name}/"))
                elif item.name.lower().endswith(_OTHER_SUFFIXES):
                    rename = item.name.rpartition(".")[0] + SUFFIX
                    self._find("not-read", item.path, rename=rename)
                elif item.is_symlink() and os.path.isdir(item.path):
                    # Followed, a link to a folder could leave the layer or never end.
                    self._find("linked-folder", item.path, target=os.readlink(item.path))
                elif item.is_symlink() and not os.path.exists(item.path):
                    self._find("dead-link", item.path, target=os.readlink(item.path))
            folders.extend(reversed(below))

    def _items(self, layer: Layer, folder: str, above: str) -> list[os.DirEntry[str]]:
        """What is in a folder, hidden files left out; nothing, and a finding, where it cannot be read."""
        try:
            with os.scandir(folder) as scan:
                return sorted((item for item in scan if not item.name.startswith(".")), key=attrgetter("name"))
        except FileNotFoundError:
            if not os.path.islink(folder):
                return []
            reason = f"it is a link to {os.readlink(folder)}, which is not there"
        except NotADirectoryError:
            if not above:
                self._find("not-a-folder", folder)
                return []
            reason = "it has become a file"
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
        finding = Finding("folder-unreadable", Place(Path(folder)), {"reason": reason})
        self.findings.append(finding)
        self.unread.append(RecipeFile(canonical(above), layer, folder, above, None, (finding,)))
        return []

    def _find(self, code: str, path: str, **data: str) -> None:
        self.findings.append(Finding(code, Place(Path(path)), data))


def _oddities(layer: Layer, path: str, written: str, is_link: bool) -> tuple[str, tuple[Finding, ...]]:
    """The name of a file that is a link or not named canonically, and what is to be said of it."""
    name = canonical(written)
    place = Place(Path(path))
    findings = []
    if not all(name.split("/")):
        findings.append(Finding("empty-name", place))
        name = written  # no name that anyone could ask for, or that could collide
    elif name != well_formed(written) or "\ufffd" in name:
        findings.append(Finding("not-canonical", place, {"name": name}))
    if first_invisible(name) or any(ord(character) in UNSAFE for character in name):
        findings.append(Finding("bad-name", place))
    if is_link:
        findings.extend(_link_findings(layer, path))
    return name, tuple(findings)


def _link_findings(layer: Layer, path: str) -> list[Finding]:
    target = Path(os.path.realpath(path))  # Path.resolve raises for a link to itself
    if target.is_relative_to(os.path.realpath(layer.directory)):
        return []
    try:
        os.stat(target)
    except (FileNotFoundError, NotADirectoryError):
        return [Finding("dead-link", Place(Path(path)), {"target": str(target)})]
    except OSError:
        pass  # it may well be there
    return [Finding("link-outside", Place(Path(path)), {"target": str(target)})]


def _stamp(item: os.DirEntry[str]) -> Stamp | None:
    """None for what is no plain file: a link's own times say nothing of its target."""
    try:
        status = item.stat(follow_symlinks=False)
    except OSError:
        return None
    return stamp_of(status) if stat.S_ISREG(status.st_mode) else None


def _breaks(file: RecipeFile) -> bool:
    return bool(file.findings) and any(finding.breaks for finding in file.findings)


def _name_of(found: tuple[Item, Stamp | None, Recipe | BrokenRecipe]) -> str:
    return found[2].name
