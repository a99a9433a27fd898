"""The tenant: its name, and the folder that holds its settings and recipes."""

from __future__ import annotations

from pathlib import Path

from vancectl.disk.folders import config_dir
from vancectl.errors import Place, UsageError


def check_tenant(tenant: str, where: Place | None = None) -> None:
    """Raises UsageError for a name that could be a path."""
    if not tenant[:1].isalnum() or not all(character.isalnum() or character in "-_." for character in tenant):
        raise UsageError(
            f"`{tenant}` is no tenant's name",
            where=where,
            remedy="use letters, digits, `-`, `_` and `.`, beginning with a letter or digit",
        )


def tenant_folder(tenant: str) -> Path | None:
    """`<configuration>/tenants/<tenant>`; None without a home. Raises UsageError for a name that could be a path."""
    check_tenant(tenant)
    config = config_dir()
    return config / "tenants" / tenant if config is not None else None
