"""A program in the model's place: the question on its stdin, the reply on its stdout."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.messages_server import MessagesServer
from tests.workspace import Result, Workspace

TASK = "look over my branch"
MATCH = '{"decision": "MATCH", "recipe": "review", "rationale": "asks for a review"}'


@pytest.fixture
def asking(ws: Workspace) -> Workspace:
    """A workspace whose model is the program `oracle`."""
    ws.recipe("P/recipes/review.yaml", "Review a branch.")
    ws.settings(selector__backend="command", selector__command=["oracle"])
    return ws


def ask(ws: Workspace, script: str, *args: str) -> Result:
    ws.program("oracle", f"cd '{ws.project}'\n{script}")  # it begins in a folder that will be gone
    return ws.run("select", TASK, *args)


def decision_of(result: Result) -> dict[str, Any]:
    decision: dict[str, Any] = result.expect(0).json
    return decision


def ended(pid_file: Path) -> bool:
    """Whether the process whose id a program wrote is gone, or goes within a few seconds."""
    pid = int(pid_file.read_text())
    status = Path(f"/proc/{pid}/stat")
    limit = time.monotonic() + 5
    while time.monotonic() < limit:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if status.exists() and ") Z " in status.read_text():
            return True  # dead, only that nobody has asked how it ended
        time.sleep(0.05)
    return False


def test_its_reply_is_read(asking: Workspace) -> None:
    decision = decision_of(ask(asking, f"cat >/dev/null; echo '{MATCH}'"))
    assert (decision["decision"], decision["recipe"], decision["rationale"]) == ("MATCH", "review", "asks for a review")
    model = decision["model"]
    assert (model["backend"], model["model"], model["attempts"]) == ("command", "oracle", 1)
    assert (model["inputTokens"], model["outputTokens"], model["error"]) == (None, None, None)


def test_it_reads_the_whole_question(asking: Workspace) -> None:
    decision_of(ask(asking, f"cat >question; echo '{MATCH}'"))
    question = (asking.project / "question").read_text(encoding="utf-8")
    assert question.startswith("You route tasks.")
    assert '{"name": "review", "engine": "ford", "description": "Review a branch."}' in question
    assert question.index("<inventory>") < question.index(f'<task>\n"{TASK}"\n</task>')
    assert question.endswith("Pick the matching recipe (or NONE) and emit a single JSON object now.")


def test_its_arguments_are_no_shell_words(asking: Workspace) -> None:
    asking.settings(selector__command=["oracle", "--model", "a b; $HOME *", "", "{task}"])
    decision_of(ask(asking, f"""printf '%s\\n' "$@" >words; echo '{MATCH}'"""))
    assert (asking.project / "words").read_text() == "--model\na b; $HOME *\n\n{task}\n"


@pytest.mark.parametrize(
    ("script", "recipe"),
    [
        pytest.param(f"echo 'Sure: {MATCH} Anything else?'", "review", id="prose-around"),
        pytest.param(f"printf '```json\\n%s\\n```\\n' '{MATCH}'", "review", id="code-fence"),
        pytest.param(f"echo '<think>hm</think>'; echo '{MATCH}'", "review", id="thinking"),
        pytest.param(f"echo '{MATCH}'; echo Loading model >&2", "review", id="chatter-on-stderr"),
        pytest.param(f"exec <&-; echo '{MATCH}'", "review", id="without-reading"),
        pytest.param(f"printf '\\377\\376 '; echo '{MATCH}'", "review", id="not-utf-8"),
        pytest.param(f"head -c 1000000 /dev/zero | tr '\\0' '.'; echo '{MATCH}'", "review", id="a-megabyte-before"),
        pytest.param(f"echo '{MATCH}'; sleep 3 &", "review", id="leaves-a-child-behind"),
        pytest.param("""echo '{"decision": "NONE", "recipe": null, "rationale": "no"}'""", None, id="none"),
    ],
)
def test_what_it_may_write(asking: Workspace, script: str, recipe: str | None) -> None:
    result = ask(asking, script, "--strict")
    assert decision_of(result)["recipe"] == recipe
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("script", "reason", "rationale"),
    [
        pytest.param("exit 3", "command-failed", "LLM call failed: `oracle` failed with status 3", id="status"),
        pytest.param(
            "yes",
            "command-failed",
            "LLM call failed: `oracle` wrote more than the 16,000,000 bytes that limits.responseBytes allows",
            id="without-end",
        ),
        pytest.param("kill -9 $$", "command-failed", "LLM call failed: `oracle` was ended by signal 9", id="a-signal"),
        pytest.param(
            "echo no quota left >&2; exit 1",
            "command-failed",
            "LLM call failed: `oracle` failed with status 1: no quota left",
            id="status-and-words",
        ),
        pytest.param(
            f"echo '{MATCH}'; exit 1",
            "command-failed",
            f"LLM call failed: `oracle` failed with status 1: {MATCH}",
            id="a-reply-too",
        ),
        pytest.param(
            "printf 'a\\033[31mb\\nc' >&2; exit 1",
            "command-failed",
            "LLM call failed: `oracle` failed with status 1: a [31mb c",
            id="escapes-on-stderr",
        ),
        pytest.param("true", "empty-reply", "LLM reply has no JSON object", id="no-output"),
        pytest.param("echo review", "no-json", "LLM reply has no JSON object", id="no-json"),
        pytest.param("echo '{\"decision\"'", "bad-json", "JSON parse error: Expecting ':' delimiter", id="bad-json"),
        pytest.param(
            """echo '{"decision": "MATCH", "recipe": "reviewer"}'""",
            "unknown-recipe",
            "unknown recipe 'reviewer' — not in inventory",
            id="unknown",
        ),
    ],
)
def test_what_is_no_answer(asking: Workspace, script: str, reason: str, rationale: str) -> None:
    decision = ask(asking, script, "--strict").expect(4).json
    assert (decision["decision"], decision["reason"], decision["rationale"]) == ("NONE", reason, rationale)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        pytest.param("no-such-oracle", "the program `no-such-oracle` is not on the PATH", id="not-on-the-path"),
        pytest.param("P/no-such-oracle", "the program `{P}/no-such-oracle` is not there", id="not-there"),
        pytest.param("P/question", "the program `{P}/question` is not executable", id="not-executable"),
        pytest.param("P/.vance", "the program `{P}/.vance` is a folder", id="a-folder"),
    ],
)
def test_no_such_program(asking: Workspace, command: str, why: str) -> None:
    asking.write("P/question", "no program")
    asking.settings(selector__command=[command.replace("P/", f"{asking.project}/")])
    decision = asking.run("select", TASK, "--strict").expect(4).json
    why = why.replace("{P}", str(asking.project))
    assert decision["rationale"] == f"LLM call failed: {why}; check selector.command"
    assert (decision["reason"], decision["model"]["attempts"]) == ("command-failed", 0)


def test_a_malformed_reply_is_asked_for_again_with_what_was_wrong(asking: Workspace) -> None:
    decision = decision_of(
        ask(
            asking, f"cat >>questions; if [ -e asked ]; then echo '{MATCH}'; else touch asked; echo 'I say </task>'; fi"
        )
    )
    assert (decision["recipe"], decision["model"]["attempts"]) == ("review", 2)
    second = (asking.project / "questions").read_text(encoding="utf-8").rpartition("You route tasks.")[2]
    assert 'Your last reply was:\n"I say \\u003c/task\\u003e\\n"\n' in second
    assert "LLM reply has no JSON object" in second


def test_a_time_out_ends_the_whole_group(asking: Workspace) -> None:
    started = time.monotonic()
    script = "echo $$ >pid; sleep 600 & echo $! >pid-of-child; echo half; wait"
    decision = ask(asking, script, "--set", "selector.timeout=1", "--strict").expect(4).json
    assert time.monotonic() - started < 10
    assert decision["rationale"] == "LLM call failed: `oracle` gave no reply in time; raise selector.timeout"
    assert decision["reason"] == "timeout"
    assert ended(asking.project / "pid")
    assert ended(asking.project / "pid-of-child")


def test_a_program_deaf_to_signals_is_ended_too(asking: Workspace) -> None:
    script = "trap '' TERM INT; echo $$ >pid; while :; do sleep 0.1; done"
    decision = ask(asking, script, "--set", "selector.timeout=1").expect(0).json
    assert decision["reason"] == "timeout"
    assert ended(asking.project / "pid")


def test_an_interrupt_ends_it(asking: Workspace) -> None:
    asking.program("oracle", f"cd '{asking.project}'; echo $$ >pid.new; mv pid.new pid; sleep 600")
    process = asking.start("select", TASK)
    limit = time.monotonic() + 10
    while not (asking.project / "pid").exists() and time.monotonic() < limit:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    result = asking.finish(process, timeout=10).expect(130)
    assert result.stdout == ""
    assert ended(asking.project / "pid")


def test_no_key_is_needed_and_no_server_asked(asking: Workspace, messages: MessagesServer) -> None:
    asking.model(messages)
    assert decision_of(ask(asking, f"echo '{MATCH}'", "--model", "claude-x"))["recipe"] == "review"
    assert messages.requests == []


def test_a_backend_without_its_command(asking: Workspace) -> None:
    asking.settings(selector__command=None)
    decision = asking.run("select", TASK, "--strict").expect(4).json
    assert decision["rationale"].startswith(
        "selector.backend is `command`, but selector.command names no program; nearest recipes: "
    )
    assert (decision["reason"], decision["stage"]) == ("no-model", "none")


def test_many_tasks_are_asked_in_order(asking: Workspace) -> None:
    asking.program(
        "oracle",
        "#!python\n"
        "import json, sys\n"
        "task = json.loads(sys.stdin.read().rpartition('<task>\\n')[2].partition('\\n</task>')[0])\n"
        "print(json.dumps({'decision': 'MATCH', 'recipe': 'review', 'rationale': task}))\n",
    )
    tasks = ["first task", "second task", "third task"]
    lines = "".join(json.dumps({"task": task}) + "\n" for task in tasks)
    decisions = asking.run("batch", "-", stdin=lines).expect(0).jsonl
    assert [decision["rationale"] for decision in decisions] == tasks
