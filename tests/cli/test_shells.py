"""Completion in real, interactive shells: no name of a recipe becomes a word or a command of the shell."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from tests.shell import Shell
from tests.workspace import Workspace

SHELLS = {
    "bash": ["bash", "--noprofile", "-i"],
    "zsh": ["zsh", "-i"],
    "fish": ["fish", "-i"],
}

# Each would leave a file `pwned` behind, or become something else than a name.
ACTIVE = [
    r"\$(>pwned)",
    "$(>pwned)",
    "zz$(>pwned)",
    "zz`>pwned`",
    "zz;>pwned;",
    "zz&>pwned&",
    "zz|tee${IFS}pwned",
    "zz'$(>pwned)'",
    "zz''$(>pwned)''",
    'zz"$(>pwned)"',
    'zz""$(>pwned)""',
    "zz\n>pwned\n",
    "zz\r>pwned\r",
    "zz\t>pwned",
    "zz)>pwned(",
    "zz))'; >pwned; '((",
    "zz<(>pwned)",
    "zz=(>pwned)",
    "zz(>pwned)",
    "zz{>pwned}",
    "zz[$(>pwned)]",
    "zz:$(>pwned)",
    "zz:\\$(>pwned)",
    "zz\x1b[2J",
    "zz\x03>pwned\r",
    "zz*",
    "zz!!",
    "~root",
    "=ls",
    "--set=spawn.command=x",
    "-x",
]


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, ws: Workspace) -> str:
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"{name} is missing: apt-get install {name}")
    real = Path(sys.executable).with_name("vancectl")
    ws.program("vancectl", f'{real} "$@"; status=$?; echo asked >> "$HOME/asked"; exit $status')
    ws.write("H/.zshrc", "unsetopt beep\n")
    ws.run("--install-completion", name).expect()
    return name


def interactive(ws: Workspace, shell: str) -> Shell:
    ws.write("H/.bashrc", ws.path("H/.bashrc").read_text() if ws.path("H/.bashrc").exists() else "")
    env = ws.environment({"TERM": "xterm", "LANG": "C.UTF-8"})
    return Shell(SHELLS[shell], ws.project, env)


def typed(ws: Workspace, session: Shell, text: str, within: float = 3) -> None:
    """Types what makes the shell run the command, for a completion or as a line, and waits for its end."""
    asked = ws.path("H/asked")
    before = asked.stat().st_size if asked.exists() else 0
    session.type(text)
    limit = time.monotonic() + within
    while not (asked.exists() and asked.stat().st_size > before) and time.monotonic() < limit:
        session.settle(0.02)
    session.settle(0.2)


def ready(session: Shell) -> None:
    session.settle()
    session.type("echo re''ady\r")
    session.wait_for(r"[\r\n]ready")
    session.settle(0.3)


def warmed(ws: Workspace, session: Shell) -> None:
    """zsh reads the completion at the first TAB, and completes at the second."""
    ready(session)
    typed(ws, session, "vancectl nothing\t")
    session.type("\x03")
    session.settle(0.2)


def test_no_name_becomes_code(ws: Workspace, shell: str) -> None:
    ws.recipe("P/recipes/zzgood.yaml", "$(>pwned) `>pwned` \\$(>pwned)")
    for name in ACTIVE:
        ws.recipe(f"P/recipes/{name}.yaml")
    before = sorted(os.listdir(ws.project))
    with interactive(ws, shell) as session:
        warmed(ws, session)
        for begun in ("", "zz", "$", "\\\\", "-", "=", "zzg"):
            typed(ws, session, f"vancectl recipes show {begun}\t")
            session.type("\t")
            session.settle(0.2)
            if begun:
                typed(ws, session, "\r")
            session.type("\x03")
            session.settle(0.1)
        ready(session)
    assert sorted(os.listdir(ws.project)) == before


NAMES = ["team/release-notes", "c++", "résumé"]


def test_a_name_is_completed_as_it_is(ws: Workspace, shell: str) -> None:
    ws.write("B/recipes/other.yaml", "description: x\nengine: ford\n")
    for name in NAMES:
        ws.recipe(f"P/recipes/{name}.yaml")
    with interactive(ws, shell) as session:
        warmed(ws, session)
        for number, name in enumerate(NAMES):
            typed(ws, session, f"vancectl recipes show {name[:-1]}\t")
            typed(ws, session, f"> shown{number}\r")
        ready(session)
    shown = [(ws.project / f"shown{number}").read_text() for number in range(len(NAMES))]
    assert [re.findall('"name": "(.*?)"', text) for text in shown] == [[name] for name in NAMES]


def test_an_option_is_completed(ws: Workspace, shell: str) -> None:
    """Our own help texts stand beside options in zsh and fish, and are evaluated there."""
    with interactive(ws, shell) as session:
        warmed(ws, session)
        typed(ws, session, "vancectl select --no-proj\t")
        typed(ws, session, "task > shown\r")
        ready(session)
    assert "decision" in (ws.project / "shown").read_text()


def test_a_shell_that_is_none(ws: Workspace) -> None:
    assert "name one of bash, zsh, fish" in ws.run("--install-completion", "tcsh").expect(2).stderr
    assert "name one of bash, zsh, fish" in ws.run("--show-completion=xonsh").expect(2).stderr


@pytest.mark.parametrize(
    ("shell", "file"),
    [("bash", ".bash_completions/vancectl.sh"), ("zsh", ".zfunc/_vancectl"), ("fish", ".config/fish/completions")],
)
@pytest.mark.parametrize("form", ["{option} {shell}", "{option}={shell}"])
def test_the_shell_that_is_named_gets_it(ws: Workspace, shell: str, file: str, form: str) -> None:
    told = ws.run(*form.format(option="--install-completion", shell=shell).split(" ")).expect()
    assert told.stdout.startswith(f"{shell} completion installed in {ws.home}")
    assert ws.path(f"H/{file}").exists()
    shown = ws.run(*form.format(option="--show-completion", shell=shell).split(" ")).expect().stdout
    assert f"_VANCECTL_COMPLETE=complete_{shell}" in shown


def test_a_start_file_that_is_no_text(ws: Workspace) -> None:
    ws.write("H/.zshrc", b"\xff\xfe")
    failed = ws.run("--install-completion", "zsh").expect(2)
    assert "`vancectl --show-completion zsh` prints it" in failed.stderr
    assert ws.path("H/.zshrc").read_bytes() == b"\xff\xfe"
