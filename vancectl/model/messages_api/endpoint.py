"""The Messages endpoint: which key goes where, a client for it, and what its failures mean.

What the SDK may raise is turned into reasons and sentences of our own. Nothing of an exception's chain is ever
printed: it can hold the key. The modules beside it make the calls.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from vancectl.model.messages_api.credential import BASE_URL_VARIABLE, KEY_VARIABLES, Credential, find_credential
from vancectl.model.model import ModelError
from vancectl.model.reason import Reason
from vancectl.programs.secrets import scrub
from vancectl.settings.limits import Limits
from vancectl.text.printable import plain_line

if TYPE_CHECKING:
    import anthropic

_PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")

MESSAGE_SHOWN = 300
_ADDED = re.compile(r"(/+v1(/+messages)?)?/*\Z", re.IGNORECASE)
_NO_PART = {"?": "a query (`?…`)", "#": "a fragment (`#…`)", "\\": "a backslash"}
# The answers of a batch come as one body: for each so many that are begun, it may be as long as a single answer.
_ANSWERS_AT_ONCE = 1_000
_BY_STATUS = {
    400: (Reason.BAD_REQUEST, "the request was refused"),
    401: (Reason.AUTHENTICATION, "the key was refused; check {key}"),
    402: (Reason.PERMISSION, "the account cannot pay for the call"),
    403: (Reason.PERMISSION, "the key may not use this model or server"),
    404: (Reason.NOT_FOUND, "the server knows no model `{model}`, or {url} is no Messages server; check "
          "ANTHROPIC_BASE_URL, {advice.model}"),
    407: (Reason.PROXY, "the proxy wants a name and a password; put them into its address"),
    408: (Reason.TIMEOUT, "the server gave up waiting"),
    413: (Reason.TOO_LARGE, "the prompt is too large; {advice.prompt} or shorten the task"),
    422: (Reason.BAD_REQUEST, "the request was refused"),
    429: (Reason.RATE_LIMITED, "too many requests; wait and try again"),
    504: (Reason.TIMEOUT, "a gateway gave up waiting"),
    529: (Reason.OVERLOADED, "the server is overloaded; try again later"),
}  # fmt: skip
_BY_HUNDRED = {
    3: (Reason.BASE_URL, "{url} redirects elsewhere, but no key is sent there; set ANTHROPIC_BASE_URL to its target"),
    4: (Reason.BAD_REQUEST, "the call failed"),
    5: (Reason.SERVER_ERROR, "the server failed; try again later"),
}  # fmt: skip
_BY_NAME = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_TRY_AGAIN = {408, 409, 429, 500, 502, 503, 504, 529}
_STOPS = {
    "max_tokens": (Reason.MAX_TOKENS, "the reply was cut at max_tokens; raise params.maxTokens of {advice.recipe}"),
    "model_context_window_exceeded": (Reason.TOO_LARGE, "the prompt fills the model; {advice.prompt}"),
    "refusal": (Reason.REFUSAL, "the model refused to answer"),
    "tool_use": (Reason.TOOL_CALL, "the model called a tool instead of answering"),
}  # fmt: skip


class Advice(NamedTuple):
    """What a person can do where a call fails; it depends on who calls. Each completes a sentence of the tables."""

    model: str
    prompt: str
    recipe: str
    timeout: str


class Endpoint:
    """The server that answers, with the one key that it gets. Raises ModelError where no client can be made."""

    def __init__(self, advice: Advice, limits: Limits) -> None:
        self._advice = advice
        self.limits = limits
        self.answers_expected = 1
        self._credential = _checked_credential()
        self.url = _checked_base_url()
        self.client = _client(self._credential, self.url, self._count)

    @property
    def host(self) -> str:
        return _host(self.url)

    def _count(self, response: Any) -> None:
        """Ends an answer that grows beyond its limit, whatever it was packed into."""
        read, most = response.iter_bytes, self._most_bytes()

        def counted(chunk_size: int | None = None) -> Iterator[bytes]:
            length = 0
            for piece in read(chunk_size):
                length += len(piece)
                if length > most:
                    raise AnswerTooLongError
                yield piece

        response.iter_bytes = counted

    def _most_bytes(self) -> int:
        return self.limits.response_bytes * -(-self.answers_expected // _ANSWERS_AT_ONCE)

    def timeout(self) -> ModelError:
        return ModelError(Reason.TIMEOUT, f"no reply from {self.host} in time; {self._advice.timeout}")

    def stopped(self, reason: str) -> ModelError | None:
        """What it means that a reply ended for this reason; None where it ended as it should."""
        if reason not in _STOPS:
            return None
        kind, text = _STOPS[reason]
        return ModelError(kind, text.format(advice=self._advice))

    def message_in(self, response: Any, model: str) -> dict[str, Any]:
        """The message that a whole answer holds, checked to be one. Raises ModelError for what it is instead."""
        if response.status_code == 204:
            raise ModelError(Reason.EMPTY_REPLY, f"{self.host} answered with nothing (status 204)")
        response.read()
        try:
            body = response.json()
        except (ValueError, RecursionError):
            raise self.no_message(response) from None
        if isinstance(body, dict) and body.get("error"):  # some gateways tell an error under the status of success
            status = _status_in(body)
            if status is not None:
                raise self._judged(status, body, response.headers, model)
            text = f"{self.host} answered with an error in place of a message (status {response.status_code}"
            raise ModelError(Reason.NOT_A_MESSAGE, f"{text}{said_in(body)})")
        blocks = body.get("content") if isinstance(body, dict) else None
        if not isinstance(blocks, list) or not all(
            isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks
        ):
            raise self.no_message(response)
        message: dict[str, Any] = body
        return message

    def no_message(self, response: Any) -> ModelError:
        kind = kind_of(response)
        return ModelError(
            Reason.NOT_A_MESSAGE,
            f"{self.host} did not answer with a message ({kind or 'no type'}); check {BASE_URL_VARIABLE}",
        )

    def judge(self, error: Exception, model: str) -> ModelError:
        """What an exception of a call to `model` means."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return self._judge_status(error, model)
        if isinstance(error, anthropic.APITimeoutError):
            return self.timeout()
        if any(isinstance(link, AnswerTooLongError) for link in _chain(error)):
            too_long = f"{self.host} answers with more than the {self._most_bytes():,} bytes of limits.responseBytes"
            return ModelError(Reason.NOT_A_MESSAGE, too_long)
        judged = _judged_chain(error, self.url)
        if judged.reason is Reason.TIMEOUT:
            return self.timeout()
        judged.passing = judged.reason is Reason.CONNECTION
        return judged

    def _judge_status(self, error: anthropic.APIStatusError, model: str) -> ModelError:
        # A stream that has begun tells an error by its name alone, under the status of its beginning.
        status = error.status_code if error.status_code >= 300 else _status_in(error.body) or 500
        return self._judged(status, error.body, error.response.headers, model)

    def _judged(self, status: int, body: object, headers: Any, model: str) -> ModelError:
        reason, text = _BY_STATUS.get(status) or _BY_HUNDRED.get(status // 100, _BY_HUNDRED[5])
        where = text.format(
            key=self._credential.variable, model=model, url=_host(self.url, with_path=True), advice=self._advice
        )
        passing = status in _TRY_AGAIN
        asked, most = _retry_after(headers) if passing else None, self.limits.wait_seconds
        if asked is not None and asked > most:
            where += f"; the server asks for {asked:,.0f} seconds, and limits.waitSeconds allows {most:g}"
            asked = most
        said = f"{where} (status {status}{said_in(body)})"
        return ModelError(reason, said, passing=passing, wait=asked, status=status)


class AnswerTooLongError(Exception):
    """A server's answer is beyond `limits.responseBytes`."""


def kind_of(response: Any) -> str:
    """The media type of an answer, without its parameters."""
    return scrub(plain_line(response.headers.get("content-type", "").partition(";")[0]).strip())[:MESSAGE_SHOWN]


def _status_in(body: object) -> int | None:
    """The status that an error has by its name, or that a gateway of another kind gives as its code."""
    inner = body.get("error") if isinstance(body, dict) else None
    if not isinstance(inner, dict):
        return None
    code = inner.get("code")
    return _BY_NAME.get(str(inner.get("type"))) or (code if isinstance(code, int) and 400 <= code < 600 else None)


def said_in(body: object) -> str:
    """The server's own message, short, on one line, and without our secrets should it quote them."""
    inner = body.get("error") if isinstance(body, dict) else None
    message = inner.get("message") or inner.get("type") if isinstance(inner, dict) else inner
    if not isinstance(message, str) or not message.strip():
        return ""
    return f": {scrub(plain_line(message))[:MESSAGE_SHOWN]}"


def _checked_credential() -> Credential:
    credential = find_credential()
    if credential is None:
        raise ModelError(Reason.NO_KEY, f"no model to ask: set {KEY_VARIABLES[0]}, or selector.backend to `command`")
    if not credential.value.isascii() or not credential.value.isprintable() or " " in credential.value:
        raise ModelError(
            Reason.AUTHENTICATION, f"{credential.variable} holds a character that no key has; paste it again"
        )
    return credential


def _checked_base_url() -> str:
    """The server's address. `/v1` and `/v1/messages` at its end are taken off, as the SDK adds them itself.

    What cannot be part of it is refused, since the path of a call would be put behind it.
    """
    given = os.environ.get(BASE_URL_VARIABLE, "").strip()
    if not given:
        return "https://api.anthropic.com"
    try:
        parts = urlsplit(given)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        parts.hostname and parts.hostname.encode("idna")
    except ValueError:
        valid = False
    odd = next((said for sign, said in _NO_PART.items() if sign in given), "")
    if not given.isprintable() or any(map(str.isspace, given)):
        odd = "a blank or a character that is not seen"
    if odd:
        raise ModelError(Reason.BASE_URL, f"{BASE_URL_VARIABLE} holds {odd}; leave it out")
    if not valid:
        raise ModelError(
            Reason.BASE_URL,
            f"{BASE_URL_VARIABLE} is no address; it must begin with https:// or http:// and name a host",
        )
    return _ADDED.sub("", given)


def _client(credential: Credential, url: str, on_response: Callable[[Any], None]) -> anthropic.Anthropic:
    """Retries are ours, since the SDK's know no common deadline. Exactly one credential is sent."""
    certificates = [(variable, os.environ[variable]) for variable in _CERTIFICATE_VARIABLES if os.environ.get(variable)]
    for variable, paths in certificates:
        if not any(os.path.exists(path) for path in paths.split(os.pathsep)):
            raise ModelError(Reason.TLS, f"{variable} names {paths}, which is not there; correct or unset it")
    import logging

    import anthropic

    # With ANTHROPIC_LOG the SDK would print addresses with the passwords in them, and whole requests.
    for name in ("anthropic", "httpx2"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    key, token = (credential.value, None) if credential.variable == KEY_VARIABLES[0] else (None, credential.value)
    try:
        # Redirects are not followed: the key would go along to wherever they lead.
        http_client = anthropic.DefaultHttpxClient(
            base_url=url, follow_redirects=False, event_hooks={"response": [on_response]}
        )
        return anthropic.Anthropic(api_key=key, auth_token=token, base_url=url, max_retries=0, http_client=http_client)
    except Exception as error:  # noqa: BLE001  # the HTTP library raises ImportError, ValueError and kinds of its own here
        if isinstance(error, OSError) and certificates:  # no connection is made yet, so a file is at fault
            variable, paths = certificates[0]
            raise ModelError(
                Reason.TLS,
                f"{variable} names {paths}, which holds no usable certificates; correct or unset it",
            ) from None
        raise _judged_chain(error, url) from None


def _judged_chain(error: BaseException, url: str) -> ModelError:
    """What an exception and its causes mean, told from their kinds: their texts may hold the key and are not shown."""
    import ssl

    chain = list(_chain(error))
    kinds = {kind.__name__ for link in chain for kind in type(link).__mro__}
    proxies = _set_proxies()
    if any("CERTIFICATE_VERIFY_FAILED" in str(link) for link in chain):
        return ModelError(
            Reason.TLS,
            f"the certificate of {_host(url)} cannot be verified; where a proxy inspects the traffic, name its "
            "certificate in SSL_CERT_FILE",
        )
    if any(isinstance(link, ssl.SSLError) and not isinstance(link, ssl.SSLEOFError) for link in chain):
        return ModelError(
            Reason.TLS, f"{_host(url)} does not speak TLS as expected; check whether {BASE_URL_VARIABLE} means http://"
        )
    if "ImportError" in kinds and proxies:
        return ModelError(
            Reason.PROXY, f"{proxies} names a SOCKS proxy, which needs a package: pip install 'httpx2[socks]'"
        )
    if kinds & {"ProxyError", "InvalidURL"} and proxies:
        return ModelError(Reason.PROXY, f"the proxy settings cannot be used; check {proxies}")
    if kinds & {"ValueError", "UnsupportedProtocol"} and proxies:
        return ModelError(Reason.PROXY, f"the proxy settings cannot be used; check {proxies}")
    if "InvalidURL" in kinds or "UnsupportedProtocol" in kinds:
        return ModelError(Reason.BASE_URL, f"{BASE_URL_VARIABLE} is no address that can be called")
    if kinds & {"UnicodeEncodeError", "LocalProtocolError"}:
        return ModelError(
            Reason.AUTHENTICATION, f"a header cannot be sent; check {KEY_VARIABLES[0]} and ANTHROPIC_CUSTOM_HEADERS"
        )
    if "TimeoutException" in kinds:
        return ModelError(Reason.TIMEOUT, f"no reply from {_host(url)} in time")
    if "DecodingError" in kinds:
        return ModelError(
            Reason.NOT_A_MESSAGE, f"{_host(url)} answered with something that cannot be read; check {BASE_URL_VARIABLE}"
        )
    if kinds & {"APIConnectionError", "OSError", "RemoteProtocolError", "NetworkError"}:
        refused = "ConnectionRefusedError" in kinds or "ConnectError" in kinds
        how = "could not be reached" if refused else "broke the connection off"
        proxies = _set_proxies(f"{urlsplit(url).scheme.upper()}_PROXY", "ALL_PROXY")
        through = f" (through the proxy in {proxies})" if proxies else ""
        return ModelError(Reason.CONNECTION, f"{_host(url)} {how}{through}; check the network and {BASE_URL_VARIABLE}")
    return ModelError(Reason.CALL_FAILED, f"the call failed ({type(error).__name__})")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _host(url: str, *, with_path: bool = False) -> str:
    """Scheme, host and port, and the path where that may be at fault: an address may hold a password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}{scrub(plain_line(parts.path)) if with_path else ''}"


def _set_proxies(*variables: str) -> str:
    names = [name for name in variables or _PROXY_VARIABLES if os.environ.get(name) or os.environ.get(name.lower())]
    return ", ".join(names)


def _retry_after(headers: Any) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after`; a date there is not worth waiting for and counts as none."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if seconds >= 0:  # `nan` is a number to float(), and no time to wait
            return seconds
    return None
