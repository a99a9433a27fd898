"""Exit status and every report of one run of `check` say the same: whatever fails the run fails in each format."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from tests.messages_server import MessagesServer, status
from tests.workspace import Result, Workspace

FORMATS = ("json", "markdown", "junit", "tap", "github", "table")
KNOWN, OPEN, WRONG = ("ship it", "ship"), ("is it raining", "NONE"), ("ship it now", "NONE")


@pytest.fixture
def shop(ws: Workspace) -> Workspace:
    ws.recipe("P/recipes/ship.yaml", triggers=["ship it"])
    ws.env["VANCECTL_MODEL"] = "model-1"
    return ws


def lay(ws: Workspace, *cases: tuple[str, str]) -> None:
    ws.write("P/routes.yaml", json.dumps({"cases": [{"task": task, "expect": name} for task, name in cases]}))


def passes(done: Result, kind: str) -> bool:
    """Whether the report says that all is well."""
    text = done.stdout
    if kind == "json":
        return bool(done.json["passed"]) and not done.json["failures"]
    if kind == "markdown":
        return text.startswith("## Routing: passed\n")
    if kind == "junit":
        root = ElementTree.fromstring(text)
        elements = [*root.iter("failure"), *root.iter("error")]
        assert int(root.get("failures", "")) + int(root.get("errors", "")) == len(elements)
        return not elements
    if kind == "tap":
        return not any(re.match(r"not ok (?!.* # TODO)", line) for line in text.splitlines())
    if kind == "github":
        return "::error" not in text
    return "result" in text and "passed" in text and "failed" not in text


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("cases", "options", "expected"),
    [
        ((KNOWN, OPEN), (), 0),
        ((KNOWN, OPEN), ("--strict",), 4),
        ((KNOWN, WRONG), (), 1),
        ((KNOWN, WRONG), ("--strict",), 1),
        ((KNOWN, WRONG, OPEN), ("--strict",), 4),
        ((KNOWN, WRONG), ("--min-accuracy", "0.5"), 0),
        ((KNOWN, WRONG), ("--min-accuracy", "0.9"), 1),
        ((OPEN,), (), 1),
    ],
    ids=["unrecorded", "strict", "wrong", "strict-wrong", "wrong-and-strict", "bar", "bar-missed", "nothing-judged"],
)
def test_every_format_says_what_the_exit_status_says(
    shop: Workspace, kind: str, cases: tuple[tuple[str, str], ...], options: tuple[str, ...], expected: int
) -> None:
    lay(shop, *cases)
    done = shop.run("check", *options, "--format", kind).expect(expected)
    assert passes(done, kind) == (expected == 0), done


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(("options", "expected"), [((), 0), (("--strict",), 4)])
def test_a_model_that_cannot_be_asked_fails_a_strict_run_alone(
    shop: Workspace, messages: MessagesServer, kind: str, options: tuple[str, ...], expected: int
) -> None:
    lay(shop, KNOWN, OPEN)
    messages.reply(status(401))
    shop.model(messages)
    done = shop.run("check", "--record", *options, "--format", kind).expect(expected)
    assert passes(done, kind) == (expected == 0), done


def test_failures_name_what_could_not_be_judged(shop: Workspace) -> None:
    lay(shop, KNOWN, OPEN)
    done = shop.run("check", "--strict").expect(4)
    assert done.json["failures"] == ["unrecorded: 1 of 2 cases; `vancectl check --record` asks for them"]


@pytest.mark.parametrize("command", [("check",), ("recipes", "lint")])
def test_annotations_are_relative_to_the_top_of_the_checkout(shop: Workspace, command: tuple[str, ...]) -> None:
    lay(shop, KNOWN, WRONG)
    shop.write("P/recipes/bad.yaml", "engine: ford\n")
    shop.env["GITHUB_WORKSPACE"] = str(shop.root)
    done = shop.run(*command, "--format", "github").expect(1)
    files = set(re.findall(r"file=([^,:]*)", done.stdout))
    assert files
    assert all(file.startswith("project/.vance/") for file in files), files
    link = shop.root / "link"
    link.symlink_to(shop.root)
    shop.env["GITHUB_WORKSPACE"] = str(link)
    assert set(re.findall(r"file=([^,:]*)", shop.run(*command, "--format", "github").expect(1).stdout)) == files


def test_a_warning_that_fails_a_strict_lint_is_an_error_in_its_reports(shop: Workspace) -> None:
    for options, expected in (((), 0), (("--strict",), 1)):
        assert (
            "::error" in shop.run("recipes", "lint", *options, "--format", "github").expect(expected).stdout
        ) == bool(expected)
        assert shop.run("recipes", "lint", *options).expect(expected).json["passed"] == (not expected)
        said = shop.run("recipes", "lint", *options, "--format", "text").expect(expected).stdout
        assert ("warnings fail a strict check" in said) == bool(expected)


COMMANDS = ("::error::x", "a\n::error::x", "a\n  ::set-output name=a::x", "##[error]x", "a ##vso[task.complete]x")
_TAKEN = re.compile(r"^\s*::(?:error|set-output)|##\[error\]|##vso\[", re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_name_gives_a_command_to_the_host_of_a_log(shop: Workspace, name: str) -> None:
    lay(shop, KNOWN)
    shop.recipe("P/recipes/other.yaml", engine=name)
    runs = [
        shop.run("select", "--tenant", name, "ship it"),
        shop.run("check", name),
        shop.run("delegate", "--recipe", name, "--dry-run", "x"),
        shop.run("delegate", "--recipe", "other", "--dry-run", "x"),
        shop.run("recipes", "lint", "--format", "text"),
        shop.run("recipes", "diff", name, name),
    ]
    for done in runs:
        assert not _TAKEN.search(done.stderr), done
    assert not _TAKEN.search(runs[4].stdout), runs[4]
    lay(shop, (f"ship it now {name}", "NONE"))
    for kind in ("table", "junit", "tap", "markdown"):
        done = shop.run("check", "--format", kind).expect(1)
        assert not _TAKEN.search(done.stdout if kind == "table" else ""), done
        assert not re.search(r"^\s*::", done.stdout + done.stderr, re.MULTILINE), done
