"""The chat process of a session: one, whoever asks, however often and at once."""

from __future__ import annotations

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import Workspace


def settings(ws: Workspace, **more: object) -> None:
    ws.settings({"spawn.command": ["sh", "-c", "echo x >>runs; sleep 1"], "spawn.stdin": "none", **more})


@pytest.mark.parametrize(
    ("hub", "setting", "engine"),
    [
        (False, None, "arthur"), (True, None, "eddie"), (False, "ford", "ford"), (True, "ford", "eddie"),
        (False, " ", "arthur"), (False, "vogon", "vogon"),
    ],
)  # fmt: skip
def test_whose_chat_it_is(ws: Workspace, hub: bool, setting: str | None, engine: str) -> None:
    settings(ws, **{"session.defaultChatEngine": setting} if setting else {})
    ws.write("P/project.yaml", f"hub: {str(hub).lower()}\n")
    answer = ws.run("chat").expect().json
    assert (answer["recipe"], answer["process"]["engine"], answer["process"]["name"]) == (engine, engine, "chat")
    assert answer["process"]["status"] == "RUNNING"


def test_one_for_each_session(ws: Workspace) -> None:
    settings(ws)
    first = ws.run("chat").expect().json["process"]
    again = ws.run("chat").expect().json["process"]
    other = ws.run("chat", "--session", "s").expect().json["process"]
    assert (again["status"], again["id"]) == ("already_exists", first["id"])
    assert other["id"] != first["id"]


def test_a_message_that_cannot_be_sent_is_no_success(ws: Workspace) -> None:
    settings(ws)
    ws.run("chat", "hello").expect()
    refused = ws.run("chat", "and what else?").expect(2)
    assert "nothing was sent" in refused.stderr
    assert refused.stdout == ""


def test_a_chat_that_has_ended_is_begun_anew(ws: Workspace) -> None:
    ws.settings({"spawn.command": ["echo", "{task}"], "spawn.stdin": "none"})
    first = ws.run("chat", "--wait", "hello").expect().json["process"]
    second = ws.run("chat", "--wait", "and what else?").expect().json["process"]
    assert (first["reply"], second["reply"]) == ("hello\n", "and what else?\n")
    rows = ws.run("processes", "list").expect().json
    assert [row["name"] for row in rows] == [f"chat-{first['id'][:6]}", "chat"]


def test_each_project_has_its_own_chat(ws: Workspace) -> None:
    ws.settings({"spawn.command": ["echo", "{task}"], "spawn.stdin": "none"})
    ws.run("chat", "--wait", "secret of A").expect()
    other = ws.root / "b"
    (other / ".vance").mkdir(parents=True)
    (other / ".vance" / "project.yaml").write_text("hub: true\n")
    answer = ws.run("chat", "--wait", "what about B?", cwd=other).expect().json
    assert (answer["recipe"], answer["process"]["reply"]) == ("eddie", "what about B?\n")


def test_ten_at_once_find_the_same(ws: Workspace) -> None:
    settings(ws)
    running = [ws.start("chat") for _ in range(10)]
    found = [ws.finish(process).expect().json["process"] for process in running]
    assert len({process["id"] for process in found}) == 1
    assert [process["status"] for process in found].count("RUNNING") == 1
    ws.run("processes", "wait", "chat").expect()
    assert ws.path("P/runs").read_text() == "x\n"


def test_an_unknown_engine(ws: Workspace) -> None:
    settings(ws, **{"session.defaultChatEngine": "arthr"})
    failed = ws.run("chat").expect(2)
    assert "did you mean `arthur`?" in failed.stderr


def test_with_the_worker(ws: Workspace, messages: MessagesServer) -> None:
    ws.model(messages)
    messages.reply(scripted.text("Hello."))
    assert ws.run("chat", "--wait", "Hi!").expect().json["process"]["reply"] == "Hello.\n"
    assert messages.requests[0].body["messages"] == [{"role": "user", "content": "Hi!"}]
    shown = ws.run("chat", "--session", "t", "--wait", "Hi!", tty=True).expect().stdout
    assert "arthur" in shown
    assert shown.count("Hello.") == 1
