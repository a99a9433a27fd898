"""What of an applied recipe the spawn command hands over to its program, in the program's words, and what it drops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vancectl.delegation.applied import AppliedRecipe
from vancectl.inventory.recipe import TOOL_LISTS
from vancectl.model.model import ModelError, resolve_models
from vancectl.process.command import PARAM_PREFIX, CommandTemplate, uses
from vancectl.text.printable import plain_line

LISTS = (*TOOL_LISTS, "allowedSkills", "defaultActiveSkills")
# What a recipe may ask of a program beside its prompt. Params of engines, such as heads and phases, are no program's.
_PARAMS = ("model", "provider", "maxTokens", "temperature", "topP", "topK", "stopSequences", "maxIterations", "mode")
_FIELDS = (*LISTS, "modes", "promptMode", "dataRelayCorrection", "guard", "session")
# What a prompt can bring about where its template names it.
_IN_PROMPT = ("mode", "provider")
_GRANT = "allowedToolsAdd"
_APPENDED = "append"  # promptMode's default, which every program keeps
_NOT_TRUSTED = "; trust.folders does not cover where the recipe comes from"
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Handover:
    """`values` are for the placeholders of the command, `params` those of the recipe in the program's words.

    `dropped` names what the program does not learn, each with its value.
    """

    values: dict[str, str]
    params: dict[str, Any]
    dropped: list[str]


def hand_over(applied: AppliedRecipe, template: CommandTemplate, aliases: Mapping[str, str]) -> Handover:
    """Never raises: what cannot be handed over is named."""
    words = _Words(template)
    models, known = _models(applied.params, aliases), words.of
    first, others = known("model", models[:1]), known("model", models[1:])
    values = {
        "model": ",".join(first),
        "fallback_models": ",".join(others if first else []),
        **{name: ",".join(known(name, _granted(name, applied))) for name in LISTS},
    }
    params = {**applied.params, **({"model": models[0]} if models else {})}
    dropped = []
    for name in _PARAMS:
        given = applied.params.get(name)
        if _is_nothing(given):
            continue
        placeholder = PARAM_PREFIX + name
        if placeholder in words.translated:
            params[name] = next(iter(known(placeholder, [given])), None)
        told = params[name] is not None and uses(template, placeholder)
        if name == "model" and first and uses(template, "model"):
            told, given = not others or uses(template, "fallback_models"), ", ".join(models[1:]) or given
        if not (told or words.holds(name) or _in_prompt(name, applied)):
            dropped.append(_named(name, [given]))
    for name in _FIELDS:
        given = applied.fields.get(name)
        if _is_nothing(given) or given == _APPENDED or words.holds(name):
            continue
        items: list[Any] = list(given) if name in LISTS and isinstance(given, list) else [given]
        used, granted = uses(template, name), _granted(name, applied)
        left = [item for item in items if not (used and item in granted and known(name, [item]))]
        if left:
            dropped.append(_named(name, left, _NOT_TRUSTED if used and not granted else ""))
    return Handover(values, params, dropped)


def _is_nothing(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _granted(name: str, applied: AppliedRecipe) -> list[str]:
    """A list of the recipe; but who may come with a clone, or was written by a model, allows itself no tools."""
    return list(applied.fields.get(name) or ()) if name != _GRANT or applied.trusted else []


class _Words:
    """What the command's program calls the values of a recipe, and what holds for it without being told."""

    def __init__(self, template: CommandTemplate) -> None:
        preset = template.preset
        self._values = preset.values if preset is not None else {}
        self._passes = preset.passes if preset is not None else ()
        self.translated = frozenset(self._values)
        is_worker = preset is not None and preset.is_worker
        # Who reads the payload has all of it; our own worker says which of it it heeds.
        self._whole = not is_worker and (template.stdin == "payload" or uses(template, "payload_file"))

    def holds(self, name: str) -> bool:
        """Whether it holds without an argument."""
        return self._whole or name in self._passes

    def of(self, placeholder: str, given: Sequence[Any]) -> list[Any]:
        """The values in the program's words, without those that it does not know."""
        patterns = self._values.get(placeholder)
        if patterns is None:
            return list(given)
        return [word for value in given for word in _translated(str(value), patterns)]


def _translated(value: str, patterns: Mapping[str, str]) -> list[str]:
    return next(([word or value] for pattern, word in patterns.items() if re.fullmatch(pattern, value)), [])


def _models(params: Mapping[str, Any], aliases: Mapping[str, str]) -> list[str]:
    """The models behind the recipe's; none where its alias leads nowhere."""
    wanted = str(params.get("model") or "")
    try:
        return resolve_models(wanted, aliases) if wanted else []
    except ModelError:
        return []


def _in_prompt(name: str, applied: AppliedRecipe) -> bool:
    """Whether the recipe's own prompt says it; what the prompt cannot bring about, such as a limit, is not said so."""
    if name not in _IN_PROMPT:
        return False
    prompt = str(applied.fields.get("promptPrefix") or "")
    return any(re.search(rf"\b{name}\b", part) for part in re.findall(r"\{[{%].*?[%}]\}", prompt, re.DOTALL))


def _named(name: str, values: Sequence[Any], why: str = "") -> str:
    shown = plain_line(", ".join("…" if isinstance(value, dict | list) else str(value) for value in values))
    return f"{name} ({shown if len(shown) <= _LONGEST else shown[:_LONGEST] + '…'}{why})"
