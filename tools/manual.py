"""Writes what the man pages can take from the code anew: python tools/manual.py.

The SYNOPSIS and the heads of options come from the commands, tables of fields from the shapes, the facts on a setting
from the table of settings. Everything else is written by hand. A new option gets its help text as a first explanation.
A table stands between `.\\" Fields of NAME` and `.\\" End of fields`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import yaml

from vancectl.cli.app import COMPLETION_OPTIONS, app
from vancectl.delegation.request_shape import RequestShape
from vancectl.inventory.recipe_shape import Profile, RecipeShape, Triggers
from vancectl.plan.plan_shape import Expand, PlanShape
from vancectl.reading.shape import Shape
from vancectl.routes.case_shape import CaseShape, CasesShape
from vancectl.settings.keys import KINDS
from vancectl.settings.settings import variable_of

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / "man"
OVERVIEW = "vancectl.1"
TABLES: dict[str, type[Shape]] = {
    "a recipe": RecipeShape,
    "triggers": Triggers,
    "a profile": Profile,
    "a request": RequestShape,
    "a plan": PlanShape,
    "expand": Expand,
    "a file of cases": CasesShape,
    "a case": CaseShape,
}
# What is chosen by an option whose help lists the choices in place of a word.
_CHOSEN = {"via": "way", "report_format": "format", "to": "layer"}
_WIDTH = 80
_TABLE = re.compile(r'(?ms)^\.\\" Fields of (?P<name>[^\n]+)\n.*?^\.\\" End of fields\n')
_TOKEN = re.compile(r"`([^`]+)`([.,;:)]*)|(vancectl[\w-]*\(1\))([.,;:)]*)")


def current(page: str, text: str) -> str:
    """What the page must hold, from what it holds."""
    text = _with_section(text, "SYNOPSIS", "\n".join(synopsis(page)))
    text = _with_heads(text, page)
    text = _TABLE.sub(lambda found: _fields(found["name"]), text)
    return _with_facts(text) if page == "vancectl-settings.1" else text


# -- commands


def _tree(page: str) -> list[tuple[list[str], Any]]:
    """The forms of a page: the words of each command, and itself; a group comes behind its commands."""
    root = typer.main.get_command(app)
    if page == OVERVIEW:
        return [([], root)]
    name = page.removeprefix("vancectl-").removesuffix(".1")
    return list(_below([name], _command(root, name)))


def _below(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from _below([*words, name], _command(command, name))
    yield words, command


def _command(group: Any, name: str) -> Any:
    return group.get_command(None, name)


def synopsis(page: str) -> Iterator[str]:
    for words, command in _tree(page):
        yield ".Nm vancectl"
        if words:
            yield f".Cm {' '.join(words)}"
        if words and hasattr(command, "list_commands"):
            yield ".Fl h | -help"
            continue
        for option in _options(command):
            yield f".Op Fl {_names(option, ' | ')}{_argument(option)}"
        yield ".Op Fl h | -help"
        for argument in command.params:
            if argument.param_type_name == "argument":
                many = " ..." if argument.nargs == -1 else ""
                yield f".{'' if argument.required else 'Op '}Ar {_placeholder(argument)}{many}"
        if not words:
            yield ".Ar command"
            yield ".Op Ar argument ..."


def _options(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "option" and not each.hidden]


def _names(option: Any, between: str) -> str:
    names = sorted((name.removeprefix("-") for name in option.opts), key=len)
    return between.join([*names, *(name.removeprefix("-") for name in option.secondary_opts)])


def _argument(option: Any) -> str:
    if option.opts[0] in COMPLETION_OPTIONS:
        return " Oo Ar SHELL Oc"
    if option.is_flag or option.count:
        return ""
    return f" Ar {_placeholder(option)}"


def _placeholder(parameter: Any) -> str:
    """A metavar in mdoc: `KEY=VALUE` is two arguments with a sign between them."""
    word = (parameter.metavar or _CHOSEN.get(parameter.name, parameter.name)).strip("[]").replace("…", "").rstrip(".")
    as_it_is = parameter.param_type_name == "argument" and len(word) == 1
    return word if as_it_is else " Ns = Ns Ar ".join(part.lower() for part in word.split("="))


def _heads(page: str) -> dict[str, list[tuple[str, str]]]:
    """By each option's name what its head may be in this page, and its help."""
    found: dict[str, list[tuple[str, str]]] = {}
    for _, command in _tree(page):
        for option in _options(command):
            head = f".It Fl {_names(option, ' , ')}{_argument(option)}"
            for name in option.opts:
                found.setdefault(name.lstrip("-"), []).append((head, option.help or ""))
    return found


def _with_heads(text: str, page: str) -> str:
    heads = _heads(page)
    lines = text.splitlines()
    explained = set()
    for number, line in enumerate(lines):
        if line.startswith(".It Fl "):
            names = [token.lstrip("-") for token in re.findall(r"(?:(?<=Fl )|(?<=, ))-?[\w-]+", line)]
            explained.update(names)
            possible = [head for name in names for head, _ in heads.get(name, ())]
            if possible and line not in possible:
                lines[number] = possible[0]
    for name, known in heads.items():
        head, explanation = known[0]
        if name not in explained and not any(other in explained for other in _flags(head)):
            lines[_end_of_options(lines) : _end_of_options(lines)] = [head, *mdoc(explanation, set())]
            explained.update(_flags(head))
    return "\n".join(lines) + "\n"


def _flags(head: str) -> list[str]:
    return [token.lstrip("-") for token in head.split(" Ar ", maxsplit=1)[0].split()[2:] if token != ","]


def _end_of_options(lines: list[str]) -> int:
    """The end of the page's first list of options."""
    first = next(number for number, line in enumerate(lines) if line.startswith(".It Fl "))
    return next(number for number in range(first, len(lines)) if lines[number] == ".El")


# -- shapes and settings


def _fields(name: str) -> str:
    shape = TABLES[name]
    keys = set(shape.key_names())
    width = max(shape.key_names(), key=len)
    items = [
        "\n".join([f".It Cm {field.alias or key}", *mdoc(field.description or "", keys)])
        for key, field in shape.model_fields.items()
    ]
    return "\n".join([f'.\\" Fields of {name}', f'.Bl -tag -width "{width}"', *items, ".El", '.\\" End of fields', ""])


def mdoc(text: str, keys: set[str]) -> list[str]:
    """A description as lines of mdoc: words in backquotes are keys or literal, and each sentence begins a line."""
    lines: list[str] = []
    place = 0
    for found in _TOKEN.finditer(text):
        lines.extend(_prose(text[place : found.start()]))
        word, after = found[1] or found[3], found[2] if found[1] else found[4]
        macro = "Xr" if found[3] else "Cm" if word.partition(".")[0] in keys else "Fl" if word[0] == "-" else "Ql"
        shown = word.removesuffix("(1)") + " 1" if found[3] else _escaped(word.removeprefix("-"))
        lines.append(f".{macro} {shown}{''.join(f' {sign}' for sign in after)}")
        place = found.end()
    lines.extend(_prose(text[place:]))
    return lines


def _escaped(word: str) -> str:
    word = word.replace("\\", "\\e")
    return f'"{word}"' if " " in word else word


def _prose(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.?!]) +(?=[A-Z`])", text.strip()):
        line = ""
        for word in sentence.replace("\\", "\\e").split():
            if line and len(line) + len(word) + 1 > _WIDTH:
                yield line
                line = ""
            line = f"{line} {word}".strip()
        if line:
            yield line


def _with_facts(text: str) -> str:
    """Type, default and variable of each setting."""
    bundled = yaml.safe_load((REPOSITORY / "defaults" / "settings.yaml").read_text(encoding="utf-8"))
    for key, kind in KINDS.items():
        value = bundled
        for part in key.split("."):
            value = value[part]
        facts = re.compile(
            rf"(?ms)(?P<above>^\.It Cm {re.escape(key)}\n(?:(?!^\.It Cm [\w.]+\.\w+\n).)*?)"
            r'^\.Bl -tag -width "Variable:" -compact\n\.It Type:\n.*?^\.El\n'
        )
        made = "\n".join(
            ['.Bl -tag -width "Variable:" -compact', ".It Type:", *_prose(kind.expected), ".It Default:",
             *_default(value), ".It Variable:", f".Ev {variable_of(key)}", ".El", ""]
        )  # fmt: skip
        found = facts.search(text)
        if found is None:
            raise SystemExit(f"vancectl-settings.1 has no type, default and variable of {key}")
        text = f"{text[: found.start()]}{found['above']}{made}{text[found.end() :]}"
    return text


def _default(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield ".Bd -literal -compact"
        yield json.dumps(value, indent=2)
        yield ".Ed"
    else:
        yield f".Ql {json.dumps(value)}"


def _with_section(text: str, title: str, body: str) -> str:
    start = text.index(f".Sh {title}\n") + len(f".Sh {title}\n")
    end = text.index("\n.Sh ", start) + 1
    return f"{text[:start]}{body}\n{text[end:]}"


if __name__ == "__main__":
    for each in sorted(FOLDER.glob("*.1")):
        each.write_text(current(each.name, each.read_text(encoding="utf-8")), encoding="utf-8")
