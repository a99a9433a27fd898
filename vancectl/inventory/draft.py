"""New recipe files: where one belongs, what it says at first, and that it never replaces another."""

from __future__ import annotations

import os
from pathlib import Path

from vancectl.disk.folders import FOLDER_NAMES
from vancectl.disk.storage import create_below
from vancectl.errors import Place, UsageError
from vancectl.inventory.cascade import SUFFIX, Cascade
from vancectl.inventory.layer import Layer, LayerKind, Layers
from vancectl.inventory.recipe import Recipe
from vancectl.settings.tenant import tenant_folder
from vancectl.text.names import canonical

_LONGEST_COMMENT_NAME = 100


def target_layer(layers: Layers, kind: LayerKind, directory: Path) -> Layer:
    """The project's or the tenant's layer; a project begins in `directory` where there is none yet.

    Raises UsageError where there can be none.
    """
    if kind is LayerKind.TENANT:
        folder = tenant_folder(layers.tenant)
        if folder is None:
            raise UsageError("there is no tenant layer without a home directory", remedy="set VANCECTL_CONFIG_DIR")
        return Layer(kind, folder / "recipes")
    if layers.project is None:
        return Layer(kind, directory / FOLDER_NAMES[0] / "recipes")
    recipes = layers.project.folder / "recipes"
    if not os.path.realpath(recipes).startswith(os.path.realpath(layers.project.folder.parent) + os.sep):
        raise UsageError(
            "the project's folder of recipes is a link that leaves the project",
            where=Place(recipes),
            remedy="replace it by a folder, or choose --to tenant",
        )
    return Layer(kind, recipes)


def target_path(layer: Layer, name: str) -> Path:
    """Where a recipe of this name belongs. Raises UsageError for what is no name, or would leave the layer."""
    wanted = canonical(name.removesuffix(SUFFIX))
    parts = wanted.split("/")
    if not all(parts) or any(part.startswith(".") or not part.isprintable() or "\\" in part for part in parts):
        raise UsageError(
            f"`{name}` is no name for a recipe",
            remedy="use letters, digits and `-`, with `/` for folders, as in team/release-notes",
        )
    return layer.directory.joinpath(*parts[:-1], parts[-1] + SUFFIX)


def refuse_taken(layer: Layer, path: Path) -> None:
    """Raises UsageError where the layer has a file of the same name already, in whatever spelling."""
    name = canonical(path.relative_to(layer.directory).as_posix().removesuffix(SUFFIX))
    own = Cascade(Layers((layer,), ""), use_cache=False)
    if name in own.names:
        taken = own.find(name).recipe
        raise UsageError(
            f"the {layer.kind.value} layer has a recipe `{name}` already; it is left as it is",
            where=Place(Path(taken.path)),
            remedy=f"`vancectl recipes edit {name}` changes it",
        )


def create(layer: Layer, path: Path, text: str) -> None:
    """Writes a file that is not there yet. Raises UsageError where it is, or cannot be written."""
    try:
        create_below(layer.directory, path, text.encode())
    except UnicodeEncodeError:
        raise UsageError("the recipe's text is not UTF-8", remedy="give its texts as UTF-8") from None
    except FileExistsError:
        remedy = "move it away, or take another name"
        raise UsageError("is there already; it is left as it is", where=Place(path), remedy=remedy) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be written: {reason}", where=Place(path), remedy="make its folder writable") from None


def first_text(description: str, engine: str, phrases: list[str]) -> str:
    """A recipe to begin with. Texts go in as JSON strings, which YAML reads as they are."""
    import json

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    told = quoted(description) if description else ">-\n  Say what it does. Take it when …; not for …, which … does."
    lines = [f"description: {told}", f"engine: {engine}"]
    if phrases:
        lines += ["triggers:", "  match: word", "  keywords:", *(f"    - {quoted(phrase)}" for phrase in phrases)]
    else:
        lines += [
            "# triggers:               # phrases that decide alone, without a model",
            "#   match: word",
            "#   keywords:",
            "#     - write release notes",
        ]
    lines += ["promptPrefix: |", "  What to do, in the order in which it is to be done."]
    return "\n".join(lines) + "\n"


def copied_text(text: str, name: str, layer: str, version: str) -> str:
    """The text with a first line that says where it came from. No path: the file may end up in a repository."""
    shown = name[:_LONGEST_COMMENT_NAME]
    return f"# Copied from the {layer} recipe `{shown}` (vancectl {version}); nothing is merged with it.\n{text}"


def adopted_text(recipe: Recipe) -> str:
    """A recipe in the place of a foreign one. Without a prompt of its own it is started as that one."""
    import json

    source = recipe.source or {}
    lines = [
        f"# In place of `{source.get('name')}` ({source.get('format')}), which its own program still starts: this file",
        "# says when to choose it. With a promptPrefix it would be a recipe of its own.",
        f"description: {json.dumps(recipe.description, ensure_ascii=False)}",
        f"engine: {recipe.engine}",
        "triggers:",
        "  match: word",
        "  keywords: []            # phrases that decide alone, without a model, such as: - review this branch",
    ]
    return "\n".join(lines) + "\n"
