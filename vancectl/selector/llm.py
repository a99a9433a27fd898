"""The one model call, through the Anthropic SDK: the only module that imports it.

What the SDK may raise is turned into reasons and sentences of our own. Nothing of an exception's chain is ever
printed: it can hold the key.
"""

from __future__ import annotations

import os
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vancectl.printable import plain_line, well_formed
from vancectl.selector.decision import Reason
from vancectl.selector.model import ModelError, Reply
from vancectl.selector.question import Question, correction
from vancectl.selector.throttle import Throttle

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
_PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")

MAX_CALLS = 3
FIRST_PAUSE = 0.25
MESSAGE_SHOWN = 300

_BY_STATUS = {
    400: (Reason.BAD_REQUEST, "the request was refused"),
    401: (Reason.AUTHENTICATION, "the key was refused; check {key}"),
    402: (Reason.PERMISSION, "the account cannot pay for the call"),
    403: (Reason.PERMISSION, "the key may not use this model or server"),
    404: (Reason.NOT_FOUND, "the server knows no model `{model}`, or {url} is no Messages server; check --model, "
          "VANCECTL_MODEL, selector.model and the recipe `recipe-selector`"),
    407: (Reason.PROXY, "the proxy wants a name and a password; put them into its address"),
    408: (Reason.TIMEOUT, "the server gave up waiting"),
    413: (Reason.TOO_LARGE, "the prompt is too large; lower routing.recipeListLimit or shorten the task"),
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
_TRY_AGAIN = {408, 409, 429, 500, 502, 503, 504, 529}
_STOPS = {
    "max_tokens": (Reason.MAX_TOKENS, "the reply was cut at max_tokens; raise params.maxTokens of `recipe-selector`"),
    "model_context_window_exceeded": (Reason.TOO_LARGE, "the prompt fills the model; lower routing.recipeListLimit"),
    "refusal": (Reason.REFUSAL, "the model refused to answer"),
    "tool_use": (Reason.TOOL_CALL, "the model called a tool instead of answering"),
}  # fmt: skip


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


class AnthropicModel:
    """A model behind the Messages API. Raises ModelError where no client can be made."""

    backend = "anthropic"

    def __init__(self, name: str, max_tokens: int) -> None:
        self.name = name
        self._max_tokens = max_tokens
        self._structured = True
        self._throttle = Throttle()
        self._credential = _checked_credential()
        self.url = _checked_base_url()
        self.client = _client(self._credential, self.url)

    def ask(self, question: Question, deadline: float) -> Reply:
        """One reply, with up to three calls where the server or the network failed for the moment."""
        pause = FIRST_PAUSE
        calls = counted = 0
        while True:
            deadline += self._throttle.enter(first=calls == 0)
            asked_at, answered, wait = time.monotonic(), False, 0.0
            try:
                calls += 1
                counted += 1
                reply = self._call(question, deadline)
                answered = True
                return replace(reply, calls=calls)
            except _UnstructuredError:
                # Not every server takes a schema: once refused, it is left out for the rest of the run.
                self._structured = False
            except PassingError as passing:
                wait = passing.wait if passing.wait is not None else pause
                pause *= 2
                refused = passing.error.reason in {Reason.RATE_LIMITED, Reason.OVERLOADED}
                # Refused in a crowd, a question only waits for its turn: that is no failure of its own.
                counted -= refused and self._throttle.crowded
                if counted >= MAX_CALLS or time.monotonic() + wait >= deadline:
                    raise ModelError(passing.error.reason, passing.error.text, reply=Reply("", calls)) from None
                if refused:
                    self._throttle.refused(wait, asked_at)
            except ModelError as error:
                raise ModelError(error.reason, error.text, reply=replace(error.reply, calls=calls)) from None
            finally:
                self._throttle.leave(answered=answered)
            time.sleep(wait)

    def _call(self, question: Question, deadline: float) -> Reply:
        """One request, on a thread of its own: a reply that drips byte by byte outlasts every timeout of the SDK."""
        box: Queue[Any] = Queue(1)

        def work() -> None:
            try:
                box.put(self._send(question, deadline))
            except Exception as error:  # noqa: BLE001  # whatever it is, it is judged where it is taken out
                box.put(error)

        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise self._timeout()
        threading.Thread(target=work, daemon=True).start()
        try:
            result = box.get(timeout=remaining)
        except Empty:
            raise self._timeout() from None
        if isinstance(result, Exception):
            raise self.judged(result) from None
        return self._read(result)

    def _send(self, question: Question, deadline: float) -> Any:
        return self.client.messages.with_raw_response.create(
            timeout=max(deadline - time.monotonic(), 0.001), **self.arguments(question)
        )

    def arguments(self, question: Question) -> dict[str, Any]:
        """What a question is to the Messages API."""
        arguments: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self._max_tokens,
            "system": question.system,
            "messages": list(_messages(question)),
        }
        if self._structured:
            arguments["output_config"] = {"format": {"type": "json_schema", "schema": question.schema()}}
        return arguments

    def _read(self, response: Any) -> Reply:
        """The reply's text. Raises ModelError for everything that is no message, and for each way to stop short."""
        return self.read_message(self._message(response))

    def read_message(self, message: Message) -> Reply:
        """The same for a message whose shape is known."""
        texts = (getattr(block, "text", None) for block in message.content if block.type == "text")
        reply = Reply(
            # A lone surrogate, which JSON can hold, could not be sent back with a correction.
            well_formed("".join(text for text in texts if isinstance(text, str))),
            input_tokens=_count(message, "input_tokens"),
            output_tokens=_count(message, "output_tokens"),
            cache_read_tokens=_count(message, "cache_read_input_tokens"),
            cache_write_tokens=_count(message, "cache_creation_input_tokens"),
        )
        stop = str(message.stop_reason)
        if stop in _STOPS:
            reason, text = _STOPS[stop]
            raise ModelError(reason, text, reply=reply)
        if not reply.text.strip() and any(block.type == "tool_use" for block in message.content):
            raise ModelError(*_STOPS["tool_use"], reply=reply)
        return reply

    def _message(self, response: Any) -> Message:
        """The SDK builds a message out of any JSON, so its shape is checked before it is believed."""
        kind = without_secrets(response.headers.get("content-type", "").partition(";")[0])
        if response.status_code == 204:
            raise ModelError(Reason.EMPTY_REPLY, f"{_host(self.url)} answered with nothing (status 204)")
        problem = f"{_host(self.url)} did not answer with a message ({kind or 'no type'}); check {BASE_URL_VARIABLE}"
        try:
            body = response.http_response.json()
            message: Message = response.parse()
        except Exception:  # noqa: BLE001  # decoding and validation raise kinds from three libraries
            raise ModelError(Reason.NOT_A_MESSAGE, problem) from None
        if not isinstance(body, dict) or not isinstance(body.get("content"), list):
            raise ModelError(Reason.NOT_A_MESSAGE, problem)
        if not all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in body["content"]):
            raise ModelError(Reason.NOT_A_MESSAGE, problem)
        return message

    # -- failures

    def _timeout(self) -> ModelError:
        return ModelError(
            Reason.TIMEOUT, f"no reply from {_host(self.url)} in time; raise selector.timeout or try again"
        )

    def judged(self, error: Exception) -> Exception:
        """A ModelError, or a PassingError around one, for whatever the SDK raised."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return self._judged_status(error)
        if isinstance(error, anthropic.APITimeoutError):
            return self._timeout()
        judged = _judged_chain(error, self.url)
        return PassingError(judged) if judged.reason is Reason.CONNECTION else judged

    def _judged_status(self, error: anthropic.APIStatusError) -> Exception:
        status = error.status_code
        if status in {400, 422} and self._structured:
            return _UnstructuredError()
        reason, text = _BY_STATUS.get(status) or _BY_HUNDRED.get(status // 100, _BY_HUNDRED[5])
        said = self.said(error.body)
        where = text.format(key=self._credential.variable, model=self.name, url=_host(self.url))
        judged = ModelError(reason, f"{where} (status {status}{said})")
        if status in _TRY_AGAIN:
            return PassingError(judged, _retry_after(error.response.headers))
        return judged

    def said(self, body: object) -> str:
        """The server's own message, short, on one line, and without our secrets should it quote them."""
        inner = body.get("error") if isinstance(body, dict) else None
        message = inner.get("message") if isinstance(inner, dict) else None
        if not isinstance(message, str) or not message.strip():
            return ""
        return f": {without_secrets(plain_line(message))[:MESSAGE_SHOWN]}"


class PassingError(Exception):
    """A failure that may pass; `wait` is what the server asked for, in seconds."""

    def __init__(self, error: ModelError, wait: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.wait = wait


class _UnstructuredError(Exception):
    """The server may have refused the reply schema."""


def _messages(question: Question) -> Iterator[dict[str, Any]]:
    """Context first and marked for the cache; the recipes' words stay out of the system prompt, which is ours alone."""
    cached = {"type": "text", "text": question.context, "cache_control": {"type": "ephemeral"}}
    yield {"role": "user", "content": [cached, {"type": "text", "text": question.request}]}
    for reply, complaint in question.corrections:
        yield {"role": "assistant", "content": reply.strip() or "(nothing)"}
        yield {"role": "user", "content": correction(complaint)}


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
    """The server's address. `/v1` and `/v1/messages` at its end are taken off, as the SDK adds them itself."""
    given = os.environ.get(BASE_URL_VARIABLE, "").strip()
    if not given:
        return "https://api.anthropic.com"
    try:
        parts = urlsplit(given)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ModelError(
            Reason.BASE_URL,
            f"{BASE_URL_VARIABLE} is no address; it must begin with https:// or http:// and name a host",
        )
    return given.rstrip("/").removesuffix("/v1/messages").removesuffix("/v1")


def _client(credential: Credential, url: str) -> anthropic.Anthropic:
    """Retries are ours, since the SDK's know no common deadline. Exactly one credential is sent."""
    certificates = [(variable, os.environ[variable]) for variable in _CERTIFICATE_VARIABLES if os.environ.get(variable)]
    for variable, paths in certificates:
        if not any(os.path.exists(path) for path in paths.split(os.pathsep)):
            raise ModelError(Reason.TLS, f"{variable} names {paths}, which is not there; mend or unset it")
    import logging

    import anthropic

    # With ANTHROPIC_LOG the SDK would print addresses with the passwords in them, and whole requests.
    for name in ("anthropic", "httpx2"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    key, token = (credential.value, None) if credential.variable == KEY_VARIABLES[0] else (None, credential.value)
    try:
        # Redirects are not followed: the key would go along to wherever they lead.
        http_client = anthropic.DefaultHttpxClient(base_url=url, follow_redirects=False)
        return anthropic.Anthropic(api_key=key, auth_token=token, base_url=url, max_retries=0, http_client=http_client)
    except Exception as error:  # noqa: BLE001  # the HTTP library raises ImportError, ValueError and kinds of its own here
        if isinstance(error, OSError) and certificates:  # no connection is made yet, so a file is at fault
            variable, paths = certificates[0]
            raise ModelError(
                Reason.TLS, f"{variable} names {paths}, which holds no certificates that can be used; mend or unset it"
            ) from None
        raise _judged_chain(error, url) from None


def _judged_chain(error: BaseException, url: str) -> ModelError:
    """What an exception and its causes mean, told from their kinds: their texts may hold the key and are not shown."""
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
        return ModelError(Reason.TIMEOUT, f"no reply from {_host(url)} in time; raise selector.timeout or try again")
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


def _host(url: str) -> str:
    """Scheme, host and port: an address may hold a password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"


def _set_proxies(*variables: str) -> str:
    names = [name for name in variables or _PROXY_VARIABLES if os.environ.get(name) or os.environ.get(name.lower())]
    return ", ".join(names)


def without_secrets(text: str) -> str:
    for secret in _secrets():
        text = text.replace(secret, "[secret]")
    return text


def _secrets() -> list[str]:
    """What must not be shown even if a server sends it back: keys, tokens, header values, passwords in URLs."""
    found = [os.environ.get(variable, "").strip() for variable in KEY_VARIABLES]
    for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
        found.append(line.partition(":")[2].strip())
    for variable in (BASE_URL_VARIABLE, *_PROXY_VARIABLES):
        try:
            found.append(urlsplit(os.environ.get(variable, "")).password or "")
        except ValueError:
            continue
    return sorted((secret for secret in found if len(secret) > 3), key=len, reverse=True)


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


def _count(message: Message, name: str) -> int | None:
    """A token count; None where a gateway leaves it out or puts something else there."""
    value = getattr(message.usage, name, None)
    return value if isinstance(value, int) else None
