"""The loopback Messages API, as the unmodified SDK meets it.

Which fault becomes which exception is what the model stage has to handle, so these tests
are also the notes on the SDK: some faults are no exception at all, some none of its own.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import pytest

from tests import messages_server as scripted
from tests.messages_server import Behaviour, MessagesServer


def ask(where: MessagesServer | str, timeout: float = 5, retries: int = 0, **extra: Any) -> Any:
    """What the SDK makes of one question; `Any`, because it is not always a message."""
    url = where if isinstance(where, str) else where.url
    with anthropic.Anthropic(base_url=url, api_key="k", max_retries=retries, timeout=timeout) as client:
        return client.messages.create(
            model="claude-test",
            max_tokens=64,
            messages=[{"role": "user", "content": "Which recipe?"}],
            **extra,
        )


def decision(message: Any) -> Any:
    return json.loads(message.content[0].text)


def test_a_server_told_nothing_answers_none(messages: MessagesServer) -> None:
    answer = ask(messages)
    assert decision(answer)["decision"] == "NONE"
    assert (answer.model, answer.stop_reason) == ("claude-test", "end_turn")


def test_behaviours_come_in_turn_and_the_last_repeats(messages: MessagesServer) -> None:
    messages.reply(scripted.match("a"), scripted.match("b"))
    assert [decision(ask(messages))["recipe"] for _ in range(3)] == ["a", "b", "b"]
    messages.reply(scripted.match("c"))
    assert decision(ask(messages))["recipe"] == "c"


def test_match_takes_more_keys_and_token_counts(messages: MessagesServer) -> None:
    messages.reply(scripted.match("übung", "weil", usage={"cache_read_input_tokens": 900}, confidence=0.5))
    answer = ask(messages)
    assert decision(answer) == {
        "decision": "MATCH",
        "recipe": "übung",
        "rationale": "weil",
        "confidence": 0.5,
    }
    assert answer.usage.cache_read_input_tokens == 900
    assert answer.usage.input_tokens == scripted.USAGE["input_tokens"]


def test_content_of_all_types(messages: MessagesServer) -> None:
    blocks: list[dict[str, object]] = [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "tool_use", "id": "toolu_1", "name": "pick", "input": {"recipe": "a"}},
        {"type": "not_invented_yet", "x": 1},
        {"type": "text", "text": "last"},
    ]
    messages.reply(scripted.content(blocks, stop_reason="tool_use"))
    answer = ask(messages)
    assert [block.type for block in answer.content] == [block["type"] for block in blocks]
    assert answer.stop_reason == "tool_use"


def test_stops_and_refusals(messages: MessagesServer) -> None:
    messages.reply(scripted.stop("max_tokens", '{"decision": "MA'), scripted.stop("max_tokens"), scripted.refusal())
    cut, thought_too_long, refused = (ask(messages) for _ in range(3))
    assert (cut.stop_reason, cut.content[0].text) == ("max_tokens", '{"decision": "MA')
    assert thought_too_long.content == []
    assert (refused.stop_reason, refused.content) == ("refusal", [])
    assert "declined" in refused.stop_details.explanation


def test_a_scripted_answerer_sees_the_request(messages: MessagesServer) -> None:
    messages.reply(scripted.answer(lambda body: scripted.match(body["model"])))
    assert decision(ask(messages))["recipe"] == "claude-test"


@pytest.mark.parametrize("failure", [AssertionError("wrong prompt"), OSError("no file")])
def test_a_failing_answerer_fails_the_test(failure: Exception) -> None:
    def script(body: Any) -> Behaviour:
        raise failure

    def exchange() -> None:
        with MessagesServer() as server:
            server.reply(scripted.answer(script))
            with pytest.raises(anthropic.InternalServerError):
                ask(server)

    with pytest.raises(type(failure), match=str(failure)):
        exchange()


def test_when_field_chooses_by_the_request(messages: MessagesServer) -> None:
    rejection = scripted.status(400, message="output_config: Extra inputs are not permitted")
    messages.reply(scripted.when_field("output_config", then=rejection, otherwise=scripted.match("a")))
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    with pytest.raises(anthropic.BadRequestError, match="Extra inputs"):
        ask(messages, output_config={"format": {"type": "json_schema", "schema": schema}})
    assert decision(ask(messages))["recipe"] == "a"


def test_requests_are_recorded(messages: MessagesServer) -> None:
    before = time.monotonic()
    ask(messages)
    (request,) = messages.requests
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert request.headers["anthropic-version"]
    # The SDK sends a key as a bearer token, not as x-api-key.
    assert request.headers["authorization"] == "Bearer k"
    assert request.body["messages"][0]["content"] == "Which recipe?"
    assert json.loads(request.raw) == request.body
    assert before <= request.time <= time.monotonic()


ERRORS = {
    400: anthropic.BadRequestError,
    401: anthropic.AuthenticationError,
    403: anthropic.PermissionDeniedError,
    404: anthropic.NotFoundError,
    408: anthropic.RequestTimeoutError,
    413: anthropic.ContentTooLargeError,
    429: anthropic.RateLimitError,
    500: anthropic.InternalServerError,
    529: anthropic.OverloadedError,
}


@pytest.mark.parametrize("code", ERRORS)
def test_status(messages: MessagesServer, code: int) -> None:
    messages.reply(scripted.status(code, message="so it is", headers={"Retry-After": "7"}))
    with pytest.raises(anthropic.APIStatusError, match="so it is") as caught:
        ask(messages)
    assert type(caught.value) is ERRORS[code]
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.type == scripted.ERROR_TYPES.get(code, "api_error")


def test_the_sdk_retries_after_the_time_it_is_told(messages: MessagesServer) -> None:
    messages.reply(scripted.status(429, "rate_limit_error", "slow down", {"retry-after": "0.3"}), scripted.match("a"))
    assert decision(ask(messages, retries=1))["recipe"] == "a"
    first, second = messages.requests
    assert second.time - first.time >= 0.3


UNCONNECTED = [
    scripted.reset_mid_body,
    scripted.close_before_reply,
    scripted.truncated_body,
    scripted.chunked_cut,
    scripted.gzip_garbage,
    scripted.redirect_loop,
    scripted.huge_headers,
]


@pytest.mark.parametrize("fault", UNCONNECTED)
def test_faults_that_are_connection_errors(messages: MessagesServer, fault: Callable[[], Behaviour]) -> None:
    messages.reply(fault())
    with pytest.raises(anthropic.APIConnectionError) as caught:
        ask(messages)
    assert not isinstance(caught.value, anthropic.APITimeoutError)


def test_a_reset_is_a_reset(messages: MessagesServer) -> None:
    messages.reply(scripted.reset_mid_body())
    with pytest.raises(anthropic.APIConnectionError) as caught:
        ask(messages)
    assert "reset" in str(caught.value.__cause__)


NO_SDK_ERRORS = [
    (scripted.empty_body_200, json.JSONDecodeError),
    (scripted.not_json_200, json.JSONDecodeError),
    (scripted.bad_encoding, UnicodeDecodeError),
]


@pytest.mark.parametrize(("fault", "error"), NO_SDK_ERRORS)
def test_faults_that_are_errors_but_not_the_sdks(
    messages: MessagesServer, fault: Callable[[], Behaviour], error: type[Exception]
) -> None:
    messages.reply(fault())
    with pytest.raises(error):
        ask(messages)


def test_faults_that_are_no_errors(messages: MessagesServer) -> None:
    messages.reply(scripted.html_200(), scripted.no_content_204(), scripted.json_list_200(), scripted.wrong_shape_200())
    page, nothing, items, shapeless = (ask(messages) for _ in range(4))
    assert page.startswith("<!doctype html>")
    assert nothing == ""
    assert isinstance(items, list)
    assert shapeless.content is None


def test_refused() -> None:
    with pytest.raises(anthropic.APIConnectionError) as caught:
        ask(scripted.refused())
    assert "refused" in str(caught.value.__cause__)


def test_delay(messages: MessagesServer) -> None:
    messages.reply(scripted.delay(0.2, scripted.match("a")))
    before = time.monotonic()
    assert decision(ask(messages))["recipe"] == "a"
    assert time.monotonic() - before >= 0.2


def test_a_read_timeout_ends_silence_but_not_a_drip(messages: MessagesServer) -> None:
    messages.reply(scripted.hang(), scripted.slow_drip(0.001, scripted.match("a")))
    with pytest.raises(anthropic.APITimeoutError):
        ask(messages, timeout=0.2)
    before = time.monotonic()
    assert decision(ask(messages, timeout=0.2))["recipe"] == "a"
    assert time.monotonic() - before > 0.3


def test_hang_ends_by_itself_in_its_time(messages: MessagesServer) -> None:
    messages.reply(scripted.hang(0.1))
    with pytest.raises(anthropic.APIConnectionError):
        ask(messages)


@pytest.mark.parametrize(
    "endless",
    [scripted.hang(), scripted.slow_drip(60), scripted.delay(60, scripted.none())],
    ids=["hang", "slow_drip", "delay"],
)
def test_closing_ends_every_connection(endless: Behaviour) -> None:
    with ThreadPoolExecutor() as pool:
        with MessagesServer() as server:
            server.reply(endless)
            question = pool.submit(ask, server, timeout=30)
            idle = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))
            server.wait_for(1)
            before = time.monotonic()
        assert time.monotonic() - before < 2
        idle.close()
        with pytest.raises(anthropic.APIConnectionError):
            question.result(timeout=5)


def test_peak_counts_requests_under_way(messages: MessagesServer) -> None:
    for _ in range(5):
        ask(messages)
    assert messages.peak == 1
    together = threading.Barrier(4, timeout=10)

    def script(body: Any) -> Behaviour:
        together.wait()
        return scripted.none()

    messages.reply(scripted.answer(script))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, [messages] * 4))
    assert messages.peak == 4


def test_an_untrusted_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    with MessagesServer(tls=True) as server:
        with pytest.raises(anthropic.APIConnectionError) as caught:
            ask(server)
        assert "self-signed certificate" in str(caught.value.__cause__)
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        assert decision(ask(server))["decision"] == "NONE"


@pytest.mark.parametrize(
    ("extra", "error"),
    [
        ({"extra_headers": {"authorization": anthropic.Omit()}}, anthropic.AuthenticationError),
        ({"extra_body": {"max_tokens": None}}, anthropic.BadRequestError),
        ({"extra_body": {"messages": []}}, anthropic.BadRequestError),
    ],
    ids=["no-key", "no-limit", "no-messages"],
)
def test_what_the_real_api_refuses_is_refused(
    messages: MessagesServer, extra: dict[str, Any], error: type[Exception]
) -> None:
    messages.reply(scripted.match("never served"))
    with pytest.raises(error):
        ask(messages, **extra)


def test_a_wrong_base_url_is_not_found(messages: MessagesServer) -> None:
    with pytest.raises(anthropic.NotFoundError):
        ask(f"{messages.url}/v1")
