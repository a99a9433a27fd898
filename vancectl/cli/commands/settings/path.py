"""`vancectl settings path`."""

from __future__ import annotations

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped


@scoped
def show_path(scope: Scope, json_output: JsonOption = False) -> None:
    """Print the files that settings come from, the tenant's first."""
    import os

    from vancectl.settings.settings import bundled_file
    from vancectl.settings.tenant import tenant_folder

    output = scope.output(as_json=json_output)
    folder = tenant_folder(scope.layers.tenant)
    files = {"tenant": folder / "settings.yaml" if folder is not None else None, "bundled": bundled_file()}
    rows = [
        {"source": source, "path": str(path), "exists": os.path.exists(path)}
        for source, path in files.items()
        if path is not None
    ]
    if output.as_json:
        output.array(rows)
    else:
        for row in rows:
            output.prose(f"{row['path']}{'' if row['exists'] else '  (not there yet)'}\n")
