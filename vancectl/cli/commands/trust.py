"""`vancectl trust`: lists the folders in which a project may bring more than recipes and cases, adds one, drops one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, scoped

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("trust")
@scoped
def trust(
    scope: Scope,
    folder: Annotated[
        str | None,
        typer.Argument(
            metavar="[DIR]", help="The folder, or `DIR/*` for all below it. [the project's, else the working directory]"
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the folder off the list.")] = False,
    show: Annotated[bool, typer.Option("--list", help="Show the list, and change nothing.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Trust a folder: put it on the list in the tenant's settings."""
    from vancectl.errors import UsageError
    from vancectl.settings.trust import FOLDERS

    output = scope.output(as_json=json_output)
    if show and (remove or folder is not None):
        raise UsageError("--list changes nothing", remedy="leave out the folder and --remove")
    if not show:
        entry = _entry(scope, folder, must_exist=not remove)
        path = _change(scope, entry, remove=remove)
        value = scope.fresh_settings().value(FOLDERS)
        if value.origin != str(path):
            output.warn(f"{path} is changed, but {value.origin} sets {FOLDERS} in its place")
    _print(output, scope.fresh_settings().value(FOLDERS).value)


def _entry(scope: Scope, given: str | None, *, must_exist: bool) -> str:
    """The folder as it is listed: where it really is, so that no link can later lead elsewhere."""
    from vancectl.errors import UsageError
    from vancectl.settings.trust import BELOW

    if given is None:
        project = scope.layers.project
        return os.path.realpath(project.folder.parent if project is not None else Path.cwd())
    below = BELOW if given.endswith(BELOW) else ""
    folder = os.path.realpath(os.path.expanduser(given.removesuffix(BELOW) or "/"))
    if must_exist and not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder}", remedy="name one that there is")
    return folder.rstrip("/") + below or "/"


def _change(scope: Scope, entry: str, *, remove: bool) -> Path:
    """Edits the tenant's file and gives its path. Raises UsageError, and SettingsError where the file is broken."""
    from vancectl.disk.storage import write_atomically
    from vancectl.errors import Place, UsageError
    from vancectl.settings.file import UneditableError, with_entry, without_entries
    from vancectl.settings.settings import read_tenant_list
    from vancectl.settings.tenant import tenant_folder
    from vancectl.settings.trust import FOLDERS

    tenant = tenant_folder(scope.layers.tenant)
    if tenant is None:
        raise UsageError("there is no tenant without a home directory", remedy="set VANCECTL_CONFIG_DIR")
    path = tenant / "settings.yaml"
    before = read_tenant_list(path, FOLDERS)
    if remove and entry not in {*before, *map(os.path.realpath, before)}:
        raise UsageError(f"{entry} is not on the list", where=Place(path), remedy="`vancectl trust --list` shows it")
    if not remove and entry in before:
        return path
    kept = [each for each in before if entry not in {each, os.path.realpath(each)}]
    try:
        text = path.read_bytes().decode() if os.path.lexists(path) else ""
        keys = ["trust"] if _is_short(text) else FOLDERS.split(".")
        text = without_entries(text, keys, lambda each: each not in kept) if remove else with_entry(text, keys, entry)
        target = Path(os.path.realpath(path))  # it may lie with other dotfiles
        if read_tenant_list(path, FOLDERS, text) != (kept if remove else [*before, entry]):
            raise UneditableError
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        write_atomically(target, text.encode())
        target.chmod(mode)
    except UneditableError:
        what = "drop it from" if remove else "add it to"
        raise UsageError(
            "cannot be edited here", where=Place(path), remedy=f"{what} `{FOLDERS}` by hand: {entry}"
        ) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be written: {reason}", where=Place(path), remedy="make it writable") from None
    return path


def _is_short(text: str) -> bool:
    """Whether the list stands right under `trust`."""
    import yaml

    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if root is not None and root.id == "mapping" else []
    return any(key.value == "trust" and value.id == "sequence" for key, value in pairs)


def _print(output: Output, folders: list[str]) -> None:
    from vancectl.settings.trust import BELOW, owner_of

    rows = [
        {"folder": each, "exists": os.path.isdir(each.removesuffix(BELOW) or "/"),
         "owner": owner_of(Path(each.removesuffix(BELOW) or "/"))}
        for each in folders
    ]  # fmt: skip
    if output.as_json:
        output.array(rows)
        return
    output.table(
        ("folder", "owner"),
        ((str(row["folder"]), str(row["owner"]) if row["exists"] else "(not there)") for row in rows),
        empty="no folder is trusted",
    )
