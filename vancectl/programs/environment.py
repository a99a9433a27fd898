"""What a program that we start sees of our environment: all but our credentials, unless the settings list them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from vancectl.programs.secrets import is_withheld, names_secret, remember, without_credentials


def program_environment(
    listed: Mapping[str, str | None], own: Mapping[str, str | None] = MappingProxyType({})
) -> dict[str, str]:
    """The whole environment: `own` says what we set and unset ourselves, and `listed`, from the settings, goes over it.

    In what is listed null unsets, and `{env.NAME}` passes on a variable of ours.
    """
    environment = without_credentials(os.environ)
    given = {**own, **{name: passed_on(written) for name, written in listed.items()}}
    remember(value for name, value in given.items() if names_secret(name))
    for name, value in given.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def withheld(listed: Mapping[str, str | None]) -> list[str]:
    """Our credentials that are set, and that a program does not get since nothing is listed for them."""
    return sorted(
        name for name, value in os.environ.items() if is_withheld(name) and value.strip() and name not in listed
    )


def passed_on(written: str | None) -> str | None:
    if written is not None and written.startswith("{env.") and written.endswith("}"):
        return os.environ.get(written[len("{env.") : -1])
    return written
