"""The decision log: what is written, that nothing is lost or told that must not be, and what is read back."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workspace import REPOSITORY, Workspace
from vancectl.decision_log.history import parse_since
from vancectl.decision_log.log import KEPT, MAX_BYTES, Journal, Policy
from vancectl.errors import UsageError

TASK = "run python script.py"


def entries(ws: Workspace) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log_file(ws).read_text().splitlines()]


def log_file(ws: Workspace) -> Path:
    return ws.state / "log" / "decisions.jsonl"


def test_the_defaults_in_the_code_are_those_of_the_bundled_settings() -> None:
    bundled = yaml.safe_load((REPOSITORY / "defaults" / "settings.yaml").read_text())["log"]
    assert bundled == Policy()._asdict()


def test_select_logs_without_the_text(ws: Workspace) -> None:
    ws.run("select", TASK).expect()
    (entry,) = entries(ws)
    datetime.strptime(entry.pop("time"), "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert entry == {
        "command": "select", "decision": "MATCH", "recipe": "python", "engine": "ford",
        "layer": "bundled", "shadows": [], "stage": "trigger",
        "reason": "single-trigger", "triggerObserved": True, "fallback": None, "model": None, "latencyMs": None,
        "taskHash": sha256(TASK.encode()).hexdigest()[:16], "taskLength": len(TASK),
        "tenant": "default", "project": None,
    }  # fmt: skip
    assert TASK not in log_file(ws).read_text()
    assert log_file(ws).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("how", ["tenant", "flow", "variable", "option", "bundled"])
def test_the_text_is_logged_where_any_source_says_so(ws: Workspace, how: str) -> None:
    arguments, variables = [], {}
    if how == "tenant":
        ws.settings({"log.tasks": True})
    elif how == "flow":
        ws.write("T/settings.yaml", '{"\\u006cog": {tasks: true}}\n')
    elif how == "variable":
        variables = {"VANCECTL_LOG__TASKS": "true"}
    elif how == "option":
        arguments = ["--set", "log.tasks=true"]
    else:
        settings = (REPOSITORY / "defaults" / "settings.yaml").read_text()
        ws.recipe("B/recipes/python.yaml", triggers=["run python"])
        ws.write("B/settings.yaml", settings.replace("  tasks: false", "  tasks: true "))
    ws.run("select", *arguments, TASK, env=variables).expect()
    assert entries(ws)[0]["task"] == TASK


def test_the_log_can_be_switched_off(ws: Workspace) -> None:
    ws.settings({"log.decisions": False})
    ws.run("select", TASK).expect()
    assert not log_file(ws).exists()


def test_broken_settings_never_put_the_text_into_the_log(ws: Workspace) -> None:
    ws.write("T/settings.yaml", "log:\n  tasks: true\n  tusks: 1\n")
    ws.run("select", TASK).expect()
    assert "task" not in entries(ws)[0]


def test_delegate_logs_its_fallback_and_no_repetition(ws: Workspace) -> None:
    ws.program("agent", "echo done")
    ws.settings(spawn__command=["agent"], spawn__stdin="none")
    ws.run("delegate", "--name", "a", "sing").expect()
    ws.run("delegate", "--name", "a", "sing").expect()  # already there: nothing is decided
    ws.run("delegate", "--dry-run", "sing").expect()  # only tried
    ws.run("delegate", "--recipe", "essay", "sing").expect()
    first, second = entries(ws)
    assert (first["command"], first["decision"], first["fallback"]) == ("delegate", "NONE", "default")
    assert (second["stage"], second["recipe"]) == ("explicit", "essay")


def test_a_log_that_cannot_be_written_changes_nothing(ws: Workspace) -> None:
    ws.write("S/log", "a file where a folder should be")
    result = ws.run("select", "-v", TASK).expect()
    assert result.json["recipe"] == "python"
    assert "the decision is not logged" in result.stderr
    assert ws.run("select", TASK).expect().stderr == ""


def test_a_cut_line_costs_only_itself(ws: Workspace) -> None:
    ws.run("select", TASK).expect()
    log_file(ws).write_bytes(log_file(ws).read_bytes()[:-20])
    ws.run("select", TASK).expect()
    result = ws.run("log").expect()
    assert result.json["total"] == 1
    assert result.json["unreadLines"] == 1
    assert "1 lines of the log are no decisions" in result.stderr


def test_it_rotates_and_keeps_the_youngest(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    line = {"time": "", "stage": "none", "recipe": None, "decision": "NONE", "filling": "x" * 50_000}
    many = 2 * (KEPT + 2) * MAX_BYTES // 50_000
    for number in range(many):
        journal.append({**line, "number": number})
    files = sorted((tmp_path / "log").glob("*.jsonl"))
    assert len(files) == KEPT + 1
    assert all(file.stat().st_size <= MAX_BYTES for file in files)
    numbers = [entry["number"] for entry in journal.read() if entry is not None]
    assert numbers == list(range(numbers[0], many))
    assert len(numbers) > KEPT * MAX_BYTES // 51_000


def test_processes_side_by_side_lose_no_line(ws: Workspace) -> None:
    """Forty at once, with a rotation in their midst."""
    Journal(ws.state).append({"time": "", "stage": "none", "recipe": None, "decision": "NONE", "f": "x" * 990_000})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ws.run("select", f"{TASK} {number}").expect(), range(40)))
    found = [entry for entry in Journal(ws.state).read() if entry is not None]
    assert len(found) == 41
    assert len({entry.get("taskHash") for entry in found}) == 41
    assert (ws.state / "log" / "decisions.1.jsonl").exists()


def test_reading_it_back(ws: Workspace) -> None:
    for name in ("one", "two", "three"):
        ws.recipe(f"B/recipes/{name}.yaml", triggers=[f"say {name}"])
    for task in ("say one", "say one", "say two", "sing", "say one and say two"):
        ws.run("select", task).expect()
    log = ws.run("log").expect().json
    assert log["total"] == 5
    assert log["stages"] == {"trigger": {"count": 3, "rate": 0.6}, "none": {"count": 2, "rate": 0.4}}
    assert log["recipes"] == {"one": 2, "two": 1}
    assert log["neverChosen"] == ["three"]
    assert len(ws.run("log", "--recipe", "one").expect().json["decisions"]) == 2
    assert len(ws.run("log", "--stage", "none").expect().json["decisions"]) == 2
    assert len(ws.run("log", "--limit", "1").expect().json["decisions"]) == 1
    assert ws.run("log", "--since", "2099-01-01").expect().json["total"] == 0
    assert ws.run("log", "--since", "1h").expect().json["total"] == 5
    ws.run("log", "--since", "soon").expect(2)
    ws.run("log", "--stage", "moon").expect(2)
    shown = ws.run("log", tty=True, columns=120).expect().stdout
    assert "never chosen" in shown
    assert "trigger 3 (60%), none 2 (40%)" in shown


def test_an_empty_log_says_where_it_would_be(ws: Workspace) -> None:
    assert str(log_file(ws)) in ws.run("log", tty=True, columns=200).expect().stdout
    assert ws.run("log").expect().json["total"] == 0


def test_times_are_ages_or_dates() -> None:
    now = datetime(2026, 3, 8, 12, tzinfo=UTC)
    assert parse_since("7d", now) == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert parse_since("90m", now) == datetime(2026, 3, 8, 10, 30, tzinfo=UTC)
    assert parse_since("2026-01-31", now) == datetime(2026, 1, 31, tzinfo=UTC)
    assert parse_since("2026-01-31T10:00+02:00", now) == datetime(2026, 1, 31, 8, tzinfo=UTC)
    for bad in ("", "soon", "99999999999d", "2026-13-01"):
        with pytest.raises(UsageError):
            parse_since(bad, now)


def test_a_trigger_task_still_loads_no_settings(ws: Workspace) -> None:
    """What the log costs a start is one small file; YAML, settings and the reader of the log stay out."""
    ws.settings(selector__backend="off")
    ws.run("select", TASK).expect()
    script = (
        "import sys; sys.argv = ['vancectl', 'select', 'run python script.py'];"
        "from vancectl.cli.app import run; run();"
        "print([m for m in ('yaml', 'vancectl.settings.settings', 'vancectl.decision_log.history')"
        " if m in sys.modules],"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [os.path.join(os.path.dirname(ws.command[0]), "python"), "-c", script],
        env=ws.environment(), cwd=ws.project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.strip() == "[]"
    assert len(entries(ws)) == 2


@pytest.mark.parametrize("line", ["[" * 100_000, "{" * 5, "7", '{"time": 1}'])
def test_a_line_that_is_no_entry_is_counted(ws: Workspace, line: str) -> None:
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    ws.run("select", "fix tests").expect()
    with (ws.state / "log" / "decisions.jsonl").open("a") as log:
        log.write(f"{line}\n")
    found = ws.run("log", "--json").expect().json
    assert (found["total"], found["unreadLines"]) == (1, 1)


def test_each_project_sees_its_own_decisions(ws: Workspace) -> None:
    folders = [ws.root / name for name in ("a", "b")]
    for folder in folders:
        (folder / ".vance").mkdir(parents=True)
        ws.run("select", TASK, cwd=folder).expect()
    assert ws.run("log", cwd=folders[0]).expect().json["total"] == 1
    assert ws.run("log", cwd=ws.root).expect().json["total"] == 0
    everything = ws.run("log", "--all-projects", cwd=folders[0]).expect().json
    assert [each["project"] for each in everything["decisions"]] == list(map(str, folders))
