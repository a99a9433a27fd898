"""The key that is sent to the Messages API, and the variables that name it and its server."""

from __future__ import annotations

import os
from dataclasses import dataclass

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"


@dataclass(frozen=True, slots=True)
class Credential:
    """The one key or token that is sent; `variable` says where it was found."""

    value: str
    variable: str


def find_credential() -> Credential | None:
    """`ANTHROPIC_API_KEY`, else `ANTHROPIC_AUTH_TOKEN`, blanks and line ends taken off; None where both are empty."""
    for variable in KEY_VARIABLES:
        value = os.environ.get(variable, "").strip()
        if value:
            return Credential(value, variable)
    return None
