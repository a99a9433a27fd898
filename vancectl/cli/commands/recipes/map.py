"""`vancectl recipes map`: which recipes lie so close together that routing between them is fragile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vancectl.cli.render.output import Output, Part
    from vancectl.lint.neighbours import Cluster, Link, Neighbourhood

_BAR = 10
_PHRASES = 3


@scoped
def map_recipes(
    scope: Scope,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw it as SVG; `-` is stdout.")] = None,
    close: Annotated[
        float, typer.Option("--close", min=0.05, max=1.0, metavar="SHARE", help="How alike descriptions must be.")
    ] = 0.3,
    json_output: JsonOption = False,
) -> None:
    """Draw which recipes share triggers, and which descriptions lie close together."""
    from vancectl.lint.library import Library
    from vancectl.lint.neighbours import find_neighbours

    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    found = find_neighbours(Library(scope.cascade, lambda: scope.settings), close)
    if svg is not None:
        project = scope.layers.project
        _draw(found, svg, project.folder.parent if project is not None else None, output)
    elif output.as_json:
        output.document(found.as_json())
    else:
        _print(found, output)


def _draw(found: Neighbourhood, path: Path, project: Path | None, output: Output) -> None:
    from vancectl.disk.storage import boundary_of, write_below
    from vancectl.errors import Place, UsageError
    from vancectl.lint.drawing import draw

    text = draw(found)
    if str(path) == "-":
        output.text(text)
        return
    path = Path(os.path.abspath(path))
    try:
        write_below(boundary_of(path, project), path, text.encode("utf-8", "replace"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be written: {reason}", where=Place(path), remedy="name another file") from None
    output.note(f"drawn into {path}")


def _print(found: Neighbourhood, output: Output) -> None:
    lines: list[Sequence[Part]] = []
    for cluster in found.clusters:
        lines.extend(_of_cluster(cluster))
    if not found.clusters:
        lines.append([("no recipes lie close together", "green")])
    elif found.alone:
        lines.append([("by themselves  ", "bold"), (", ".join(found.alone), "")])
    output.styled(lines)


def _of_cluster(cluster: Cluster) -> list[Sequence[Part]]:
    """A head with the names, then each link under it, the closest first."""
    width = max(len(link.left) + len(link.right) for link in cluster.links) + 3
    lines: list[Sequence[Part]] = [
        [(f"{len(cluster.recipes)} together  ", "bold"), (", ".join(cluster.recipes), "cyan")]
    ]
    for number, link in enumerate(cluster.links):
        last = number == len(cluster.links) - 1
        lines.extend(_of_link(link, "└─" if last else "├─", "  " if last else "│ ", width))
    return [*lines, []]


def _of_link(link: Link, branch: str, stem: str, width: int) -> list[Sequence[Part]]:
    full = round(link.likeness * _BAR)
    bar = "█" * full + "░" * (_BAR - full)
    names = f"{link.left} ─ {link.right}"
    lines: list[Sequence[Part]] = [
        [(f"{branch} ", "dim"), (f"{names:<{width}}", ""), (f"  {bar} ", "yellow"), (f"{link.likeness:.0%} alike", "")]
    ]
    for each in link.shared[:_PHRASES]:
        same = each.phrase.casefold() == each.other_phrase.casefold()
        what = f"both have “{each.phrase}”" if same else f"“{each.phrase}” of {each.recipe} hits “{each.other_phrase}”"
        lines.append([(f"{stem}   ", "dim"), (what, "red")])
    if len(link.shared) > _PHRASES:
        lines.append([(f"{stem}   ", "dim"), (f"and {len(link.shared) - _PHRASES} more phrases", "red")])
    return lines
