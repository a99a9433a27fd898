"""Where vancectl keeps files outside of a project: configuration, state, cache, the bundled defaults."""

from __future__ import annotations

import os
from pathlib import Path

# A project's own folder; of the two, one counts.
FOLDER_NAMES = (".vance", "_vance")
_APP = "vancectl"
_BELOW_HOME = {"CONFIG": [".config"], "STATE": [".local", "state"], "CACHE": [".cache"]}


def config_dir() -> Path | None:
    """The folder that holds `tenants/`; None where the user has no home directory."""
    return _folder("CONFIG")


def state_dir() -> Path | None:
    """The folder of process records and logs; None where the user has no home directory."""
    return _folder("STATE")


def cache_dir() -> Path | None:
    """The folder of what can be made again; None where the user has no home directory."""
    return _folder("CACHE")


def defaults_dir() -> Path:
    """The bundled layer: `$VANCECTL_DEFAULTS_DIR`, the wheel's copy, or the repository's folder.

    A wheel carries `defaults/` inside the package; in an editable install it lies beside the package.
    """
    given = os.environ.get("VANCECTL_DEFAULTS_DIR")
    if given:
        return Path(given).absolute()
    package = Path(__file__).resolve().parents[1]
    packed = package / "defaults"
    return packed if packed.is_dir() else package.parent / "defaults"


def _folder(kind: str) -> Path | None:
    given = os.environ.get(f"VANCECTL_{kind}_DIR")
    if given:
        return Path(given).absolute()
    wanted = os.environ.get(f"XDG_{kind}_HOME", "")
    if not os.path.isabs(wanted):
        if not _has_home():
            return None
        if wanted and os.name != "nt":
            # A relative one is none (XDG base directories): where we stand, a clone would be the configuration.
            return Path(os.path.expanduser("~"), *_BELOW_HOME[kind], _APP)
    import platformdirs

    dirs = platformdirs.PlatformDirs(_APP, appauthor=False)
    path = {"CONFIG": dirs.user_config_path, "STATE": dirs.user_state_path, "CACHE": dirs.user_cache_path}
    return path[kind]


def _has_home() -> bool:
    """False without a usable home: `HOME` empty or relative, or unset for a user whom the system does not know.

    Then `~` would stay a literal `~`, become `/`, or lie wherever we stand.
    """
    if os.name == "nt":
        return True
    if "HOME" in os.environ:
        return os.path.isabs(os.environ["HOME"])
    return _known_user()


def _known_user() -> bool:
    import pwd

    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True
