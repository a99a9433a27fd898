"""`vancectl recipes new`, `copy` and `edit`: writing recipes without losing any."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.completion import complete_engine, complete_recipe
from vancectl.cli.options import JsonOption, Target, ToOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vancectl.cli.render.output import Output
    from vancectl.reading.finding import Finding


_TOLD = 8


@scoped
def new_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The recipe's name; `/` makes folders.")],
    to: ToOption = Target.PROJECT,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it does, and when.")] = "",
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="Its engine.", autocompletion=complete_engine)
    ] = "ford",
    trigger: Annotated[
        list[str] | None, typer.Option("--trigger", metavar="PHRASE", help="A trigger phrase (repeatable).")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Write a new recipe to begin with. A file that is there stays as it is."""
    from vancectl.inventory.catalog import load_catalog
    from vancectl.inventory.draft import first_text

    found = load_catalog().find(engine)
    text = first_text(description, found.name, trigger or [])
    _create(scope, name, to, text, scope.output(as_json=json_output))


@scoped
def copy_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_recipe)],
    to: ToOption = Target.PROJECT,
    new_name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Another name, so that it takes no place.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Copy a recipe into a nearer layer, to change it there. A file that is there stays as it is."""
    from vancectl import __version__
    from vancectl.cli.task import read_text
    from vancectl.errors import Place, UsageError
    from vancectl.inventory.cascade import BrokenRecipeError
    from vancectl.inventory.draft import copied_text
    from vancectl.inventory.recipe import BrokenRecipe

    entry = scope.cascade.find(name)
    if isinstance(entry.recipe, BrokenRecipe):
        raise BrokenRecipeError(entry.recipe)
    if entry.recipe.source is not None:
        raise UsageError(
            f"`{entry.name}` belongs to another program",
            where=Place(Path(entry.recipe.path)),
            remedy=f"`vancectl recipes adopt {entry.name}` writes a recipe that takes its place",
        )
    text = copied_text(read_text(Path(entry.recipe.path)), entry.name, entry.recipe.layer.kind.value, __version__)
    _create(scope, new_name or entry.name, to, text, scope.output(as_json=json_output))


@scoped
def adopt_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_recipe)],
    to: ToOption = Target.TENANT,
    json_output: JsonOption = False,
) -> None:
    """Write a recipe in the place of another program's: with triggers of yours, and still started by that program."""
    from vancectl.errors import UsageError
    from vancectl.inventory.draft import adopted_text

    recipe = scope.cascade.load(name)
    if recipe.source is None:
        raise UsageError(
            f"`{recipe.name}` is a recipe already",
            remedy=f"`vancectl recipes copy {recipe.name}` copies it into a layer",
        )
    _create(scope, recipe.name, to, adopted_text(recipe), scope.output(as_json=json_output))


@scoped
def edit_recipe(
    scope: Scope,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_recipe)],
    json_output: JsonOption = False,
) -> None:
    """Open a recipe in $VISUAL or $EDITOR; what cannot be used is not saved."""
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
    _told(scope, path, recipe.name, output)


def _create(scope: Scope, name: str, to: Target, text: str, output: Output) -> None:
    from vancectl.inventory.draft import create, refuse_taken, target_layer, target_path
    from vancectl.inventory.layer import LayerKind
    from vancectl.reading.schema_line import offer_schema, with_line

    layer = target_layer(scope.layers, LayerKind(to.value), Path.cwd())
    path = target_path(layer, name)
    refuse_taken(layer, path)
    folder = layer.directory.parent
    create(layer, path, with_line(text, "recipe", folder, path))
    if warning := offer_schema("recipe", folder):
        output.warn(warning)
    _told(scope, path, path.relative_to(layer.directory).as_posix().removesuffix(".yaml"), output)


def _told(scope: Scope, path: Path, name: str, output: Output) -> None:
    """The file's path, and what there is to say about it, now that it is there."""
    from vancectl.lint.formats import finding_as_json
    from vancectl.reading.rule import Severity
    from vancectl.text.names import some_of

    findings, taken = _findings(scope, path, name)
    if not output.as_json:
        worth = [
            finding for finding in findings if finding.severity is not Severity.NOTE or finding.data.get("dropped")
        ]
        if taken or any(finding.code == "dead-recipe" for finding in worth):  # which say the same once
            worth = [finding for finding in worth if finding.code != "never-alone"]
        for other, phrases in taken.items():
            quoted = some_of([f"“{phrase}”" for phrase in phrases])
            output.warn(f"tasks with phrases of `{other}` now go to the model, since `{name}` is hit as well: {quoted}")
        for finding in worth[:_TOLD]:
            output.warn(finding.line())
        if len(worth) > _TOLD:
            output.warn(f"and {len(worth) - _TOLD} more findings: vancectl recipes lint {path}")
    if output.as_json:
        shown = [finding_as_json(each) for each in findings]
        takes = [{"recipe": other, "phrases": phrases} for other, phrases in taken.items()]
        output.document({"name": name, "path": str(path), "findings": shown, "takes": takes})
    else:
        output.prose(f"{path}\n")


def _findings(scope: Scope, path: Path, name: str) -> tuple[Sequence[Finding], dict[str, list[str]]]:
    """What the linter says of one file in the library as it now is, and the phrases that it takes from others."""
    from vancectl.cli.runs.written import findings_of, fresh_cascade
    from vancectl.inventory.inventory import take_inventory
    from vancectl.lint.reachability import taken_phrases
    from vancectl.selector.triggers.index import TriggerIndex

    cascade = fresh_cascade(scope)
    index = TriggerIndex(take_inventory(cascade).recipes, many_tasks=True)
    return findings_of(scope, cascade, [path]), taken_phrases(index, name)


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
