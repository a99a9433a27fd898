"""Secrets: which variables hold keys, tokens, headers and passwords, and how they are kept out of texts and programs.

A program that we start gets none of our credentials unless the settings list them, and what a program or a server says
is scrubbed of them before it is shown, logged or recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

MASK = "***"
# A shorter value is as likely a word of the text as the secret that it stands for.
SHORTEST = 8
HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
# How the names of variables end that hold a secret. One that ends in `_FILE` holds a path.
_ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "HEADERS", "BEARER")
_OWN_PREFIX = "ANTHROPIC_"
# Other names under which credentials for the Messages API are known to programs that speak to it.
_OWN = frozenset({"AWS_BEARER_TOKEN_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN"})
_ADDRESSES = ("ANTHROPIC_BASE_URL", "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")

_remembered: set[str] = set()


def names_secret(variable: str) -> bool:
    """Whether a variable of this name is likely to hold a secret, whosever it is: for what is only shown."""
    words = variable.upper().replace("-", "_").split("_")
    return any(word.endswith(_ENDINGS) for word in words) and words[-1] not in {"FILE", "PATH", "DIR"}


def is_withheld(variable: str) -> bool:
    """Whether it is a credential of ours, which a program gets only where the settings list it.

    All that the SDK may read, so that a new one is not forgotten; the address of the server is none.
    """
    return variable.startswith(_OWN_PREFIX) and variable.rpartition("_")[2] in _ENDINGS


def masked(variable: str, value: str | None) -> str | None:
    """What is shown of a variable in the settings; one that only passes ours on holds no secret itself."""
    if value is None or value.startswith("{env."):
        return value
    if names_secret(variable):
        return MASK
    for secret in filter(None, _user_info(value)):
        value = value.replace(secret, MASK)
    return value


def without_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not is_withheld(name)}


def remember(values: Iterable[str | None]) -> None:
    """Also these are to be hidden from now on: secrets that the settings hold themselves."""
    _remembered.update(value.strip() for value in values if value and len(value.strip()) >= SHORTEST)


def scrub(text: str) -> str:
    """`text` with `***` for every secret that we know, also where it is escaped or in base64."""
    if len(text) < SHORTEST:
        return text
    for form in _known():
        if form in text:
            text = text.replace(form, MASK)
    return text


class PieceScrubber:
    """The same for output that comes in pieces: of each, only what may be the beginning of a secret is held back."""

    def __init__(self) -> None:
        self._forms = [form.encode("utf-8", "surrogateescape") for form in _known()]
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What can be shown by now; an empty piece is the end."""
        data = self._held + piece
        for form in self._forms:
            data = data.replace(form, MASK.encode())
        keep = max((_begun(data, form) for form in self._forms), default=0) if piece else 0
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]


def _begun(data: bytes, form: bytes) -> int:
    """How much of `form` stands at the end of `data`."""
    longest = min(len(form) - 1, len(data))
    return next((length for length in range(longest, 0, -1) if data.endswith(form[:length])), 0)


def _known() -> list[str]:
    values = frozenset(value for value in (*_own_values(), *_remembered) if len(value) >= SHORTEST)
    return _forms(values) if values else []


def _own_values() -> Iterator[str]:
    for name, value in os.environ.items():
        if name == HEADERS:
            for line in value.splitlines():
                header = line.partition(":")[2].strip()
                yield header
                yield header.rpartition(" ")[2]  # behind `Bearer`
        elif is_withheld(name) or name in _OWN:
            yield value.strip()
        elif name.upper() in _ADDRESSES:
            yield from _user_info(value.strip())


def _user_info(address: str) -> Iterator[str]:
    """A password, or a name that stands without one and so is a token; as written and as meant."""
    if "@" not in address:
        return
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        secret = parts.password or parts.username or ""
    except ValueError:
        return
    yield secret
    yield unquote(secret)


@lru_cache(maxsize=8)
def _forms(values: frozenset[str]) -> list[str]:
    """Each value as it is and as it may be written elsewhere, the longest first: one may hold another."""
    import json
    from urllib.parse import quote, quote_plus

    forms = set(values)
    for value in values:
        plain = value.encode("utf-8", "surrogateescape")
        forms |= {quote(plain, safe=""), quote_plus(plain), quote(plain)}
        forms |= {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
        forms |= set(_base64(plain))
    return sorted((form for form in forms if len(form) >= SHORTEST), key=lambda form: (-len(form), form))


def _base64(plain: bytes) -> Iterator[str]:
    """The part of its base64 that does not depend on what stands around it, as in `Basic user:password`."""
    from base64 import b64encode

    for before in range(3):
        text = b64encode(b"\0" * before + plain)
        first = -(-before * 4 // 3)
        last = (before + len(plain)) * 8 // 6
        inner = text[first:last].decode()
        yield inner
        yield inner.translate({ord("+"): "-", ord("/"): "_"})
