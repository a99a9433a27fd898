"""Shell completion: names on stdout, and nothing else anywhere."""

import pytest

from tests.workspace import REPOSITORY, Workspace


@pytest.fixture
def library(ws: Workspace) -> Workspace:
    ws.recipe("P/recipes/c.yaml", 'Use when: "x" [y]')
    ws.recipe("P/recipes/team/review.yaml", "it's: a `review`")
    ws.write("P/recipes/bad.yaml", "[")
    ws.write("P/recipes/one.yml", "")
    ws.write("P/recipes/e\x1b[2J.yaml", "[")
    ws.write(b"P/recipes/\xff.yaml".decode("utf-8", "surrogateescape"), "[")
    ws.write("P/project.yaml", "nonsense: [")
    ws.recipe("P/recipes/_user/mine.yaml")
    ws.recipe("P/recipes/_slart/r1/made.yaml")
    ws.recipe("T/recipes/tenant-wide.yaml")
    ws.write("T/../acme/settings.yaml", "")
    ws.write("H/lib/other.yaml", "description: x\nengine: ford\n")
    (ws.defaults / "recipes").mkdir(parents=True)
    return ws


def complete(ws: Workspace, line: str) -> list[str]:
    words = ["vancectl", *line.split(" ")]
    env = {"_VANCECTL_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    run = ws.run(env=env).expect(0)
    assert run.stderr == ""
    return run.stdout.split()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("recipes show ", ["tenant-wide", "mine", "bad", "c", "team/review"]),
        ("recipes show t", ["tenant-wide", "team/review"]),
        ("recipes show team/r", ["team/review"]),
        ("recipes show _", ["_slart/r1/made", "_user/mine"]),
        ("recipes show nothing-like-it", []),
        ("recipes show --no-project ", ["tenant-wide"]),
        ("recipes show --recipes ../home/lib ", ["other"]),
        ("recipes show --recipes nowhere ", []),
        ("recipes show --tenant acme ", ["mine", "bad", "c", "team/review"]),
        ("delegate --recipe te", ["tenant-wide", "team/review"]),
    ],
)
def test_recipes_are_completed_by_name(library: Workspace, line: str, names: list[str]) -> None:
    assert complete(library, line) == names


@pytest.mark.parametrize(
    ("shell", "variables", "output"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "vancectl recipes show c"}, "_arguments '*: :((\"c\"))'\n"),
        ("fish", {"_TYPER_COMPLETE_ARGS": "vancectl recipes show c", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "c\n"),
    ],
)
def test_other_shells(library: Workspace, shell: str, variables: dict[str, str], output: str) -> None:
    run = library.run(env={"_VANCECTL_COMPLETE": f"complete_{shell}", **variables}).expect(0)
    assert (run.stdout, run.stderr) == (output, "")


def test_engines_are_completed_by_name(ws: Workspace) -> None:
    ws.write("B/settings.yaml", (REPOSITORY / "defaults/settings.yaml").read_text())
    assert complete(ws, "catalog show m") == ["marvin"]
    ws.write("B/catalog/engines.yaml", "[")
    assert complete(ws, "catalog show ") == ["eddie", "arthur", "ford", "marvin", "vogon", "slartibartfast", "hactar",
                                             "zaphod", "jeltz"]  # fmt: skip
    ws.env["VANCECTL_CACHE_DIR"] = "/dev/null"
    assert complete(ws, "catalog show ") == []


@pytest.mark.parametrize("variables", [{"VANCECTL_TENANT": "../x"}, {"VANCECTL_TENANT": "/"}])
def test_what_is_wrong_does_not_disturb_the_prompt(library: Workspace, variables: dict[str, str]) -> None:
    library.env |= variables
    assert complete(library, "recipes show ") == []


def test_every_value_that_is_known_is_completed(ws: Workspace) -> None:
    ws.settings(spawn={"command": ["true"], "stdin": "none"})
    ws.recipe("P/recipes/good.yaml", triggers=["fix tests"], profiles={"brief": {}, "long": {}})
    ws.run("delegate", "--name", "alpha", "--session", "mine", "fix tests").expect()
    for line, found in {
        "settings show spawn.st": ["spawn.stdin"],
        "settings set log.": ["log.decisions", "log.tasks"],
        "processes show --session mine ": ["alpha"],
        "processes stop --session mine al": ["alpha"],
        "processes list --session ": ["mine"],
        "select --tenant ": ["default"],
        "spawn test --preset goose": ["goose", "goose-recipe"],
        "spawn test --engine ze": [],
        "delegate --engine za": ["zaphod"],
        "delegate --recipe good --profile ": ["brief", "long"],
        "recipes lint --explain never": ["never-alone"],
        "log --stage tr": ["trigger"],
    }.items():
        assert complete(ws, line) == found, line
