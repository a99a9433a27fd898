"""`vancectl recipes edit`: changes a file and loses nothing of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.completion import complete_recipe
from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output


@scoped
def edit_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_recipe)],
    json_output: JsonOption = False,
) -> None:
    """Open a recipe in $VISUAL or $EDITOR; what cannot be used is not saved."""
    from vancectl.cli.runs.written import report_written
    from vancectl.cli.task import read_text
    from vancectl.errors import Place, UsageError
    from vancectl.inventory.cascade import BrokenRecipeError
    from vancectl.inventory.layer import LayerKind
    from vancectl.inventory.recipe import BrokenRecipe

    output = scope.output(as_json=json_output)
    recipe = scope.cascade.find(name).recipe
    if isinstance(recipe, BrokenRecipe) and not recipe.has_text:
        raise BrokenRecipeError(recipe)
    if recipe.layer.kind is LayerKind.SOURCE:
        raise UsageError(
            f"`{recipe.name}` belongs to another program, and is no recipe file of ours",
            where=Place(Path(recipe.path)),
            remedy=f"edit it there, or `vancectl recipes adopt {recipe.name}` writes a recipe in its place",
        )
    if recipe.layer.kind is LayerKind.BUNDLED:
        raise UsageError(
            f"`{recipe.name}` is bundled, and would be lost with the next version of vancectl",
            where=Place(Path(recipe.path)),
            remedy=f"`vancectl recipes copy {recipe.name}` makes one of your own",
        )
    path = Path(os.path.realpath(recipe.path))
    before = read_text(path)
    draft = _edited(recipe.name, before, output)
    text = read_text(draft)
    if text == before:
        output.note("nothing was changed")
    elif read_text(path) != before:
        raise UsageError(
            "was changed by someone else meanwhile; it is left as it is",
            where=Place(path),
            remedy=f"your text is in {draft}",
        )
    else:
        _save(Path(os.path.realpath(recipe.layer.directory)), path, text, draft)
    draft.unlink()
    draft.parent.rmdir()
    report_written(scope, path, recipe.name, output)


def _edited(name: str, text: str, output: Output) -> Path:
    """A draft that the editor has left in a usable state. Raises UsageError, and then keeps the draft."""
    import tempfile

    from vancectl.cli.editor import NoEditorError, run_editor
    from vancectl.cli.task import read_text
    from vancectl.errors import Place, UsageError
    from vancectl.inventory.layer import Layer, LayerKind
    from vancectl.inventory.recipe import BrokenRecipe
    from vancectl.inventory.schema import load_recipe

    draft = Path(tempfile.mkdtemp(prefix="vancectl-")) / f"{name.rpartition('/')[2]}.yaml"
    draft.write_text(text, encoding="utf-8")
    while True:
        try:
            run_editor(draft)
        except NoEditorError:
            draft.unlink()
            draft.parent.rmdir()
            raise
        if read_text(draft) == text:
            return draft
        checked = load_recipe(name, Layer(LayerKind.PROJECT, draft.parent), str(draft))
        if not isinstance(checked, BrokenRecipe):
            return draft
        for finding in checked.findings:
            output.warn(finding.line())
        if not (sys.stdin is not None and sys.stdin.isatty() and output.at_terminal and _again()):
            raise UsageError(
                "the recipe would be broken, so it was not saved", where=Place(draft), remedy="your text is there"
            )


def _again() -> bool:
    try:
        return input("Edit again? [Y/n] ").strip().lower() not in {"n", "no", "nein"}
    except EOFError:
        return False


def _save(layer: Path, path: Path, text: str, draft: Path) -> None:
    from vancectl.disk.storage import write_below
    from vancectl.errors import Place, UsageError

    try:
        write_below(layer, path, text.encode("utf-8"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be written: {reason}", where=Place(path), remedy=f"your text is in {draft}") from None
