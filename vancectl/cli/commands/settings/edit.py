"""`vancectl settings edit`."""

from __future__ import annotations

from vancectl.cli.scope import Scope, scoped


@scoped
def edit_settings(scope: Scope) -> None:
    """Open the tenant's file in the editor, and check it afterwards.

    What is broken is reported with its line; the file stays as it was saved.
    """
    from vancectl.cli.editor import run_editor
    from vancectl.cli.tenant_file import read_tenant_file, write_tenant_file
    from vancectl.reading.schema_line import offer_schema, with_line

    output = scope.output()
    path, before = read_tenant_file(scope, broken=True)
    if not before:
        write_tenant_file(path, with_line(_BEGINNING, "settings", path.parent, path))
        if warning := offer_schema("settings", path.parent):
            output.warn(warning)
    run_editor(path)
    scope.fresh_settings()
    output.progress(f"note: {path} is in order")


_BEGINNING = "# Settings of this tenant; `vancectl settings keys` lists what there is.\n"
