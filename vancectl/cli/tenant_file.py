"""The tenant's settings file, for the commands that change it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vancectl.cli.scope import Scope


def read_tenant_file(scope: Scope, *, broken: bool = False) -> tuple[Path, str]:
    """Its path and text; the empty text where it is not there yet. `broken`: it may be so.

    Raises UsageError, and SettingsError for a broken one.
    """
    from vancectl.errors import Place, UsageError
    from vancectl.settings.settings import check_text
    from vancectl.settings.tenant import tenant_folder

    folder = tenant_folder(scope.layers.tenant)
    if folder is None:
        raise UsageError("there is no tenant without a home directory", remedy="set VANCECTL_CONFIG_DIR")
    path = folder / "settings.yaml"
    try:
        text = path.read_bytes().decode() if os.path.lexists(path) else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not UTF-8").lower()
        raise UsageError(f"cannot be read: {reason}", where=Place(path), remedy="make it readable") from None
    if not broken:
        check_text(path, text)
    return path, text


def write_tenant_file(path: Path, text: str) -> None:
    """Replaces it; a new one is its owner's alone. Raises UsageError, and SettingsError where it would be broken."""
    from vancectl.disk.storage import write_atomically
    from vancectl.errors import Place, UsageError
    from vancectl.settings.settings import check_text

    check_text(path, text)
    target = Path(os.path.realpath(path))  # it may lie with other dotfiles
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        write_atomically(target, text.encode())
        target.chmod(mode)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be written: {reason}", where=Place(path), remedy="make it writable") from None
