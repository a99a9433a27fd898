"""What is released works: wheel and sdist are built, and the wheel does the main job in a clean environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.workspace import REPOSITORY
from vancectl.reading.schemas import SHAPES


def run(*argv: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        list(map(str, argv)), cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, f"{argv}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built from a copy of what git knows, as a release is."""
    root = tmp_path_factory.mktemp("built")
    source = root / "source"
    source.mkdir()
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=REPOSITORY).split("\0")
    for name in filter(None, listed):
        if (REPOSITORY / name).is_file():
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((REPOSITORY / name).read_bytes())
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", root, source, cwd=root)
    return root


def test_wheel_carries_defaults_and_man_pages(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    recipes = {f"vancectl/defaults/recipes/{path.name}" for path in (REPOSITORY / "defaults" / "recipes").iterdir()}
    assert recipes <= set(names)
    assert "vancectl/defaults/catalog/engines.yaml" in names
    assert {f"vancectl/schemas/{shape}.json" for shape in SHAPES} <= set(names)
    pages = {path.name for path in (REPOSITORY / "man").glob("*.1")}
    assert pages == {name.rpartition("/")[2] for name in names if "/share/man/man1/" in name}
    assert pages >= {"vancectl.1", "vancectl-select.1", "vancectl-delegate.1"}


def test_sdist_carries_what_the_tests_need(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} <= names
    assert {"tests/conftest.py", "defaults/settings.yaml", "man/vancectl.1"} <= names


def test_installed_wheel_does_the_main_job(built: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    run(home / "bin" / "pip", "install", "--quiet", "--no-input", next(built.glob("*.whl")), cwd=tmp_path)
    settings = tmp_path / "config/tenants/default/settings.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text('spawn: {command: [echo, "{recipe}: {task}"], stdin: none}')
    env = {
        "PATH": os.environ["PATH"],
        "VANCECTL_CONFIG_DIR": str(tmp_path / "config"),
        "VANCECTL_STATE_DIR": str(tmp_path / "state"),
        "VANCECTL_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = home / "bin" / "vancectl"
    chosen = json.loads(run(command, "select", "run python script.py", cwd=tmp_path, env=env))
    assert (chosen["decision"], chosen["recipe"], chosen["stage"]) == ("MATCH", "python", "trigger")
    started = json.loads(run(command, "delegate", "run python script.py", cwd=tmp_path, env=env))
    assert started["process"]["reply"] == "python: run python script.py\n"
    assert (home / "share/man/man1/vancectl.1").is_file()
