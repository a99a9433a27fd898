"""Recipes that are no Markdown with a header: goose's recipes, llm's templates, fabric's patterns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from vancectl.errors import Place
from vancectl.reading.document import Document
from vancectl.reading.finding import Finding
from vancectl.sources.source import Foreign
from vancectl.sources.words import derived_description, one_line

_VARIABLE = re.compile(r"\$\$|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_INPUT = "input"
# Names by which a recipe's author means the task itself.
_TASK = ("task", "prompt", "message", "input", "query", "request", "instructions")


def fabric_pattern(path: Path, file: str, text: str) -> Foreign | None:
    """Named by its folder; what it does is its first sentence."""
    name = Path(file).parent.name
    description = derived_description(text)
    if not description:
        return Foreign(name, None, (Finding("missing-field", Place(path), {"field": "description"}),))
    return Foreign(name, {"description": description, "derived": True})


def llm_template(path: Path, file: str, text: str) -> Foreign | None:
    """Named by its file. A prompt without `$input` has no place for a task; a system prompt alone has."""
    name = Path(file).stem
    document = Document.of_text(path, text)
    if document.root is None:
        return Foreign(name, None, tuple(document.findings[:1]))
    values = {key: document.plain(node) for key, _, node in document.pairs(document.root)}
    broken = [finding for finding in document.findings if finding.breaks]
    if broken:
        return Foreign(name, None, tuple(broken[:1]))
    system, prompt = (values.get(key) if isinstance(values.get(key), str) else "" for key in ("system", "prompt"))
    if not (system or prompt):
        return None
    variables = [first or second for first, second in _VARIABLE.findall(f"{system}\n{prompt}") if first or second]
    if prompt and _INPUT not in variables:
        return Foreign(name, None, (Finding("no-place-for-task", Place(path), {"program": "llm"}),))
    defaults = values.get("defaults") if isinstance(values.get("defaults"), dict) else {}
    requires = [each for each in dict.fromkeys(variables) if each != _INPUT and each not in (defaults or {})]
    fields: dict[str, Any] = {"description": derived_description(str(system or prompt)), "derived": True}
    model = values.get("model")
    if isinstance(model, str) and model:
        fields["params"] = {"model": model}
    fields |= {"requires": requires} if requires else {}
    accepts = [str(key) for key in defaults or {} if key in variables]
    return Foreign(name, {**fields, **({"accepts": accepts} if accepts else {})})


def goose_recipe(path: Path, file: str, text: str) -> Foreign | None:
    """Named by its file; the fields stand at the top or, as the desktop program writes them, below `recipe`."""
    name = Path(file).stem
    document = Document.of_text(path, text)
    if document.root is None:
        codes = {finding.code for finding in document.findings}
        return None if "two-documents" in codes else Foreign(name, None, tuple(document.findings[:1]))
    values = {key: document.plain(node) for key, _, node in document.pairs(document.root)}
    if isinstance(values.get("recipe"), dict):
        values = values["recipe"]
    if not values.keys() & {"title", "instructions", "prompt"}:
        return None
    for key in ("title", "description"):
        if not isinstance(values.get(key), str) or not values[key].strip():
            return Foreign(name, None, (Finding("missing-field", Place(path), {"field": key}),))
    fields: dict[str, Any] = {"description": one_line(values["description"]), "title": one_line(values["title"])}
    parameters = [each for each in values.get("parameters") or () if isinstance(each, dict)]
    requires = [str(each.get("key")) for each in parameters if each.get("requirement") == "required"]
    fields |= {"requires": requires} if requires else {}
    optional = {str(each.get("key")): each["default"] for each in parameters if "default" in each}
    fields |= {"params": optional, "accepts": list(optional)} if optional else {}
    takes = next((each for each in requires if each.lower() in _TASK), None)
    if takes is None and len(requires) == 1:
        takes = requires[0]
    findings = (Finding("task-has-no-place", Place(path), {"program": "goose"}),) if takes is None else ()
    return Foreign(name, {**fields, **({"taskParam": takes} if takes and takes.lower() in _TASK else {})}, findings)
