"""Rules by which people's own prompt hooks name skills (`skill-rules.json`), and the recipes that say the same.

A keyword becomes a trigger phrase. A pattern becomes phrases where it is nothing but words and alternatives; what
phrases cannot say is listed, so that its author can decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from vancectl.errors import Place, UsageError
from vancectl.text.comparison import normalise_phrase
from vancectl.text.encoding import decode
from vancectl.text.strict_json import read_json

_MOST_PHRASES = 24
_ALTERNATIVES = re.compile(r"\((?:\?:)?([^()]*)\)")
_PLAIN = re.compile(r"[\w' /-]+")
_KEYS = {"description", "promptTriggers"}
_TRIGGERS = {"keywords", "intentPatterns"}
# What only says how a hook of one's own behaves.
_OF_THE_HOOK = {"type", "priority"}
# What a recipe does as well: it is named, and nothing is blocked for it.
_ALREADY_SO = (("enforcement", "suggest"), ("enforcement", "warn"))


class SkillRule(NamedTuple):
    """One skill: its phrases, and what of the rule has no place in a recipe."""

    name: str
    description: str
    phrases: list[str]
    left: list[str]


def read_skill_rules(path: Path) -> list[SkillRule]:
    """Raises UsageError for what is no such file."""
    try:
        text = decode(path.read_bytes(), path)
        document = read_json(text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be read: {reason}", where=Place(path), remedy="name a file that is there") from None
    except ValueError as error:
        raise UsageError(f"is not JSON: {error}", where=Place(path), remedy="fix it, or name another file") from None
    skills = document.get("skills", document) if isinstance(document, dict) else None
    found = {name: rule for name, rule in (skills or {}).items() if isinstance(rule, dict) and name[:1] != "_"}
    if not any("promptTriggers" in rule for rule in found.values()):
        raise UsageError("names no skill with `promptTriggers`", where=Place(path), remedy="name a skill-rules.json")
    return [_rule(name, rule) for name, rule in found.items()]


def rule_text(rule: SkillRule, description: str, file: str) -> str:
    """The recipe's file. What phrases cannot say is in it as comments."""

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    lines = [f"# From {file}; nothing reads that file any more for this recipe."]
    lines += [f"# Not taken over: {each}" for each in rule.left]
    lines += [f"description: {quoted(description)}", "engine: ford"]
    if rule.phrases:
        lines += ["triggers:", "  match: word", "  keywords:", *(f"    - {quoted(phrase)}" for phrase in rule.phrases)]
    return "\n".join(lines) + "\n"


def _rule(name: str, rule: Mapping[str, Any]) -> SkillRule:
    triggers = rule.get("promptTriggers")
    triggers = triggers if isinstance(triggers, dict) else {}
    phrases, left = list(_texts(triggers.get("keywords"))), []
    for pattern in _texts(triggers.get("intentPatterns")):
        said = phrases_of(pattern)
        phrases += said
        if not said:
            left.append(f"the pattern {_one_line(pattern)}")
    left += [f"promptTriggers.{key}" for key in triggers if key not in _TRIGGERS]
    left += [
        f"{key}: {_one_line(value)}"
        for key, value in rule.items()
        if key not in _KEYS | _OF_THE_HOOK and (key, value) not in _ALREADY_SO
    ]
    unique: dict[str, str] = {}
    for phrase in phrases:
        if folded := normalise_phrase(phrase):
            unique.setdefault(folded, phrase)
    description = rule.get("description")
    return SkillRule(name, description if isinstance(description, str) else "", list(unique.values()), left)


def phrases_of(pattern: str) -> list[str]:
    """What a regular expression of words and alternatives stands for; nothing where it says more than that."""
    plain = re.sub(r"\\s[+*]?|\\b|\^|\$", lambda found: " " if found[0].startswith("\\s") else "", pattern)
    choices: list[Sequence[str]] = []
    end = 0
    for found in _ALTERNATIVES.finditer(plain):
        choices += [[plain[end : found.start()]], found[1].split("|")]
        end = found.end()
    choices.append([plain[end:]])
    if len(choices) == 1 and "|" in plain:
        choices = [plain.split("|")]
    said = [" ".join("".join(words).split()) for words in product(*choices)]
    return said if len(said) <= _MOST_PHRASES and all(map(_PLAIN.fullmatch, said)) else []


def _texts(value: object) -> Iterator[str]:
    yield from (each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _one_line(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:200]
