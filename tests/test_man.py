"""The man pages and the command line say the same: commands, options, settings, reasons, statuses.

A page `vancectl-NAME.1` describes the command NAME with all of its subcommands, `vancectl.1` the whole. What a page can
take from the code is written by `tools/manual.py`; each option that `--help` shows has an `.It` that explains it. A new
command needs no change here: it is found in `vancectl --help`, its page in the folder.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.workspace import REPOSITORY, Workspace
from tools import manual
from vancectl.cli.app import COMMANDS
from vancectl.cli.commands.recipes.group import RECIPES
from vancectl.delegation.answer import Delegated, RecordedDecision, StartPlan
from vancectl.delegation.fallback import Fallback
from vancectl.errors import ExitStatus, VancectlError
from vancectl.inventory.catalog import Engine
from vancectl.model.reason import Reason
from vancectl.model.use import ModelUse
from vancectl.process.command import PLACEHOLDERS
from vancectl.process.output import SHOWN, shortened
from vancectl.process.status import ProcessStatus
from vancectl.process.store import ExistingProcess, ProcessRecord
from vancectl.selector.decision import Decision, Stage, Verdict
from vancectl.settings.keys import KINDS, STDIN_MODES
from vancectl.settings.settings import variable_of

FOLDER = REPOSITORY / "man"
OVERVIEW = "vancectl.1"
PAGES = sorted(path.name for path in FOLDER.glob("*.1"))
COMMAND_PAGES = [name for name in PAGES if name != OVERVIEW]

Words = tuple[str, ...]
HelpOf = Callable[[Words], str]

_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_MACRO = re.compile(r"[A-Z][a-z]|Ns|No")


def page_of(command: str) -> str:
    return f"vancectl-{command}.1"


def words_of(page: str) -> Words:
    """The command that a page describes; none for the overview."""
    return () if page == OVERVIEW else (page.removeprefix("vancectl-").removesuffix(".1"),)


# -- what a page says


def lines_of(page: str) -> list[str]:
    return (FOLDER / page).read_text(encoding="utf-8").splitlines()


def section(page: str, *titles: str) -> list[str]:
    """The lines below a `.Sh` title, up to the next one; below a `.Ss` title in it where two are given."""
    lines = lines_of(page)
    for macro, title in zip((".Sh", ".Ss"), titles, strict=False):
        start = next((number for number, line in enumerate(lines) if line == f"{macro} {title}"), None)
        assert start is not None, f"{page} has no section `{macro} {title}`"
        lines = lines[start + 1 :]
        ends = (".Sh ",) if macro == ".Sh" else (".Sh ", ".Ss ")
        lines = lines[: next((number for number, line in enumerate(lines) if line.startswith(ends)), len(lines))]
    return lines


def flags(line: str) -> Iterator[str]:
    """The options that a line sets with `Fl`: `.It Fl q , -quiet` has `-q` and `--quiet`."""
    in_flag = False
    for token in line.removeprefix(".").split():
        if _MACRO.fullmatch(token):
            in_flag = token == "Fl"
        elif in_flag and token[-1].isalnum():
            yield f"-{token}"


def terms(lines: list[str], macro: str = "Cm") -> list[str]:
    """What the items of lists are called: `.It Cm first , second` has two terms."""
    heads = [line.split()[2:] for line in lines if line.startswith(f".It {macro} ")]
    return [word for head in heads for word in head if word != ","]


def lists(lines: list[str]) -> Iterator[list[str]]:
    """The terms of each list that is in no other."""
    depth, start = 0, 0
    for number, line in enumerate(lines):
        if line.startswith(".Bl"):
            depth, start = depth + 1, number if depth == 0 else start
        elif line.startswith(".El"):
            depth -= 1
            if depth == 0:
                yield terms(lines[start:number])


# -- what the installed command says

_HELP: dict[Words, str] = {}


@pytest.fixture
def help_of(ws: Workspace) -> HelpOf:
    """The help text of a command; each command is run once."""

    def read(words: Words) -> str:
        if words not in _HELP:
            _HELP[words] = ws.run(*words, "--help").expect().stdout
        return _HELP[words]

    return read


def block(text: str, title: str) -> list[str]:
    """The first column of a block of a help text; continuation lines are indented deeper."""
    lines = text.partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines()
    return [re.split(r" {2,}", line.strip())[0] for line in lines if re.match(r"  \S", line)]


def options_in(text: str) -> list[str]:
    return [option for head in block(text, "Options") for option in _OPTION.findall(head)]


def commands_in(text: str) -> list[str]:
    return block(text, "Commands")


def tree(page: str, help_of: HelpOf) -> dict[Words, list[str]]:
    """The options of the page's command and, but for the overview, of all commands below it."""
    found: dict[Words, list[str]] = {}
    waiting = [words_of(page)]
    while waiting:
        words = waiting.pop()
        text = help_of(words)
        found[words] = options_in(text)
        if words:
            waiting.extend((*words, name) for name in commands_in(text))
    return found


def summary(text: str) -> str:
    """The first sentence below the usage line."""
    paragraph = text.partition("\n\n")[2].partition("\n\n")[0]
    return re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(paragraph.split()))[0]


def compare(said: list[str], true: list[str], what: str, page: str) -> None:
    """Both directions, and nothing twice; the message names each one and the page."""
    missing, invented = sorted(set(true) - set(said)), sorted(set(said) - set(true))
    twice = sorted({each for each in said if said.count(each) > 1})
    assert not missing, f"{page} lacks {what}: {', '.join(missing)}"
    assert not invented, f"{page} has {what} that there is not: {', '.join(invented)}"
    assert not twice, f"{page} has {what} twice: {', '.join(twice)}"


# -- commands and options


def test_every_command_has_a_page_and_every_page_a_command(help_of: HelpOf) -> None:
    commands = commands_in(help_of(()))
    assert commands, "no commands were found in `vancectl --help`"
    compare(PAGES, [OVERVIEW, *map(page_of, commands)], "pages", "man/")


def test_the_overview_lists_every_command(help_of: HelpOf) -> None:
    listed = [term.removeprefix("vancectl-") for term in terms(section(OVERVIEW, "COMMANDS"), "Xr") if term != "1"]
    compare(listed, commands_in(help_of(())), "commands", OVERVIEW)


@pytest.mark.parametrize("page", PAGES)
def test_what_comes_from_the_code_is_current(page: str) -> None:
    """The synopsis, the heads of options, tables of fields and the facts on settings."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    assert text == manual.current(page, text), "run `python tools/manual.py`"


def test_a_new_option_and_a_new_word_for_its_value_find_their_way_into_a_page() -> None:
    page = "vancectl-select.1"
    text = (FOLDER / page).read_text(encoding="utf-8")
    old = re.sub(r"(?s)\n\.It Fl -estimate\n.*?(?=\n\.It )", "", text).replace(".Op Fl -estimate\n", "")
    old = old.replace("-replay Ar file", "-replay Ar path")
    lines = manual.current(page, old).splitlines()
    assert lines[lines.index(".It Fl -estimate") + 1] == "Show the size of the prompt, part by part, and ask no model."
    assert ".Op Fl -estimate" in lines
    assert ".It Fl -replay Ar file" in lines
    assert ".Op Fl -replay Ar file" in lines


@pytest.mark.parametrize("name", manual.TABLES)
def test_each_shape_that_people_write_has_its_table(name: str) -> None:
    assert sum(lines_of(page).count(f'.\\" Fields of {name}') for page in PAGES) == 1


@pytest.mark.parametrize("page", PAGES)
def test_every_option_is_explained(page: str, help_of: HelpOf) -> None:
    said = [option for line in lines_of(page) if line.startswith(".It Fl ") for option in flags(line[4:])]
    true = {option for options in tree(page, help_of).values() for option in options}
    compare(sorted(set(said)), sorted(true), "explained options", page)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_mentions_an_option_that_there_is_not(page: str, help_of: HelpOf) -> None:
    true = {option for each in PAGES for options in tree(each, help_of).values() for option in options}
    said = {option for line in lines_of(page) if line.startswith(".") for option in flags(line)}
    assert said <= true, f"{page} mentions options that there are not: {', '.join(sorted(said - true))}"


@pytest.mark.parametrize("words", [*((name,) for name in COMMANDS), *(("recipes", name) for name in RECIPES)])
def test_an_overview_summarises_a_command_in_its_own_words(words: tuple[str, ...], help_of: HelpOf) -> None:
    table = COMMANDS if len(words) == 1 else RECIPES
    assert table[words[-1]].summary == summary(help_of(words)), f"the table and `{' '.join(words)} --help` differ"


# -- what else is held in tables


def statuses(page: str) -> list[str]:
    return [line.split()[1] for line in section(page, "EXIT STATUS") if line.startswith(".It ")]


def test_the_overview_has_every_exit_status() -> None:
    compare(statuses(OVERVIEW), [str(status.value) for status in ExitStatus], "exit statuses", OVERVIEW)


@pytest.mark.parametrize("page", COMMAND_PAGES)
def test_a_page_has_only_exit_statuses_that_there_are(page: str) -> None:
    said = statuses(page)
    assert "0" in said, f"{page} does not say what status 0 means"
    unknown = set(said) - {str(status.value) for status in ExitStatus}
    assert not unknown, f"{page} has exit statuses that there are not: {', '.join(sorted(unknown))}"


def decision_keys() -> list[str]:
    return list(Decision(Verdict.NONE, Reason.NO_KEY, "", Stage.NONE, nearest=("default",), tenant=("", "")).as_json())


RECORD = ProcessRecord(
    "1", "default", "name", ProcessStatus.DONE, "default", "ford", "now", {},
    result={"reply": "long " * SHOWN}, log_truncated=True, on_exit_error="", stop_error="",
)  # fmt: skip


def process_keys() -> list[str]:
    return list(shortened(ExistingProcess(RECORD).as_json()))


def answer_keys() -> list[str]:
    answer = Delegated(
        RecordedDecision({}), Fallback("default", ""), StartPlan(None, {}), RECORD, VancectlError(""),
        outcome="", generator=RECORD, hint="",
    )  # fmt: skip
    return list(answer.as_json())


# Page, title of the section (and of the subsection), which of its lists (None for all), what they must hold.
TABLES: list[tuple[str, tuple[str, ...], int | None, list[str]]] = [
    ("vancectl.1", ("DECISION",), 0, decision_keys()),
    ("vancectl.1", ("DECISION",), 1, list(ModelUse("", "").as_json())),
    ("vancectl-select.1", ("REASONS",), None, [reason.value for reason in Reason]),
    ("vancectl-delegate.1", ("SPAWN COMMAND",), 0, [f"{{{name}}}" for name in PLACEHOLDERS]),
    ("vancectl-delegate.1", ("SPAWN COMMAND",), 1, list(STDIN_MODES)),
    ("vancectl-delegate.1", ("ANSWER",), 0, answer_keys()),
    ("vancectl-delegate.1", ("ANSWER", "The process"), None, process_keys()),
    ("vancectl-catalog.1", ("DESCRIPTION", "show"), 0, [field.name for field in dataclasses.fields(Engine)]),
    ("vancectl-settings.1", ("SETTINGS",), None, list(KINDS)),
]


@pytest.mark.parametrize(
    ("page", "titles", "which", "true"),
    [pytest.param(*table, id=f"{table[0]} {' '.join(table[1])} {table[2] or ''}".strip()) for table in TABLES],
)
def test_a_page_holds_a_whole_table(page: str, titles: tuple[str, ...], which: int | None, true: list[str]) -> None:
    found = list(lists(section(page, *titles)))
    said = [term for each in found for term in each] if which is None else found[which]
    compare(said, true, "entries", f"{page}, {', '.join(titles)}")


def test_the_overview_has_every_variable() -> None:
    """Those that stand in the code; settings' variables are in their own page."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "vancectl").rglob("*.py"))
    read = set(re.findall(r"\b(?:VANCECTL|ANTHROPIC)_[A-Z_]*[A-Z]\b", code))
    of_settings = {name for name in read if "__" in name} | {variable_of(key) for key in KINDS}
    missing = read - of_settings - set(terms(section(OVERVIEW, "ENVIRONMENT"), "Ev"))
    assert not missing, f"{OVERVIEW} lacks variables: {', '.join(sorted(missing))}"


# -- form


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_every_section_that_people_look_for(page: str) -> None:
    for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
        assert any(line.strip() for line in section(page, title)), f"{page}: {title} is empty"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_refers_only_to_pages_that_there_are(page: str) -> None:
    named = {line.split()[1] for line in lines_of(page) for line in re.findall(r"\bXr vancectl\S*", line)}
    missing = named - {name.removesuffix(".1") for name in PAGES}
    assert not missing, f"{page} refers to {', '.join(sorted(missing))}"


@pytest.mark.parametrize("page", PAGES)
def test_mandoc_finds_nothing_wrong(page: str) -> None:
    mandoc = shutil.which("mandoc")
    if mandoc is None:
        pytest.skip(f"mandoc is not installed, so {page} IS NOT CHECKED: apt-get install mandoc")
    # In the folder, so that it finds the pages that others refer to.
    done = subprocess.run([mandoc, "-Tlint", page], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert not done.stdout + done.stderr, f"{page}:\n{done.stdout}{done.stderr}"
