"""The bundled presets. Stand-ins behave as the real programs are documented; tmux, Slurm and Ray are the real ones."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any

import pytest

from tests import messages_server as scripted
from tests.messages_server import MessagesServer
from tests.workspace import REPOSITORY, Workspace
from vancectl.process.preset import load_preset, preset_names
from vancectl.worker.payload import ENGINES

NAMES = sorted(path.stem for path in (REPOSITORY / "defaults" / "spawn").glob("*.yaml"))

# Refuses what the real program would refuse, and says what it was given.
STAND_INS = {
    "claude": """#!python
import os, sys
if os.environ.get("CLAUDECODE"): sys.exit("Claude Code cannot be launched inside another Claude Code session")
words = sys.argv[1:]
assert words.pop(0) == "-p"
assert words.pop(0) == "--append-system-prompt-file"
system = open(words.pop(0)).read()
assert words == ["--setting-sources", "user"]
prompt = sys.stdin.read()
if prompt[:1] in "/!#@" and prompt: sys.exit(f"Unknown command: {prompt}")
print(f"SYSTEM {system.strip()} PROMPT {prompt.removeprefix(' ')}")
""",
    "goose": """#!python
import sys
assert sys.argv[1:5] == ["run", "--quiet", "--no-session", "--instructions"], sys.argv
print("GOT", sys.stdin.read() if sys.argv[5] == "-" else open(sys.argv[5]).read())
""",
    "llm": """#!python
import sys
assert sys.argv[1:3] == ["prompt", "--sf"]
print("GOT", open(sys.argv[3]).read() + "\\n" + sys.stdin.read())
""",
    "fabric": """#!python
import sys
assert sys.argv[1:] == ["--stream"]
print("GOT", sys.stdin.read())
""",
    "codex": """#!python
import sys
assert sys.argv[1] == "exec"
print("thinking", file=sys.stderr)
print("GOT", sys.stdin.read() if sys.argv[-1] == "-" else sys.argv[-1])
""",
}
# These run what they are given somewhere else; a stand-in runs it here.
RUNNERS = {
    "kubectl": """#!python
import re, subprocess, sys
words = sys.argv[1:]
split = words.index("--")
assert words[0] == "run"
assert re.fullmatch("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", words[1]), "no name for a pod"
assert {"--restart=Never", "--rm", "--stdin", "--quiet"} <= set(words[2:split])
sys.exit(subprocess.run(words[split + 1:], stdin=sys.stdin).returncode)
""",
    "srun": """#!python
import subprocess, sys
words = sys.argv[1:]
while words[0].startswith("-"): words.pop(0)
sys.exit(subprocess.run(words, stdin=sys.stdin).returncode)
""",
    "ray": """#!python
import subprocess, sys
words = sys.argv[1:]
split = words.index("--")
assert words[:2] == ["job", "submit"]
line = subprocess.list2cmdline(words[split + 1:])
sys.exit(1 if subprocess.run(line, shell=True, stdin=subprocess.DEVNULL).returncode else 0)
""",
}


def good(ws: Workspace, preset: str) -> None:
    ws.recipe("P/recipes/good.yaml", promptPrefix="Be brief.\n")
    ws.settings({"spawn.preset": preset})


def delegate(ws: Workspace, task: str, **options: Any) -> Any:
    return ws.run("delegate", "--recipe", "good", "--name", "a", "-", stdin=task, **options)


@pytest.mark.parametrize("name", NAMES)
def test_each_preset_is_whole(name: str) -> None:
    preset = load_preset(name)
    assert preset.description
    assert preset.reads
    assert preset.dash
    assert preset.engines is None or preset.engines == ENGINES  # those that run our worker
    assert name in preset_names()


@pytest.mark.parametrize("preset", STAND_INS)
@pytest.mark.parametrize(
    "task",
    [
        "write notes",
        "--help",
        "-p",
        "/tests fail",
        "#1 is open",
        "!important",
        "@/etc/hostname is read",
        "x" * 140_000,
        "two\nlines ünï 🚀 'x' \"y\" $HOME",
    ],
)
def test_programs_that_people_have(ws: Workspace, preset: str, task: str) -> None:
    good(ws, preset)
    ws.program(preset, STAND_INS[preset])
    keys = {"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "CLAUDECODE": "1"}
    process = delegate(ws, task, env=keys).expect().json["process"]
    expected = f"SYSTEM Be brief. PROMPT {task}" if preset == "claude" else f"GOT Be brief.\n\n{task}"
    assert (process["status"], process["reply"].strip()) == ("DONE", expected)


@pytest.mark.parametrize("preset", STAND_INS)
def test_the_status_of_a_program_is_told(ws: Workspace, preset: str) -> None:
    good(ws, preset)
    ws.program(preset, "echo oops >&2; exit 7")
    failed = delegate(ws, "x").expect(3)
    assert (failed.json["process"]["exitCode"], "oops" in failed.stderr) == (7, True)


@pytest.mark.parametrize(("preset", "program"), [("kubectl", "kubectl"), ("slurm", "srun"), ("ray", "ray")])
def test_runners_of_other_machines(ws: Workspace, messages: MessagesServer, preset: str, program: str) -> None:
    good(ws, preset)
    ws.program(program, RUNNERS[program])
    ws.model(messages)
    (ws.bin / "vancectl").symlink_to(ws.command[0])  # what the pod's image would hold
    if preset in {"kubectl", "ray"}:
        # The cluster has a key of its own: ours is not passed on to it.
        server = messages.url
        script = (
            (ws.bin / program)
            .read_text()
            .replace(
                "import ",
                f"import os; os.environ.update(ANTHROPIC_API_KEY='k', ANTHROPIC_BASE_URL='{server}')\nimport ",
                1,
            )
        )
        ws.program(program, script)
    messages.reply(scripted.text("Written."))
    process = delegate(ws, "--help; $(touch oops) 'x'").expect().json["process"]
    assert (process["status"], process["reply"]) == ("DONE", "Written.\n")
    assert messages.requests[0].body["messages"][0]["content"] == "--help; $(touch oops) 'x'"
    assert not ws.path("P/oops").exists()
    messages.reply(scripted.status(401))
    failed = ws.run("delegate", "--recipe", "good", "x").expect(3)
    assert failed.json["process"]["exitCode"] == (1 if preset == "ray" else 3)


# For real.


def test_tmux(ws: Workspace, messages: MessagesServer) -> None:
    if not shutil.which("tmux"):
        pytest.skip("TMUX IS NOT INSTALLED: the preset `tmux` was not tested (apt-get install tmux)")
    good(ws, "tmux")
    ws.model(messages)
    messages.reply(scripted.text("Written. ünï\n" + "long " * 100))
    started = (
        ws.run("delegate", "--recipe", "good", "--name", "a", "--no-wait", "--", "--help 'x'").expect().json["process"]
    )
    ws.run("processes", "wait", "a", "--timeout", "30").expect()
    shown = ws.run("processes", "logs", "a").expect().stdout
    assert shown == "Written. ünï\n" + "long " * 100 + "\n"
    assert messages.requests[0].body["messages"][0]["content"] == "--help 'x'"
    assert "test-key" not in " ".join(map(str, started.values()))
    messages.reply(scripted.status(401))
    failed = ws.run("delegate", "--recipe", "good", "--name", "b", "x").expect(3)
    assert failed.json["process"]["exitCode"] == 3
    assert "the key was refused" in failed.json["process"]["reply"]


def test_tmux_is_stopped(ws: Workspace, messages: MessagesServer) -> None:
    if not shutil.which("tmux"):
        pytest.skip("TMUX IS NOT INSTALLED: the preset `tmux` was not tested (apt-get install tmux)")
    good(ws, "tmux")
    ws.model(messages)
    messages.reply(scripted.hang(60))
    process = ws.run("delegate", "--recipe", "good", "--name", "a", "--no-wait", "x").expect().json["process"]
    messages.wait_for(1)
    socket = f"vancectl-{process['id']}"
    sessions = subprocess.run(["tmux", "-L", socket, "list-sessions"], capture_output=True, text=True, check=False)
    assert sessions.returncode == 0, "a person can look at it"
    stopped = ws.run("processes", "stop", "a").expect().json
    assert stopped["status"] == "STOPPED"
    gone = subprocess.run(["tmux", "-L", socket, "list-sessions"], capture_output=True, check=False)
    assert gone.returncode != 0


def test_ray(ws: Workspace, messages: MessagesServer) -> None:
    ray = os.environ.get("RAY_PROGRAM") or shutil.which("ray")
    if not ray:
        pytest.skip(
            "RAY IS NOT INSTALLED: the preset `ray` was tested with a stand-in only (pip install 'ray[default]')"
        )
    good(ws, "ray")
    ws.model(messages)
    (ws.bin / "ray").symlink_to(ray)
    address = "http://127.0.0.1:8276"
    # The key must be in the cluster's environment; folders as in the test's own.
    temporary = f"/tmp/ray-{os.getpid()}"  # short: Ray puts sockets into it
    head = [ray, "start", "--head", "--port=6398", "--node-ip-address=127.0.0.1", "--dashboard-host=127.0.0.1",
            "--dashboard-port=8276", "--num-cpus=1", f"--temp-dir={temporary}", "--disable-usage-stats"]  # fmt: skip
    cluster = {**ws.environment(), "PATH": os.environ["PATH"]}
    try:
        subprocess.run(head, env=cluster, check=True, capture_output=True, timeout=200)
        variables = {"RAY_API_SERVER_ADDRESS": address, "PATH": f"{ws.bin}{os.pathsep}{os.defpath}"}
        messages.reply(scripted.text("Written."))
        process = delegate(ws, "--help; $(touch oops)", env=variables, timeout=120).expect().json["process"]
        assert (process["status"], process["reply"]) == ("DONE", "Written.\n")
        assert messages.requests[0].body["messages"][0]["content"] == "--help; $(touch oops)"
        messages.reply(scripted.status(401))
        failed = ws.run("delegate", "--recipe", "good", "x", env=variables, timeout=120).expect(3)
        assert failed.json["process"]["exitCode"] == 1
    finally:
        subprocess.run([ray, "stop", "--force"], env=cluster, check=False, capture_output=True, timeout=60)
        shutil.rmtree(temporary, ignore_errors=True)


def test_slurm(ws: Workspace, messages: MessagesServer) -> None:
    if not shutil.which("srun") or subprocess.run(["sinfo", "-h"], capture_output=True, check=False).returncode:
        pytest.skip("NO SLURM IS RUNNING: the preset `slurm` was tested with a stand-in only")
    good(ws, "slurm")
    ws.model(messages)
    messages.reply(scripted.text("Written."))
    process = delegate(ws, "--help").expect().json["process"]
    assert (process["status"], process["reply"]) == ("DONE", "Written.\n")
    messages.reply(scripted.status(401))
    failed = ws.run("delegate", "--recipe", "good", "x").expect(3)
    assert failed.json["process"]["exitCode"] == 3


# `vancectl spawn`.


def test_the_test_of_a_preset(ws: Workspace) -> None:
    ws.program("claude", "")
    shown = ws.run("spawn", "test", "--preset", "claude").expect().json
    assert (shown["preset"], shown["program"], shown["problem"]) == ("claude", str(ws.bin / "claude"), None)
    assert shown["argv"][:4] == ["claude", "-p", "--append-system-prompt-file", "{system_file}"]
    missing = ws.run("spawn", "test", "--preset", "goose").expect(1).json
    assert missing["problem"] == "the program `goose` is not on the PATH"
    unknown = ws.run("spawn", "test", "--preset", "claud").expect(2)
    assert "did you mean `claude`?" in unknown.stderr


def test_the_test_of_what_is_configured(ws: Workspace) -> None:
    ws.settings({"spawn.command": ["sh", "-c", "true"], "spawn.env": {"MY_KEY": "abc", "A": "b"}})
    shown = ws.run("spawn", "test").expect()
    assert (shown.json["setting"], shown.json["preset"]) == ("spawn.command", None)
    assert shown.json["env"] == {"MY_KEY": "***", "A": "b"}
    ws.run("spawn", "test", "--set", "spawn.command=[]").expect(2)
    no_key = ws.run("spawn", "test", "--preset", "worker").expect(1)
    assert "set ANTHROPIC_API_KEY" in no_key.json["problem"]


def test_the_list_of_presets(ws: Workspace) -> None:
    assert [row["preset"] for row in ws.run("spawn", "list").expect().json] == NAMES


@pytest.mark.parametrize(
    ("settings", "args", "program"),
    [
        ({"spawn.preset": "goose"}, [], "goose"),
        ({"spawn.preset": "goose", "spawn.command": ["mine"]}, [], "mine"),
        ({"spawn.command": ["mine"]}, ["--set", "spawn.preset=goose"], "goose"),
        ({"spawn.preset": "goose"}, ["--set", 'spawn.command=["mine"]'], "mine"),
        ({"spawn.preset": "goose", "spawn.engines": {"ford": {"command": ["own"]}}}, [], "own"),
        ({"spawn.command": ["mine"], "spawn.engines": {"ford": {"preset": "llm"}}}, [], "llm"),
    ],
)
def test_whichever_is_set_nearer(ws: Workspace, settings: dict[str, object], args: list[str], program: str) -> None:
    ws.settings(settings)
    assert ws.run("spawn", "test", *args).expect(1).json["argv"][0] == program


@pytest.mark.parametrize("off", [{"spawn.preset": "none"}, {"spawn.command": []}, {"spawn.preset": ""}])
def test_nothing_configured_on_purpose(ws: Workspace, off: dict[str, object]) -> None:
    ws.settings(off)
    failed = ws.run("delegate", "--recipe", "ford", "x", env={"ANTHROPIC_API_KEY": "k"}).expect(2)
    assert failed.json["error"] == "no spawn command is configured, so nothing can be started"


# The environment.


def test_the_key_is_passed_on_only_where_it_is_listed(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["sh", "-c", "env"], "spawn.stdin": "none"})
    own = {"ANTHROPIC_API_KEY": "k1", "ANTHROPIC_AUTH_TOKEN": "k2", "ANTHROPIC_BASE_URL": "http://u", "OTHER": "o"}
    shown = delegate(ws, "x", env=own).expect().json["process"]["reply"].splitlines()
    assert [line for line in shown if line.startswith("ANTHROPIC_")] == ["ANTHROPIC_BASE_URL=http://u"]  # no secret
    assert "OTHER=o" in shown
    ws.settings({"spawn.env": {"ANTHROPIC_API_KEY": "{env.ANTHROPIC_API_KEY}", "GONE": "{env.NOT_SET}"}})
    again = ws.run("delegate", "--recipe", "good", "x", env=own).expect().json["process"]["reply"].splitlines()
    assert [line for line in again if line.startswith(("ANTHROPIC_A", "GONE"))] == ["ANTHROPIC_API_KEY=k1"]


def test_a_process_knows_who_it_is(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    inner = [*ws.command, "delegate", "--recipe", "good", "--set", 'spawn.command=["env"]', "x"]
    ws.settings({"spawn.command": inner, "spawn.stdin": "none"})
    outer = ws.run("delegate", "--recipe", "good", "--session", "s", "x").expect().json["process"]
    known = ws.run("processes", "list", "--session", "s").expect().json
    assert [process["parent"] for process in known] == [None, known[0]["id"]]
    lines = dict(line.partition("=")[::2] for line in known[1]["reply"].splitlines())
    assert lines["VANCECTL_SESSION"] == "s"
    assert lines["VANCECTL_PROCESS_ID"] == known[1]["id"]
    assert lines["VANCECTL_PARENT"] == known[0]["id"]
    assert lines["VANCECTL_DEPTH"] == "2"
    assert outer["status"] == "DONE"


def test_a_cascade_of_processes_ends(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": [*ws.command, "delegate", "--recipe", "good", "x"], "spawn.stdin": "none"})
    failed = ws.run("delegate", "--recipe", "good", "x").expect(3)
    assert "5 processes have started one another already, and spawn.maxDepth allows 5" in failed.stderr
    assert len(ws.run("processes", "list").expect().json) == 5
    wrong = ws.run("delegate", "--recipe", "good", "x", env={"VANCECTL_DEPTH": "oops"}).expect(2)
    assert "VANCECTL_DEPTH is no whole number" in wrong.stderr


def test_the_context_is_passed_through(ws: Workspace) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["cat"]})
    request = '{"name": "a", "recipe": "good", "inheritContext": {"from": ["x", 1]}}'
    process = ws.run("delegate", "--request", "-", stdin=request).expect().json["process"]
    assert process["reply"]["inheritContext"] == {"from": ["x", 1]}
