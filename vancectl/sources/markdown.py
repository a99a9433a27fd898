"""Agents in Markdown: Claude Code's, those of its plugins, opencode's and Copilot's. A header, then a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vancectl.errors import Place
from vancectl.reading.finding import Finding
from vancectl.sources.header import Header, read_header
from vancectl.sources.source import Foreign
from vancectl.sources.words import derived_description, one_line

# What a header may hold that has its program run others, or ask no one before it acts.
_RUNS = ("hooks", "mcpServers", "permissionMode")
_INHERIT = "inherit"
_STARTABLE = ("primary", "all")


def claude_agent(path: Path, file: str, text: str) -> Foreign | None:
    """Named by `name`; neither name nor description makes another kind of file."""
    header = read_header(path, text, "claude")
    if not isinstance(header, Header):
        return Foreign(Path(file).stem, None, (header,)) if header is not None else None
    if not header.values.keys() & {"name", "description"}:
        return None
    name = header.text("name")
    fault = _missing(path, header, "name", name) or _missing(path, header, "description", header.text("description"))
    if fault is not None or name is None:
        return Foreign(name or Path(file).stem, None, (fault,))
    return Foreign(name.strip(), _fields(header), (*header.findings, *_runs_programs(path, header)))


def plugin_agent(path: Path, file: str, text: str) -> Foreign | None:
    """`PLUGIN/agents/SUB/FILE.md` is `PLUGIN:SUB:NAME`, where a `plugin.json` makes a plugin of the folder."""
    parts = file.split("/")
    read = claude_agent(path, file, text)
    if read is None or "agents" not in parts[1:-1]:
        return None
    below = parts.index("agents", 1)
    plugin = parts[below - 1]
    return read._replace(name=":".join([plugin, *parts[below + 1 : -1], read.name]))


def opencode_agent(path: Path, file: str, text: str) -> Foreign | None:
    """Named by `name`, else by its path; only one that may be started by hand is a candidate."""
    header = read_header(path, text, "opencode")
    named = file.removesuffix(".md")
    if not isinstance(header, Header):
        return Foreign(named, None, (header,)) if header is not None else None
    name = header.text("name") or named
    if isinstance(header.values.get("tools"), str):
        data = {"field": "tools", "expected": "a mapping of tool to true or false", "found": "text"}
        return Foreign(name, None, (Finding("wrong-type", header.place(path, "tools"), data),))
    if str(header.values.get("mode") or "all") not in _STARTABLE:
        return Foreign(name, None, (Finding("not-startable", header.place(path, "mode"), {"program": "opencode"}),))
    fields = _fields(header)
    findings = list(header.findings)
    if not fields["description"]:
        fields |= {"description": derived_description(header.body), "derived": True}
    if not fields["description"]:
        return Foreign(name, None, (Finding("missing-field", Place(path), {"field": "description"}),))
    return Foreign(name, fields, tuple(findings))


def copilot_agent(path: Path, file: str, text: str) -> Foreign | None:
    """Named by its file; the name in it is a title."""
    name = Path(file).name.removesuffix(".agent.md")
    header = read_header(path, text, "Copilot")
    if not isinstance(header, Header):
        return Foreign(name, None, (header or Finding("no-header", Place(path, 1), {"program": "Copilot"}),))
    fault = _missing(path, header, "description", header.text("description"))
    if fault is not None:
        return Foreign(name, None, (fault,))
    return Foreign(name, {**_fields(header), "title": header.text("name") or name}, tuple(header.findings))


def _fields(header: Header) -> dict[str, Any]:
    params: dict[str, Any] = {}
    model = header.values.get("model")
    first = next(iter(model), None) if isinstance(model, list) else model
    if isinstance(first, str) and first.strip() not in {"", _INHERIT}:
        params["model"] = first.strip()
    if isinstance(header.values.get("temperature"), int | float):
        params["temperature"] = header.values["temperature"]
    tools = header.texts("tools")
    return {
        "description": one_line(header.text("description") or ""),
        **({"params": params} if params else {}),
        **({"allowedTools": tools} if tools else {}),
    }


def _missing(path: Path, header: Header, key: str, text: str | None) -> Finding | None:
    if text is not None:
        return None
    if header.values.get(key) in (None, ""):
        return Finding("missing-field", header.place(path, key), {"field": key})
    kind = "a list" if isinstance(header.values[key], list) else "no text"
    return Finding("wrong-type", header.place(path, key), {"field": key, "expected": "text", "found": kind})


def _runs_programs(path: Path, header: Header) -> list[Finding]:
    found = [key for key in _RUNS if header.values.get(key)]
    return [Finding("runs-programs", header.place(path, found[0]), {"fields": ", ".join(found)})] if found else []
