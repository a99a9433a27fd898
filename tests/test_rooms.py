"""The rooms stand in the order of the way of the data: none imports from one above it, so nothing goes in a circle."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import vancectl

PACKAGE = Path(vancectl.__file__).parent

# Bottom first. A module that lies beside the rooms is a room of its own.
ORDER = [
    *("invisible", "errors", "interrupt", "text", "disk", "programs", "reading", "sources", "settings"),
    *("inventory", "templates", "model", "selector", "recordings", "assembly", "decision_log", "process"),
    *("delegation", "plan", "batch", "worker", "routes", "lint", "clients", "mcp", "cli", "__main__"),
]


def room(module: str) -> str:
    return module.split(".")[1]


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts != ("__init__",):
            yield "vancectl." + ".".join(part for part in parts if part != "__init__"), path


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("vancectl."))
        elif isinstance(node, ast.ImportFrom) and node.module == "vancectl":
            yield from (f"vancectl.{name.name}" for name in node.names if not name.name.startswith("__version"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vancectl."):
            yield str(node.module)


@pytest.mark.parametrize(("module", "path"), [pytest.param(*each, id=each[0]) for each in modules()])
def test_nothing_points_up(module: str, path: Path) -> None:
    here = ORDER.index(room(module))
    up = [name for name in imported(path) if ORDER.index(room(name)) > here]
    assert not up, f"{module} is below {', '.join(up)}"


@pytest.mark.parametrize(
    ("package", "only"), [("anthropic", "vancectl.model.messages_api."), ("rich", "vancectl.cli.render.")]
)
def test_a_package_is_imported_in_one_place(package: str, only: str) -> None:
    for module, path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        if any(name.split(".")[0] == package for name in names):
            assert module.startswith(only), f"{module} imports {package}"


def test_typer_stays_in_the_command_line() -> None:
    for module, path in modules():
        assert module.startswith("vancectl.cli") or "import typer" not in path.read_text(encoding="utf-8"), module


CITED = re.compile(r"docs/([a-z]+\.md)(?:, section (\d))?")


@pytest.mark.parametrize(("module", "path"), [pytest.param(*each, id=each[0]) for each in modules()])
def test_what_a_comment_cites_is_here(module: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for page, section in CITED.findall(text):
        cited = (PACKAGE.parent / "docs" / page).read_text(encoding="utf-8")
        assert not section or f"\n## {section}. " in cited, f"{module} cites {page}, section {section}"
    assert "specification" not in text.lower(), f"{module} cites what is not in the repository"
