"""`vancectl recipes path`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.inventory.layer import Layers


@scoped
def show_path(
    scope: Scope,
    json_output: JsonOption = False,
) -> None:
    """Show the directories of the cascade, nearest first, existing or not."""
    from vancectl.inventory.layer import LayerKind

    output = scope.output(as_json=json_output)
    scope.report_findings(output)
    layers = scope.layers
    rows: list[dict[str, Any]] = [
        {
            "layer": layer.kind.value,
            "path": str(layer.directory),
            "exists": os.path.isdir(layer.directory),
            "tenant": layers.tenant if layer.kind is LayerKind.TENANT else None,
            "tenantSource": layers.tenant_source.value if layer.kind is LayerKind.TENANT else None,
            "tenantOrigin": layers.tenant_origin or None if layer.kind is LayerKind.TENANT else None,
        }
        for layer in layers.nearest_first
    ]
    rows += [
        {**dict.fromkeys(rows[0]), "layer": layer.kind.value, "path": str(layer.directory), "exists": True,
         "source": {"key": layer.source.key, "format": layer.source.format, "trusted": layer in layers.sources}}
        for layer in (*layers.sources, *layers.untrusted)
        if layer.source is not None
    ]  # fmt: skip
    if output.as_json:
        output.array(rows)
        return
    output.table(
        ("path", "layer", "exists"),
        ((row["path"], _layer_in_words(row, layers), _yes(row["exists"])) for row in rows),
        empty="no layers",
    )


def _layer_in_words(row: dict[str, Any], layers: Layers) -> str:
    from vancectl.cli.render.decision import tenant_in_words

    if row["tenant"]:
        return f"tenant {tenant_in_words(layers)}"
    source = row.get("source")
    if source is None:
        return str(row["layer"])
    return f"source {source['key']} ({source['format']})" + ("" if source["trusted"] else ", not trusted")


def _yes(value: bool) -> str:
    return "yes" if value else "no"
