"""Secrets: what a program gets to see of ours, and what of them can be read in anything that we say or keep."""

from __future__ import annotations

import base64
import json
import os
from urllib.parse import quote

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Workspace
from vancectl.programs import secrets
from vancectl.programs.secrets import PieceScrubber, is_withheld, masked, scrub

KEY = 'sk-ant-"geheim+/ä'
PROXY_WORD = "pa:ss word"
OURS = {
    "ANTHROPIC_API_KEY": KEY,
    "ANTHROPIC_AUTH_TOKEN": "token-0123456789",
    "ANTHROPIC_CUSTOM_HEADERS": "x-api-key: header-0123\nAuthorization: Bearer bearer-0123\nno header",
    "ANTHROPIC_BASE_URL": "http://someone:base-password@127.0.0.1:9",
    "https_proxy": f"http://u:{quote(PROXY_WORD)}@proxy:8080",
    "ALL_PROXY": "socks5://token-as-name@proxy",
    "ANTHROPIC_IDENTITY_TOKEN": "identity-0123",
}


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(secrets, "_remembered", set())


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        pytest.param(f"key {KEY}!", "key ***!", id="as-it-is"),
        pytest.param("token-0123456789", "***", id="token"),
        pytest.param("header-0123, bearer-0123", "***, ***", id="each-header"),
        pytest.param("Bearer bearer-0123", "***", id="whole-header"),
        pytest.param("http://someone:base-password@127.0.0.1:9", "http://someone:***@127.0.0.1:9", id="base-url"),
        pytest.param(f"{PROXY_WORD} {quote(PROXY_WORD)}", "*** ***", id="proxy-as-meant-and-as-written"),
        pytest.param("token-as-name", "***", id="user-without-password"),
        pytest.param("identity-0123", "***", id="federation"),
        pytest.param(json.dumps({"k": KEY}), '{"k": "***"}', id="json"),
        pytest.param(json.dumps({"k": KEY}, ensure_ascii=False), '{"k": "***"}', id="json-utf-8"),
        pytest.param(f"?k={quote(KEY, safe='')}&", "?k=***&", id="url"),
        pytest.param("127.0.0.1:9 and someone at the proxy", "127.0.0.1:9 and someone at the proxy", id="no-secret"),
    ],
)
@pytest.mark.usefixtures("ours")
def test_a_text_is_scrubbed(said: str, shown: str) -> None:
    assert scrub(said) == shown


@pytest.mark.parametrize("before", ["", "u", "us", "use", "user"])
@pytest.mark.usefixtures("ours")
def test_a_text_is_scrubbed_of_base64(before: str) -> None:
    said = base64.b64encode(f"{before}:token-0123456789".encode()).decode()
    assert "***" in scrub(said)
    for length in range(8, len(said)):
        assert said[-length:] not in scrub(said)


@pytest.mark.usefixtures("ours")
def test_a_short_value_is_a_word_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    assert scrub("this is a test") == "this is a test"


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.usefixtures("ours")
def test_output_in_pieces_is_scrubbed(size: int) -> None:
    data = f"at token-0123456789, to token-012 and {KEY}, the end token-".encode()
    scrubber = PieceScrubber()
    shown = b"".join(scrubber.feed(data[start : start + size]) for start in range(0, len(data), size))
    assert (shown + scrubber.feed(b"")).decode() == "at ***, to token-012 and ***, the end token-"


def test_output_in_pieces_is_not_held_back_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-0123456789")
    scrubber = PieceScrubber()
    assert scrubber.feed(b"a line\n") == b"a line\n"
    assert scrubber.feed(b"sk-01") == b""
    assert scrubber.feed(b" is no key") == b"sk-01 is no key"


@pytest.mark.parametrize(
    ("variable", "withheld"),
    [
        ("ANTHROPIC_API_KEY", True),
        ("ANTHROPIC_AUTH_TOKEN", True),
        ("ANTHROPIC_CUSTOM_HEADERS", True),
        ("ANTHROPIC_IDENTITY_TOKEN", True),
        ("ANTHROPIC_WORK_SECRET", True),
        ("ANTHROPIC_FOUNDRY_API_KEY", True),
        ("ANTHROPIC_BASE_URL", False),
        ("ANTHROPIC_IDENTITY_TOKEN_FILE", False),
        ("ANTHROPIC_MODEL", False),
        ("OPENAI_API_KEY", False),
        ("CLAUDE_CODE_OAUTH_TOKEN", False),  # the program's own login
    ],
)
def test_what_is_withheld(variable: str, withheld: bool) -> None:
    assert is_withheld(variable) == withheld


@pytest.mark.parametrize(
    ("variable", "value", "shown"),
    [
        ("OPENAI_API_KEY", "sk-1", "***"),
        ("MY_SECRET_ID", "x", "***"),
        ("GITHUB_TOKEN", "{env.GITHUB_TOKEN}", "{env.GITHUB_TOKEN}"),
        ("GITHUB_TOKEN", None, None),
        ("TOKEN_FILE", "/etc/token", "/etc/token"),
        ("HTTPS_PROXY", "http://u:geheim@proxy", "http://u:***@proxy"),
        ("DEBUG", "1", "1"),
    ],
)
def test_what_is_shown_of_a_variable(variable: str, value: str | None, shown: str | None) -> None:
    assert masked(variable, value) == shown


# End to end.

SECRETS = {
    "ANTHROPIC_API_KEY": "sk-own-0123456789",
    "ANTHROPIC_AUTH_TOKEN": "token-0123456789",
    "ANTHROPIC_CUSTOM_HEADERS": "x-api-key: header-0123456789",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
}
VALUES = ("sk-own-0123456789", "token-0123456789", "header-0123456789")


@pytest.fixture
def shop(ws: Workspace) -> Workspace:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.env |= SECRETS
    return ws


def test_a_started_program_gets_no_credential(shop: Workspace) -> None:
    shop.settings({"spawn.command": ["env"], "spawn.stdin": "none"})
    reply = shop.run("delegate", "fix tests").expect().json["process"]["reply"].splitlines()
    assert [line for line in reply if line.startswith("ANTHROPIC_")] == ["ANTHROPIC_BASE_URL=http://127.0.0.1:9"]


def test_the_program_for_the_end_gets_no_credential(shop: Workspace) -> None:
    shop.settings({"spawn.command": ["true"], "spawn.stdin": "none"})
    told = shop.root / "told"
    shop.program("notifier", f"env > '{told}'")
    shop.run("delegate", "--on-exit", "notifier", "fix tests").expect()
    text = told.read_text()
    assert "PATH=" in text
    assert not any(value in text for value in VALUES)


def test_the_worker_gets_the_headers_too(shop: Workspace, messages: MessagesServer) -> None:
    shop.env["ANTHROPIC_BASE_URL"] = messages.url
    messages.reply(scripted.stream("done"))
    shop.run("delegate", "fix tests").expect()
    assert messages.requests[0].headers["x-api-key"]
    shop.env["ANTHROPIC_CUSTOM_HEADERS"] = "x-gateway: header-0123456789"
    shop.run("delegate", "fix tests").expect()
    assert messages.requests[1].headers["x-gateway"] == "header-0123456789"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("listed", [True, False])
def test_what_the_selector_program_says_is_scrubbed(shop: Workspace, stream: str, listed: bool) -> None:
    env = {name: f"{{env.{name}}}" for name in SECRETS} if listed else {}
    shop.settings({"selector.backend": "command", "selector.command": ["oracle"], "selector.env": env})
    shop.program("oracle", f"env >&{2 if stream == 'stderr' else 1}; echo; exit {1 if stream == 'stderr' else 0}")
    decided = shop.run("select", "look over", "-v")
    log = (shop.state / "log/decisions.jsonl").read_text()
    for text in (decided.stdout, decided.stderr, log):
        assert not any(value in text for value in VALUES)


def test_the_selector_program_gets_what_is_listed(shop: Workspace) -> None:
    shop.settings(
        {
            "selector.backend": "command",
            "selector.command": ["oracle"],
            "selector.env": {"ANTHROPIC_API_KEY": "{env.ANTHROPIC_API_KEY}", "SHELLY": "1", "LANG": None},
        }
    )
    shop.program("oracle", f"env > '{shop.root}/seen'; pwd >> '{shop.root}/seen'; ls -A >> '{shop.root}/seen'; exit 1")
    shop.run("select", "look over", env={"CLAUDECODE": "1"})
    seen = dict(line.partition("=")[::2] for line in (shop.root / "seen").read_text().splitlines())
    assert seen["ANTHROPIC_API_KEY"] == SECRETS["ANTHROPIC_API_KEY"]
    assert seen["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert seen["SHELLY"] == "1"
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDECODE", "LANG"):
        assert name not in seen


def test_the_selector_program_runs_in_a_folder_of_its_own(shop: Workspace) -> None:
    shop.settings({"selector.backend": "command", "selector.command": ["oracle"]})
    shop.program("oracle", f"(pwd; echo $PWD; ls -A) > '{shop.root}/seen'; exit 1")
    shop.run("select", "look over").expect()
    folder, meant, *inside = (shop.root / "seen").read_text().splitlines()
    assert folder == meant
    assert folder.startswith(f"{os.path.realpath(shop.cache)}/")
    assert inside == []
    assert not os.path.exists(folder)


def test_no_path_in_a_task_is_a_file_to_send(shop: Workspace) -> None:
    shop.recipe("P/recipes/mail.yaml", "Write to @/etc/passwd or me@example.org.")
    shop.settings({"selector.backend": "command", "selector.command": ["oracle"]})
    shop.program("oracle", f"cat > '{shop.root}/seen'; exit 1")
    shop.run("select", "is it raining @/etc/hostname").expect()
    text = (shop.root / "seen").read_text()
    assert "@" not in text
    assert "is it raining \\u0040/etc/hostname" in text


def test_a_program_that_misses_a_key_is_told_where_it_is(shop: Workspace) -> None:
    shop.settings({"selector.backend": "command", "selector.command": ["oracle"]})
    shop.program("oracle", "echo 'Not logged in' >&2; exit 1")
    told = shop.run("select", "look over").expect().json["rationale"]
    assert "Not logged in; it was not given ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_CUSTOM_HEADERS" in told
    assert "selector.env" in told


def test_a_secret_of_the_settings_is_scrubbed_too(shop: Workspace) -> None:
    shop.settings(
        {
            "selector.backend": "command",
            "selector.command": ["oracle"],
            "selector.env": {"OPENAI_API_KEY": "sk-of-the-settings"},
        }
    )
    shop.program("oracle", 'echo "bad key: $OPENAI_API_KEY" >&2; exit 1')
    assert "bad key: ***" in shop.run("select", "look over").expect().json["rationale"]
