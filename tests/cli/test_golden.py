"""What people see, recorded: each command at 80 and 120 columns, with and without colour.

    GOLDEN_WRITE=1 pytest tests/cli/test_golden.py

writes the records anew; look at the difference before you keep it (`less -R tests/golden/80-colour.txt`).
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace import REPOSITORY, Workspace

FOLDER = REPOSITORY / "tests" / "golden"
WRITE = bool(os.environ.get("GOLDEN_WRITE"))
COMMANDS = [
    ["recipes", "lint"],
    ["recipes", "lint", "--explain", "never-alone"],
    ["select", "--explain", "--why", "weigh", "please count quokkas before noon"],
    ["select", "--explain", "--why", "count", "weigh quokkas, then count quokkas"],
    ["recipes", "shadowed"],
    ["recipes", "list"],
    ["recipes", "show", "count"],
    ["recipes", "map"],
    ["log"],
]


@pytest.fixture
def place() -> Iterator[Workspace]:
    """A workspace whose path has the same length wherever the tests run: lines are wrapped by it."""
    root = Path(tempfile.mkdtemp(prefix="golden-", dir="/tmp"))
    workspace = Workspace(root)
    yield workspace
    workspace.close()
    shutil.rmtree(root)


def lay(ws: Workspace) -> None:
    ws.recipe(
        "B/recipes/default.yaml",
        "The generalist for everyday tasks that no other recipe names. Take it when nothing else fits, not for zoos.",
    )
    ws.recipe(
        "B/recipes/count.yaml",
        "Counts quokkas and zebras on photographs of the island. Take it when someone asks how many of them there are.",
        triggers={"match": "word", "keywords": ["count quokkas", "count zebras"]},
        params={"model": "default:fast"},
    )
    ws.recipe(
        "T/recipes/weigh.yaml",
        "Weighs quokkas and zebras on scales of the island. Take it when someone asks how heavy some of them are.",
        triggers={"match": "word", "keywords": ["weigh quokkas", "please count quokkas now"]},
    )
    ws.write(
        "P/recipes/count.yaml",
        "description: >-\n  Counts quokkas on films of the island. "
        "Take it when someone asks how many of them there are.\n"
        "engine: marvin\nparams:\n  model: default:smart\ntriggers:\n  match: word\n  keywords:\n    - count quokkas\n"
        "    - zoo  # lint: allow one-word, short-phrase - the name of the place\n    - gate\n",
    )
    ws.recipe("P/recipes/Paint Boats.yaml", "Paints boats.", "frod", promptPrefix="Hello {% if x %}", internl=True)
    ws.write("P/recipes/broken.yaml", "description: `x`\nengine: ford\n")
    ws.settings(spawn__command=["no-such-agent", "{task}"], routing__fallback__recipe="wiegh")


@pytest.mark.parametrize("colour", [True, False], ids=["colour", "plain"])
@pytest.mark.parametrize("columns", [80, 120])
def test_what_people_see(place: Workspace, columns: int, colour: bool) -> None:
    lay(place)
    looks = {"NO_COLOR": None} if colour else {"NO_COLOR": "1"}
    shown = []
    for command in COMMANDS:
        result = place.run(*command, tty=True, columns=columns, env=looks)
        streams = result.stdout + (f"--- stderr\n{result.stderr}" if result.stderr else "")
        text = streams.replace(str(place.root), "/tmp/golden-########").replace(place.root.name, "golden-########")
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-01-31 12:00:00", text)
        shown.append(f"$ vancectl {' '.join(command)}\n{text}--- status {result.status}\n")
    record = FOLDER / f"{columns}-{'colour' if colour else 'plain'}.txt"
    if WRITE:
        record.parent.mkdir(exist_ok=True)
        record.write_text("\n".join(shown))
    assert "\n".join(shown) == record.read_text()


@pytest.mark.parametrize("columns", [80, 120])
def test_the_records_themselves(columns: int) -> None:
    """No line is wider than the terminal, colour changes no text, and without it there is none."""
    plain, colour = ((FOLDER / f"{columns}-{kind}.txt").read_text() for kind in ("plain", "colour"))
    bare = re.sub(r"\x1b\[[0-9;]*m", "", colour)
    assert bare == re.sub(r"\x1b\[[0-9;]*m", "", plain)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)
    assert re.search(r"\x1b\[[0-9;]*3[0-9]m", colour)
    stdout = re.sub(r"--- stderr\n.*?--- status", "", bare, flags=re.DOTALL)
    wide = [line for line in stdout.splitlines() if len(line) > columns and not line.startswith("$")]
    assert wide == []
