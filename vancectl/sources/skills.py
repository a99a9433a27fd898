"""Skills (a folder with a SKILL.md) and commands (a prompt in a file), as each program reads them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from vancectl.errors import Place
from vancectl.reading.finding import Finding
from vancectl.sources.header import Header, read_header
from vancectl.sources.source import Foreign
from vancectl.sources.words import first_heading, first_paragraph, one_line


def claude_skill(path: Path, file: str, text: str) -> Foreign | None:
    """Named by its folder, whatever `name` says; a description may be missing."""
    return _skill(path, Path(file).parent.name, text, "claude", needs=())


def codex_skill(path: Path, file: str, text: str) -> Foreign | None:
    """Named by `name`, else by its folder."""
    return _skill(path, "", text, "codex", needs=("description",), otherwise=Path(file).parent.name)


def opencode_skill(path: Path, file: str, text: str) -> Foreign | None:
    return _skill(path, "", text, "opencode", needs=("name", "description"), otherwise=Path(file).parent.name)


def gemini_skill(path: Path, file: str, text: str) -> Foreign | None:
    return _skill(path, "", text, "gemini", needs=("name", "description"), otherwise=Path(file).parent.name)


def claude_command(path: Path, file: str, text: str) -> Foreign | None:
    """`git/squash.md` is `git:squash`; the header may be missing, and the first heading then says what it does."""
    name = file.removesuffix(".md").replace("/", ":")
    header = read_header(path, text, "claude")
    if isinstance(header, Finding):
        return Foreign(name, None, (header,))
    body = header.body if header is not None else text
    description = one_line(header.text("description") or "") if header is not None else ""
    fields: dict[str, Any] = {"description": description or first_heading(body)}
    if not description:
        fields["derived"] = True
    if not fields["description"]:
        return Foreign(name, None, (Finding("missing-field", Place(path), {"field": "description"}),))
    hint = header.values.get("argument-hint") if header is not None else None
    if hint is not None:
        fields["argumentHint"] = str(hint) if not isinstance(hint, list) else f"[{', '.join(map(str, hint))}]"
    if header is not None and header.values.get("disable-model-invocation") is True:
        fields["internal"] = True
    return Foreign(name, fields, tuple(header.findings) if header is not None else ())


def gemini_command(path: Path, file: str, text: str) -> Foreign | None:
    """TOML with a `prompt`; `git/squash.toml` is `git:squash`."""
    name = file.removesuffix(".toml").replace("/", ":")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return Foreign(name, None, (Finding("bad-toml", Place(path), {"problem": str(error)}),))
    prompt = document.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        return Foreign(name, None, (Finding("missing-field", Place(path), {"field": "prompt"}),))
    described = document.get("description")
    if isinstance(described, str) and described.strip():
        return Foreign(name, {"description": one_line(described)})
    return Foreign(name, {"description": first_heading(prompt), "derived": True})


def _skill(
    path: Path, name: str, text: str, program: str, *, needs: tuple[str, ...], otherwise: str = ""
) -> Foreign | None:
    header = read_header(path, text, program)
    if isinstance(header, Finding):
        return Foreign(name or otherwise, None, (header,))
    if header is None:
        if needs:
            return Foreign(name or otherwise, None, (Finding("no-header", Place(path, 1), {"program": program}),))
        header = Header({}, {}, [], text)
    called = name or (header.text("name") or otherwise).strip()
    for key in needs:
        if header.text(key) is None:
            return Foreign(called, None, (Finding("missing-field", header.place(path, key), {"field": key}),))
    description = one_line(header.text("description") or "")
    fields: dict[str, Any] = {"description": description or first_paragraph(header.body)}
    if not description:
        fields["derived"] = True
    if not fields["description"]:
        return Foreign(called, None, (Finding("missing-field", Place(path), {"field": "description"}),))
    if header.values.get("disable-model-invocation") is True:
        fields["internal"] = True
    phrases = header.texts("triggers")
    if phrases:
        fields["triggers"] = {"keywords": list(dict.fromkeys(phrases)), "match": "word"}
    return Foreign(called, fields, tuple(header.findings))
