"""New recipe files: written, and what there is to say about them now that they are there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vancectl.cli.options import Target
    from vancectl.cli.render.output import Output
    from vancectl.cli.scope import Scope
    from vancectl.inventory.cascade import Cascade
    from vancectl.reading.finding import Finding

_TOLD = 8


def create_recipe(scope: Scope, name: str, to: Target, text: str, output: Output) -> None:
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
    report_written(scope, path, path.relative_to(layer.directory).as_posix().removesuffix(".yaml"), output)


def report_written(scope: Scope, path: Path, name: str, output: Output) -> None:
    """The file's path, and what there is to say about it, now that it is there."""
    from vancectl.lint.formats import finding_as_json
    from vancectl.reading.rule import Severity
    from vancectl.text.names import some_of

    findings, taken = findings_and_taken(scope, path, name)
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


def findings_and_taken(scope: Scope, path: Path, name: str) -> tuple[Sequence[Finding], dict[str, list[str]]]:
    """What the linter says of one file in the library as it now is, and the phrases that it takes from others."""
    from vancectl.inventory.inventory import take_inventory
    from vancectl.lint.reachability import taken_phrases
    from vancectl.selector.triggers.index import TriggerIndex

    cascade = fresh_cascade(scope)
    index = TriggerIndex(take_inventory(cascade).recipes, many_tasks=True)
    return findings_of(scope, cascade, [path]), taken_phrases(index, name)


def fresh_cascade(scope: Scope) -> Cascade:
    """The library as it now is; the first file may just have begun the project."""
    from vancectl.inventory.cascade import Cascade
    from vancectl.inventory.layer import find_layers

    layers = scope.layers
    if layers.project is None:
        layers = find_layers(Path.cwd(), tenant=layers.tenant, named_by=layers.tenant_origin)
    return Cascade(layers, use_cache=False)


def findings_of(scope: Scope, cascade: Cascade, paths: Sequence[Path]) -> Sequence[Finding]:
    from vancectl.inventory.catalog import load_catalog
    from vancectl.lint.inspection import check
    from vancectl.lint.wordlist import find_word_list

    return check(cascade, load_catalog, lambda: scope.settings, words=find_word_list(), within=paths).findings
