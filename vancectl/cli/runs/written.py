"""What the linter says of recipe files that a command has just written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vancectl.cli.scope import Scope
    from vancectl.inventory.cascade import Cascade
    from vancectl.reading.finding import Finding


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
