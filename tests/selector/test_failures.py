"""Whatever becomes of the model call, it ends as NONE with a reason of its own (process-delegate, section 6).

A real command asks a real server that misbehaves, in an environment that does.
"""

import json
import os
import signal
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import Behaviour, Exchange, MessagesServer, Request
from tests.workspace import REPOSITORY, Result, Workspace

KEY = "sk-test-SECRET-0123456789"
TASK = "look over my branch"
DEADLINE = 5.0
STARTING = 10.0
"""What importing the SDK may take on a busy machine."""

Env = Mapping[str, str | None]


@pytest.fixture
def asking(ws: Workspace, messages: MessagesServer) -> Workspace:
    """A workspace whose runs ask the server, with a key that must never be seen again."""
    ws.recipe("P/recipes/review.yaml", "Review a branch.")
    ws.model(messages)
    ws.env |= {"ANTHROPIC_API_KEY": KEY, "VANCECTL_DEBUG": "1"}
    return ws


def ask(ws: Workspace, *args: str, env: Env | None = None, timeout: float = DEADLINE) -> Result:
    started = time.monotonic()
    result = ws.run("select", "--json", "-v", "--set", f"selector.timeout={timeout}", *args, TASK, env=env)
    assert time.monotonic() - started < timeout + STARTING
    assert "SECRET" not in result.stdout + result.stderr, str(result)
    assert "Traceback" not in result.stderr, str(result)
    return result


def unanswered(result: Result) -> dict[str, Any]:
    """The decision of a run with `--strict` whose model could not be used."""
    decision: dict[str, Any] = result.expect(4).json
    assert (decision["decision"], decision["recipe"], decision["engine"]) == ("NONE", None, None)
    return decision


# Row by row: exactly these rationales.


def test_empty_task(asking: Workspace, messages: MessagesServer) -> None:
    decision = asking.run("select", "").expect(0).json
    assert (decision["rationale"], decision["stage"]) == ("empty task description", "none")
    assert messages.requests == []


def test_no_recipes(asking: Workspace, messages: MessagesServer) -> None:
    (asking.root / "nothing").mkdir()
    decision = asking.run("select", TASK, "--recipes", asking.root / "nothing").expect(0).json
    assert decision["rationale"].startswith("no recipes available")
    assert (decision["reason"], messages.requests) == ("no-recipes", [])


def test_the_call_fails(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.status(401, message="invalid x-api-key"))
    assert ask(asking).expect(0).json["rationale"] == (
        "LLM call failed: the key was refused; check ANTHROPIC_API_KEY (status 401: invalid x-api-key)"
    )


def test_an_empty_reply(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.text(""))
    decision = ask(asking).expect(0).json
    assert (decision["rationale"], decision["reason"]) == ("LLM reply has no JSON object", "empty-reply")


def test_a_reply_without_json(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.text("I would take review."))
    decision = ask(asking).expect(0).json
    assert (decision["rationale"], decision["reason"]) == ("LLM reply has no JSON object", "no-json")


def test_malformed_json(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.text('{"decision": "MATCH", "recipe": "rev'))
    decision = ask(asking).expect(0).json
    assert decision["rationale"] == "JSON parse error: Unterminated string starting at"
    assert decision["reason"] == "bad-json"


def test_a_hallucinated_recipe(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.match("pr-reviewer-pro"))
    decision = ask(asking).expect(0).json
    assert decision["rationale"] == "unknown recipe 'pr-reviewer-pro' — not in inventory"
    assert decision["reason"] == "unknown-recipe"


def test_the_model_says_none(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.none("No recipe is about branches."))
    decision = ask(asking, "--strict").expect(0).json
    assert (decision["decision"], decision["rationale"]) == ("NONE", "No recipe is about branches.")
    assert (decision["stage"], decision["reason"]) == ("model", "model-none")


# What the server does. One command is given a task for each row, and the server treats each task in its own way.


@dataclass(frozen=True)
class Answered:
    """The decisions of one run, and how often the server was asked for each, by the rows' names."""

    url: str
    decisions: Mapping[str, dict[str, Any]]
    requests: Mapping[str, Sequence[Request]]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answered]:
    rows = {name: [row[0]] for name, row in (ANSWERED_BADLY | UNUSABLE_REPLIES).items()}
    rows |= {name: [*row[0], scripted.match("review")] for name, row in PASSING.items()}
    rows |= {name: [scripted.raw(json.dumps(MESSAGE | message).encode())] for name, message in ODD_MESSAGES.items()}
    left = {name: deque(behaviours) for name, behaviours in rows.items()}

    def treat(exchange: Exchange) -> None:
        behaviours = left[row_of(exchange.request)]
        (behaviours.popleft() if len(behaviours) > 1 else behaviours[0]).act(exchange)

    workspace = Workspace(tmp_path_factory.mktemp("answered"))
    with MessagesServer() as server:
        workspace.recipe("P/recipes/review.yaml", "Review a branch.")
        workspace.model(server)
        server.reply(Behaviour(treat))
        tasks = "".join(json.dumps({"id": name, "task": f"row {name}"}) + "\n" for name in rows)
        # One at a time: several would share the pauses that the server asks for.
        options = ("-v", "--strict", "--jobs", "1", "--set", f"selector.timeout={DEADLINE}")
        env = {"ANTHROPIC_API_KEY": KEY, "VANCECTL_DEBUG": "1"}
        result = workspace.run("batch", "-", *options, stdin=tasks, env=env, timeout=240).expect(4)
        assert "SECRET" not in result.stdout + result.stderr
        assert result.stderr == ""
        requests: dict[str, list[Request]] = {name: [] for name in rows}
        for request in server.requests:
            requests[row_of(request)].append(request)
        yield Answered(server.url, {decision.pop("id"): decision for decision in result.jsonl}, requests)
    workspace.close()


def row_of(request: Request) -> str:
    question = request.body["messages"][0]["content"][-1]["text"]
    return str(question.partition('"row ')[2].partition('"')[0])


NO_MESSAGE = "{url} did not answer with a message (application/json); check ANTHROPIC_BASE_URL"
BROKEN_OFF = "{url} broke the connection off; check the network and ANTHROPIC_BASE_URL"
NO_MODEL_THERE = (
    "the server knows no model `claude-haiku-5-5`, or {url} is no Messages server; check ANTHROPIC_BASE_URL, --model, "
    "VANCECTL_MODEL, "
    "selector.model and the recipe `recipe-selector` (status 404: model: claude-haiku-5-5)"
)
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "pick", "input": {"recipe": "review"}}

ANSWERED_BADLY = {
    "402": (scripted.status(402), "permission", 1, "the account cannot pay for the call (status 402: scripted error)"),
    "403": (scripted.status(403), "permission", 1,
            "the key may not use this model or server (status 403: scripted error)"),
    "404": (scripted.status(404, message="model: claude-haiku-5-5"), "not-found", 1, NO_MODEL_THERE),
    "407": (scripted.status(407), "proxy", 1,
            "the proxy wants a name and a password; put them into its address (status 407: scripted error)"),
    "408": (scripted.status(408), "timeout", 3, "the server gave up waiting (status 408: scripted error)"),
    "413": (scripted.status(413), "too-large", 1, "the prompt is too large; lower routing.recipeListLimit or shorten "
            "the task (status 413: scripted error)"),
    "418": (scripted.status(418), "bad-request", 1, "the call failed (status 418: scripted error)"),
    "401": (scripted.status(401), "authentication", 1,
            "the key was refused; check ANTHROPIC_API_KEY (status 401: scripted error)"),
    "429": (scripted.status(429), "rate-limited", 3, "too many requests; wait and try again "
            "(status 429: scripted error)"),
    "429-for-a-minute": (scripted.status(429, headers={"retry-after": "60"}), "rate-limited", 1,
                         "too many requests; wait and try again (status 429: scripted error)"),
    "500": (scripted.status(500), "server-error", 3, "the server failed; try again later (status 500: scripted error)"),
    "504": (scripted.status(504), "timeout", 3, "a gateway gave up waiting (status 504: scripted error)"),
    "529": (scripted.status(529), "overloaded", 3, "the server is overloaded; try again later "
            "(status 529: scripted error)"),
    "999": (scripted.status(999), "server-error", 1, "the server failed; try again later (status 999: scripted error)"),
    "the-key-said-back": (scripted.status(401, message=f"no such key: {KEY}\x1b[31m"), "authentication", 1,
                          "the key was refused; check ANTHROPIC_API_KEY (status 401: no such key: *** [31m)"),
    "error-page": (scripted.raw(b"<h1>502</h1>", 502, {"content-type": "text/html"}), "server-error", 3,
                   "the server failed; try again later (status 502)"),
    "redirect-loop": (scripted.redirect_loop(), "base-url", 1, "{url} redirects elsewhere, but no key is sent there; "
                      "set ANTHROPIC_BASE_URL to its target (status 307)"),
    "html": (scripted.html_200(), "not-a-message", 1,
             "{url} did not answer with a message (text/html); check ANTHROPIC_BASE_URL"),
    "204": (scripted.no_content_204(), "empty-reply", 1, "{url} answered with nothing (status 204)"),
    "empty-body": (scripted.empty_body_200(), "not-a-message", 1, NO_MESSAGE),
    "not-json": (scripted.not_json_200(), "not-a-message", 1, NO_MESSAGE),
    "wrong-shape": (scripted.wrong_shape_200(), "not-a-message", 1, NO_MESSAGE),
    "error-with-status-200": (scripted.raw(b'{"type": "error", "error": {}}'), "not-a-message", 1, NO_MESSAGE),
    "list": (scripted.json_list_200(), "not-a-message", 1, NO_MESSAGE),
    "content-of-texts": (scripted.raw(b'{"content": ["MATCH"], "usage": {}}'), "not-a-message", 1, NO_MESSAGE),
    "nested-for-ever": (scripted.raw(b'{"content":' + b"[" * 100_000), "not-a-message", 1, NO_MESSAGE),
    "not-utf-8": (scripted.bad_encoding(), "not-a-message", 1, NO_MESSAGE),
    "gzip-junk": (scripted.gzip_garbage(), "not-a-message", 1,
                  "{url} answered with something that cannot be read; check ANTHROPIC_BASE_URL"),
    "huge-headers": (scripted.huge_headers(), "connection", 3, BROKEN_OFF),
    "reset-mid-body": (scripted.reset_mid_body(), "connection", 3, BROKEN_OFF),
    "closed-before-the-reply": (scripted.close_before_reply(), "connection", 3, BROKEN_OFF),
    "cut-body": (scripted.truncated_body(), "connection", 3, BROKEN_OFF),
    "cut-chunk": (scripted.chunked_cut(), "connection", 3, BROKEN_OFF),
    "max-tokens": (scripted.stop("max_tokens", '{"decision": "MATCH", "recipe": "review'), "max-tokens", 1,
                   "the reply was cut at max_tokens; raise params.maxTokens of `recipe-selector`"),
    "max-tokens-while-thinking": (
        scripted.content([{"type": "thinking", "thinking": "", "signature": "s"}], stop_reason="max_tokens"),
        "max-tokens", 1, "the reply was cut at max_tokens; raise params.maxTokens of `recipe-selector`"),
    "context-window": (scripted.stop("model_context_window_exceeded"), "too-large", 1,
                       "the prompt fills the model; lower routing.recipeListLimit"),
    "refusal": (scripted.refusal(), "refusal", 1, "the model refused to answer"),
    "tool-call": (scripted.content([TOOL_USE], stop_reason="tool_use"), "tool-call", 1,
                  "the model called a tool instead of answering"),
    "tool-call-that-says-end": (scripted.content([TOOL_USE]), "tool-call", 1,
                                "the model called a tool instead of answering"),
}  # fmt: skip


@pytest.mark.parametrize("row", ANSWERED_BADLY)
def test_the_server_misbehaves(answered: Answered, row: str) -> None:
    _, reason, attempts, why = ANSWERED_BADLY[row]
    why = why.replace("{url}", answered.url)
    decision = answered.decisions[row]
    assert (decision["decision"], decision["recipe"], decision["engine"]) == ("NONE", None, None)
    assert (decision["stage"], decision["reason"]) == ("model", reason)
    assert decision["rationale"] == f"LLM call failed: {why}"
    assert (decision["model"]["attempts"], decision["model"]["error"]) == (attempts, why)
    assert len(answered.requests[row]) == attempts
    assert decision["model"]["latencyMs"] < DEADLINE * 1000


UNUSABLE_REPLIES = {
    "no-content": (scripted.content([]), "empty-reply"),
    "thinking-only": (scripted.content([{"type": "thinking", "thinking": "", "signature": "s"}]), "empty-reply"),
    "unknown-block-only": (scripted.content([{"type": "not_invented_yet", "text": "{}"}]), "empty-reply"),
    "text-block-without-text": (scripted.content([{"type": "text"}]), "empty-reply"),
    "text-block-with-a-number": (scripted.content([{"type": "text", "text": 5}]), "empty-reply"),
    "conflicting": (scripted.text('{"decision": "NONE"} {"decision": "MATCH", "recipe": "review"}'),
                    "conflicting-answers"),
    "no-decision": (scripted.text('{"answer": "review"}'), "bad-answer"),
    "match-of-null": (scripted.match(None), "bad-answer"),
    "lone-surrogate": (scripted.text("no JSON: \ud800"), "no-json"),
    "a-megabyte-of-braces": (scripted.text("{" * 1_000_000), "bad-json"),
}  # fmt: skip


@pytest.mark.parametrize("row", UNUSABLE_REPLIES)
def test_a_reply_that_is_no_answer_is_asked_for_once_more(answered: Answered, row: str) -> None:
    _, reason = UNUSABLE_REPLIES[row]
    decision = answered.decisions[row]
    assert (decision["decision"], decision["reason"], decision["model"]["attempts"]) == ("NONE", reason, 2)
    first, second = answered.requests[row]
    assert len(second.raw) < len(first.raw) + 5_000


PASSING = {
    "overloaded-twice": ([scripted.status(529), scripted.status(529)], 3),
    "asked-to-wait": ([scripted.status(429, headers={"retry-after": "0.1"})], 2),
    "asked-to-wait-in-ms": ([scripted.status(429, headers={"retry-after-ms": "50"})], 2),
    "asked-to-wait-for-no-number": ([scripted.status(429, headers={"retry-after": "nan"})], 2),
    "asked-to-wait-until-a-date": ([scripted.status(503, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})], 2),
    "broken-off-twice": ([scripted.reset_mid_body(), scripted.close_before_reply()], 3),
    "malformed": ([scripted.text('{"decision": ')], 2),
    "empty": ([scripted.content([])], 2),
    "hallucinated": ([scripted.match("reviewer")], 2),
    "all-at-once": ([scripted.status(529), scripted.text("hm"), scripted.status(500)], 4),
}


@pytest.mark.parametrize("row", PASSING)
def test_what_passes_is_tried_again(answered: Answered, row: str) -> None:
    _, attempts = PASSING[row]
    decision = answered.decisions[row]
    assert (decision["decision"], decision["recipe"], decision["reason"]) == ("MATCH", "review", "model-match")
    assert (decision["model"]["attempts"], decision["model"]["error"]) == (attempts, None)
    assert len(answered.requests[row]) == attempts


MESSAGE = {"content": [{"type": "text", "text": '{"decision": "MATCH", "recipe": "review"}'}]}

ODD_MESSAGES: dict[str, dict[str, object]] = {
    "content-alone": {},
    "usage-of-null": {"usage": None},
    "usage-that-is-no-number": {"usage": {"input_tokens": "many", "output_tokens": [1]}},
    "nulls": {"model": None, "id": None, "role": None, "type": None},
    "stop-reason-of-null": {"stop_reason": None},
    "stop-reason-of-another-kind": {"stop_reason": {"a": 1}},
    "text-between-other-blocks": {
        "content": [
            {"type": "thinking", "thinking": '{"decision": "NONE"}', "signature": "s"},
            {"type": "text", "text": '{"decision": "MATCH", '},
            {"type": "not_invented_yet", "text": "}"},
            {"type": "text", "text": '"recipe": "review"}'},
        ]
    },
}


@pytest.mark.parametrize("row", ODD_MESSAGES)
def test_a_gateway_may_leave_out_what_is_not_needed(answered: Answered, row: str) -> None:
    decision = answered.decisions[row]
    assert (decision["decision"], decision["recipe"]) == ("MATCH", "review")
    assert (decision["model"]["inputTokens"], decision["model"]["cacheReadTokens"]) == (None, None)


# What takes the command's time, and what it remembers.


@pytest.mark.parametrize("code", [400, 422])
def test_a_refused_request_is_sent_once_without_the_schema(
    asking: Workspace, messages: MessagesServer, code: int
) -> None:
    messages.reply(scripted.status(code, message="max_tokens: too many"))
    decision = unanswered(ask(asking, "--strict"))
    assert decision["rationale"] == f"LLM call failed: the request was refused (status {code}: max_tokens: too many)"
    assert (decision["reason"], decision["model"]["attempts"]) == ("bad-request", 2)
    assert ["output_config" in request.body for request in messages.requests] == [True, False]


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(scripted.hang(), id="hang"),
        pytest.param(scripted.slow_drip(0.05), id="slow-drip"),
        pytest.param(scripted.delay(0.7, scripted.status(529)), id="slow-failures"),
        pytest.param(scripted.delay(1.1, scripted.text("no JSON")), id="slow-junk"),
    ],
)
def test_the_deadline_holds_over_all_attempts(
    asking: Workspace, messages: MessagesServer, behaviour: Behaviour
) -> None:
    messages.reply(behaviour)
    decision = unanswered(ask(asking, "--strict", timeout=2))
    assert decision["model"]["latencyMs"] < 3_000
    assert decision["reason"] in {"timeout", "overloaded"}


def test_a_time_out_says_what_to_raise(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.hang())
    decision = ask(asking, timeout=1).expect(0).json
    assert decision["rationale"] == (
        f"LLM call failed: no reply from {messages.url} in time; raise selector.timeout or try again"
    )


def test_an_interrupt_ends_the_waiting(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.hang())
    process = asking.start("select", TASK)
    messages.wait_for(1)
    os.killpg(process.pid, signal.SIGINT)
    result = asking.finish(process, timeout=10).expect(130)
    assert (result.stdout, result.stderr) == ("", "")


def test_the_key_goes_nowhere_but_to_the_server(asking: Workspace, messages: MessagesServer) -> None:
    with MessagesServer() as elsewhere:
        messages.reply(scripted.raw(b"", 308, {"location": f"{elsewhere.url}/v1/messages"}))
        decision = unanswered(ask(asking, "--strict"))
        assert elsewhere.requests == []
    assert decision["reason"] == "base-url"


# What the environment does. `{url}` stands for the server, `{gone}` for an address where nothing listens.

GONE = scripted.refused()
UNSEEN = "a blank or a character that is not seen"
NO_ADDRESS = "ANTHROPIC_BASE_URL is no address; it must begin with https:// or http:// and name a host"

BAD_SURROUNDINGS: dict[str, tuple[Env, str, str]] = {
    "connection-refused": ({"ANTHROPIC_BASE_URL": GONE}, "connection",
                           f"LLM call failed: {GONE} could not be reached; check the network and ANTHROPIC_BASE_URL"),
    "refused-beside-no-proxy": (
        {"ANTHROPIC_BASE_URL": GONE, "NO_PROXY": "localhost", "HTTPS_PROXY": "http://127.0.0.1:9"}, "connection",
        f"LLM call failed: {GONE} could not be reached; check the network and ANTHROPIC_BASE_URL"),
    "proxy-refuses": ({"HTTP_PROXY": GONE.replace("//", "//user:SECRET@")}, "connection",
                      "LLM call failed: {url} could not be reached (through the proxy in HTTP_PROXY); check the "
                      "network and ANTHROPIC_BASE_URL"),
    "proxy-without-connect": ({"HTTPS_PROXY": "{url}", "ANTHROPIC_BASE_URL": "https://api.invalid"}, "proxy",
                              "LLM call failed: the proxy settings cannot be used; check HTTPS_PROXY"),
    "proxy-of-another-kind": ({"HTTP_PROXY": "ftp://127.0.0.1:9"}, "proxy",
                              "the proxy settings cannot be used; check HTTP_PROXY"),
    "proxy-that-is-no-address": ({"HTTP_PROXY": "::::"}, "proxy",
                                 "the proxy settings cannot be used; check HTTP_PROXY"),
    "socks-proxy": ({"ALL_PROXY": "socks5://user:SECRET@127.0.0.1:9"}, "proxy",
                    "ALL_PROXY names a SOCKS proxy, which needs a package: pip install 'httpx2[socks]'"),
    "brackets-in-no-proxy": ({"NO_PROXY": "localhost,fd07:b51a::/64,[::1]"}, "proxy",
                             "the proxy settings cannot be used; check NO_PROXY"),
    "certificate-file-missing": ({"SSL_CERT_FILE": "/nowhere/ca.pem"}, "tls",
                                 "SSL_CERT_FILE names /nowhere/ca.pem, which is not there; correct or unset it"),
    "certificate-folder-missing": ({"SSL_CERT_DIR": "/nowhere/a:/nowhere/b"}, "tls",
                                   "SSL_CERT_DIR names /nowhere/a:/nowhere/b, which is not there; correct or unset it"),
    "certificate-file-empty": ({"SSL_CERT_FILE": "/dev/null"}, "tls", "SSL_CERT_FILE names /dev/null, which holds no "
                               "usable certificates; correct or unset it"),
    "certificate-file-is-a-folder": ({"SSL_CERT_FILE": "/dev"}, "tls", "SSL_CERT_FILE names /dev, which holds no "
                                     "usable certificates; correct or unset it"),
    "url-without-scheme": ({"ANTHROPIC_BASE_URL": "localhost:8080"}, "base-url", NO_ADDRESS),
    "url-of-another-kind": ({"ANTHROPIC_BASE_URL": "ftp://127.0.0.1"}, "base-url", NO_ADDRESS),
    "url-without-host": ({"ANTHROPIC_BASE_URL": "https://"}, "base-url", NO_ADDRESS),
    "url-with-a-bad-port": ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:99999"}, "base-url", NO_ADDRESS),
    "url-with-half-a-bracket": ({"ANTHROPIC_BASE_URL": "http://[::1"}, "base-url", NO_ADDRESS),
    "url-with-a-control-character": ({"ANTHROPIC_BASE_URL": "http://a\x01b"}, "base-url",
                                     f"ANTHROPIC_BASE_URL holds {UNSEEN}; leave it out"),
    "url-with-a-blank": ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/a b"}, "base-url",
                         f"ANTHROPIC_BASE_URL holds {UNSEEN}; leave it out"),
    "url-with-a-blank-in-the-host": ({"ANTHROPIC_BASE_URL": "http://exa mple"}, "base-url",
                                     f"ANTHROPIC_BASE_URL holds {UNSEEN}; leave it out"),
    "url-with-a-zero-width-space": ({"ANTHROPIC_BASE_URL": "http://127.0.0.1\u200b:9"}, "base-url",
                                    f"ANTHROPIC_BASE_URL holds {UNSEEN}; leave it out"),
    "url-with-a-query": ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/api?key=SECRET"}, "base-url",
                         "ANTHROPIC_BASE_URL holds a query (`?…`); leave it out"),
    "url-with-a-fragment": ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/#SECRET"}, "base-url",
                            "ANTHROPIC_BASE_URL holds a fragment (`#…`); leave it out"),
    "url-with-a-host-that-is-none": ({"ANTHROPIC_BASE_URL": "http://a..b"}, "base-url", NO_ADDRESS),
    "url-with-one-slash": ({"ANTHROPIC_BASE_URL": "http:/127.0.0.1:9"}, "base-url", NO_ADDRESS),
    "key-missing": ({"ANTHROPIC_API_KEY": None}, "no-key",
                    "no model to ask: set ANTHROPIC_API_KEY, or selector.backend to `command` with a selector.command"),
    "key-empty": ({"ANTHROPIC_API_KEY": ""}, "no-key",
                  "no model to ask: set ANTHROPIC_API_KEY, or selector.backend to `command` with a selector.command"),
    "key-blank": ({"ANTHROPIC_API_KEY": " \r\n"}, "no-key",
                  "no model to ask: set ANTHROPIC_API_KEY, or selector.backend to `command` with a selector.command"),
    "key-with-a-line-break-inside": ({"ANTHROPIC_API_KEY": "sk-test\nSECRET"}, "authentication",
                                     "ANTHROPIC_API_KEY holds a character that no key has; paste it again"),
    "key-with-an-accent": ({"ANTHROPIC_API_KEY": "sk-tést-SECRET"}, "authentication",
                           "ANTHROPIC_API_KEY holds a character that no key has; paste it again"),
    "key-that-is-not-utf-8": ({"ANTHROPIC_API_KEY": "sk-\udcff-SECRET"}, "authentication",
                              "ANTHROPIC_API_KEY holds a character that no key has; paste it again"),
    "token-with-a-blank-inside": ({"ANTHROPIC_API_KEY": None, "ANTHROPIC_AUTH_TOKEN": "a SECRET"}, "authentication",
                                  "ANTHROPIC_AUTH_TOKEN holds a character that no key has; paste it again"),
    "header-that-is-none": ({"ANTHROPIC_CUSTOM_HEADERS": "bad header: SECRET"}, "authentication",
                            "LLM call failed: a header cannot be sent; check ANTHROPIC_API_KEY and "
                            "ANTHROPIC_CUSTOM_HEADERS"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("env", "reason", "rationale"), [pytest.param(*row, id=name) for name, row in BAD_SURROUNDINGS.items()]
)
def test_the_surroundings_are_at_fault(
    asking: Workspace, messages: MessagesServer, env: Env, reason: str, rationale: str
) -> None:
    env = {name: value and value.replace("{url}", messages.url) for name, value in env.items()}
    decision = unanswered(ask(asking, "--strict", env=env))
    said, _, nearest = decision["rationale"].partition("; nearest recipes: ")
    assert (decision["reason"], said) == (reason, rationale.replace("{url}", messages.url))
    assert (decision["stage"], bool(nearest)) == (("model", False) if decision["model"] else ("none", True))
    assert messages.requests == []


def test_an_untrusted_certificate(asking: Workspace) -> None:
    with MessagesServer(tls=True) as server:
        decision = unanswered(ask(asking, "--strict", env={"ANTHROPIC_BASE_URL": server.url}))
        assert decision["rationale"] == (
            f"LLM call failed: the certificate of {server.url} cannot be verified; where a proxy inspects the traffic, "
            "name its certificate in SSL_CERT_FILE"
        )
        assert (decision["reason"], decision["model"]["attempts"]) == ("tls", 1)
        server.reply(scripted.match("review"))
        trusting = {"ANTHROPIC_BASE_URL": server.url, "SSL_CERT_FILE": str(server.certificate)}
        assert ask(asking, env=trusting).expect(0).json["decision"] == "MATCH"


def test_https_where_http_is_meant(asking: Workspace, messages: MessagesServer) -> None:
    url = messages.url.replace("http:", "https:")
    decision = unanswered(ask(asking, "--strict", env={"ANTHROPIC_BASE_URL": url}))
    assert decision["rationale"] == (
        f"LLM call failed: {url} does not speak TLS as expected; check whether ANTHROPIC_BASE_URL means http://"
    )
    assert decision["reason"] == "tls"


def test_no_strict_no_failure(asking: Workspace, messages: MessagesServer) -> None:
    messages.reply(scripted.status(403))
    assert ask(asking).expect(0).json["reason"] == "permission"
    assert ask(asking, "--exit-code").expect(1).json["reason"] == "permission"
    assert ask(asking, "--exit-code", "--strict").expect(4).json["reason"] == "permission"


# What still works.


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"ANTHROPIC_BASE_URL": "{url}/v1"}, id="url-with-v1"),
        pytest.param({"ANTHROPIC_BASE_URL": " {url}/v1/messages/ "}, id="url-of-the-endpoint"),
        pytest.param({"SSL_CERT_DIR": "/nowhere:/dev"}, id="one-certificate-folder-of-two"),
        pytest.param({"HTTPS_PROXY": GONE, "ANTHROPIC_BASE_URL": "{url}"}, id="proxy-for-another-scheme"),
        pytest.param({"HTTP_PROXY": GONE, "NO_PROXY": "127.0.0.1"}, id="host-excepted-from-the-proxy"),
        pytest.param({"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_LOG": "info"}, id="sdk-log"),
    ],
)
def test_surroundings_that_do(asking: Workspace, messages: MessagesServer, env: Env) -> None:
    messages.reply(scripted.match("review"))
    env = {name: value and value.replace("{url}", messages.url) for name, value in env.items()}
    decision = ask(asking, env=env).expect(0).json
    assert (decision["decision"], decision["recipe"]) == ("MATCH", "review")


@pytest.mark.parametrize(
    ("env", "sent"),
    [
        pytest.param({"ANTHROPIC_API_KEY": "sk-a"}, "sk-a", id="key"),
        pytest.param({"ANTHROPIC_API_KEY": " sk-a\r\n"}, "sk-a", id="key-with-a-line-end"),
        pytest.param({"ANTHROPIC_API_KEY": None, "ANTHROPIC_AUTH_TOKEN": "tok"}, "tok", id="token"),
        pytest.param({"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "tok"}, "tok", id="token-beside-an-empty-key"),
        pytest.param({"ANTHROPIC_API_KEY": "sk-a", "ANTHROPIC_AUTH_TOKEN": "tok"}, "sk-a", id="key-beside-a-token"),
    ],
)
def test_exactly_one_credential_is_sent(asking: Workspace, messages: MessagesServer, env: Env, sent: str) -> None:
    result = ask(asking, env=env).expect(0)
    (request,) = messages.requests
    credentials = [request.headers[name] for name in ("x-api-key", "authorization") if name in request.headers]
    assert [credential.removeprefix("Bearer ") for credential in credentials] == [sent]
    assert result.stderr == ""


@pytest.mark.parametrize(("most", "attempts"), [(1, 1), (3, 3)])
def test_how_often_a_malformed_reply_is_asked_for_is_a_setting(
    asking: Workspace, messages: MessagesServer, most: int, attempts: int
) -> None:
    asking.settings(selector__maxAttempts=most)
    messages.reply(scripted.text("hm"))
    assert ask(asking).expect(0).json["model"]["attempts"] == attempts


def test_a_server_that_takes_no_schema_is_asked_without_it_from_then_on(
    asking: Workspace, messages: MessagesServer
) -> None:
    refused = scripted.status(400, message="output_config: Extra inputs are not permitted")
    messages.reply(scripted.when_field("output_config", then=refused, otherwise=scripted.match("review")))
    tasks = "".join(json.dumps({"task": task}) + "\n" for task in ("one thing", "another thing"))
    decisions = asking.run("batch", "-", "--jobs", "1", stdin=tasks).expect(0).jsonl
    assert [decision["recipe"] for decision in decisions] == ["review", "review"]
    assert [decision["model"]["attempts"] for decision in decisions] == [2, 1]
    assert ["output_config" in request.body for request in messages.requests] == [True, False, False]


def test_a_trigger_needs_no_working_model(asking: Workspace, messages: MessagesServer, tmp_path: Path) -> None:
    asking.recipe("P/recipes/good.yaml", triggers=["my branch"])
    env = {"ALL_PROXY": "socks5://127.0.0.1:9", "SSL_CERT_FILE": str(tmp_path / "gone"), "ANTHROPIC_BASE_URL": "junk"}
    decision = ask(asking, "--strict", env=env).expect(0).json
    assert (decision["recipe"], decision["stage"], messages.requests) == ("good", "trigger", [])


# What a gateway answers under the status of success, and how its address may be written.

ERRORS_200 = {
    "overloaded": ({"type": "error", "error": {"type": "overloaded_error", "message": "Too busy"}}, "overloaded", 3,
                   "the server is overloaded; try again later (status 529: Too busy)"),
    "rate-limited": ({"error": {"code": 429, "message": "Slow down"}}, "rate-limited", 3, ": Slow down)"),
    "authentication": ({"error": {"type": "authentication_error", "message": "Bad key"}}, "authentication", 1,
                       ": Bad key)"),
    "unnamed": ({"error": {"message": "Quota used up"}}, "not-a-message", 1, "(status 200: Quota used up)"),
    "bare-text": ({"error": "Quota used up"}, "not-a-message", 1, "(status 200: Quota used up)"),
    "name-alone": ({"error": {"type": "strange_error"}}, "not-a-message", 1, "(status 200: strange_error)"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS_200)
def test_an_error_under_the_status_of_success(asking: Workspace, messages: MessagesServer, case: str) -> None:
    body, reason, calls, told = ERRORS_200[case]
    messages.reply(scripted.raw(json.dumps(body).encode()))
    decision = unanswered(ask(asking, "--strict"))
    assert (decision["reason"], len(messages.requests)) == (reason, calls)
    assert told in decision["rationale"]


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/V1", "/v1/messages", "//v1//messages//"])
def test_ways_to_write_the_server_s_address(asking: Workspace, messages: MessagesServer, end: str) -> None:
    messages.reply(scripted.match("python"))
    decision = asking.run("select", TASK, env={"ANTHROPIC_BASE_URL": messages.url + end}).expect().json
    assert decision["reason"] != "not-found"
    assert messages.requests[0].path == "/v1/messages"


def test_a_path_that_leads_to_no_server_is_shown(asking: Workspace, messages: MessagesServer) -> None:
    address = messages.url.replace("//", "//someone:SECRET99@") + "/api/v2"
    decision = asking.run("select", TASK, env={"ANTHROPIC_BASE_URL": address}).expect().json
    assert f"{messages.url}/api/v2 is no Messages server; check ANTHROPIC_BASE_URL" in decision["rationale"]
    assert "SECRET99" not in decision["rationale"]


def test_a_temperature_that_is_not_sent_is_said(asking: Workspace, messages: MessagesServer) -> None:
    bundled = (REPOSITORY / "defaults" / "recipes" / "recipe-selector.yaml").read_text(encoding="utf-8")
    asking.write("T/recipes/recipe-selector.yaml", bundled.replace("params:\n", "params:\n  temperature: 0.0\n"))
    messages.reply(scripted.match("python"))
    warnings = ask(asking).expect(0).json["warnings"]
    assert any("params.temperature of `recipe-selector`" in each and "no effect" in each for each in warnings)
