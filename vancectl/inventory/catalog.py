"""The engine catalog: what each engine is for, read from `catalog/engines.yaml` of the bundled defaults.

A broken catalog leaves the last good one in force, which is kept in the cache directory
(docs/design.md, section 3).
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from vancectl.disk.folders import cache_dir, defaults_dir
from vancectl.disk.storage import write_atomically
from vancectl.errors import CatalogError
from vancectl.reading.document import Document
from vancectl.reading.finding import Finding
from vancectl.text.names import did_you_mean, engine_name, near_names

ENGINE_FIELDS = ("purpose", "when_to_use", "not_for")


@dataclass(frozen=True, slots=True)
class Engine:
    """One entry of the catalog."""

    name: str
    purpose: str
    when_to_use: str
    not_for: str


@dataclass(frozen=True, slots=True)
class EngineCatalog:
    """The engines in the file's order. `findings` is not empty where `path` is the last good copy.

    `warnings` are findings that leave the catalog usable.
    """

    engines: tuple[Engine, ...]
    path: Path
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()

    @property
    def names(self) -> list[str]:
        return [engine.name for engine in self.engines]

    @property
    def stale(self) -> list[str]:
        """What is to be said where the last good copy stands in for a broken file."""
        return [
            f"the engine catalog is broken, the last good one is in force: {finding.line()}"
            for finding in self.findings
        ]

    def find(self, name: str) -> Engine:
        """Raises CatalogError with the nearest name."""
        for engine in self.engines:
            if engine.name == engine_name(name):
                return engine
        known = f"the engines are {', '.join(self.names)}"
        near = near_names(name, self.names, most=1)
        raise CatalogError(f"there is no engine `{name}`", remedy=did_you_mean(near, known))

    def render_for_prompt(self) -> str:
        """The markdown list that the model reads (docs/design.md, section 3)."""
        return "\n".join(
            f"- {engine.name}: {engine.purpose}\n  When to use: {engine.when_to_use}\n  Not for: {engine.not_for}"
            for engine in self.engines
        )


def load_catalog() -> EngineCatalog:
    """The bundled catalog, or the last good one where that is broken. Raises CatalogError where neither serves."""
    path = defaults_dir() / "catalog" / "engines.yaml"
    catalog = _read(path)
    kept = _last_good_path()
    if not catalog.findings:
        if kept is not None:
            _keep(path, kept)
        return catalog
    if kept is not None and _is_copy_of(path, kept):
        last_good = _read(kept)
        if not last_good.findings:
            return EngineCatalog(last_good.engines, kept, catalog.findings)
    finding = catalog.findings[0]
    raise CatalogError(
        f"the engine catalog is broken: {finding.sentence()}",
        where=finding.place,
        remedy=f"{finding.remedy()}, then run `vancectl catalog reload`",
    )


def _read(path: Path) -> EngineCatalog:
    """The engines of one file; where it has findings they are all there is."""
    document = Document.read(path)
    engines = _engines(document) if document.root is not None else []
    if document.broken:
        return EngineCatalog((), path, tuple(finding for finding in document.findings if finding.breaks))
    return EngineCatalog(tuple(engines), path, warnings=tuple(document.findings))


def _engines(document: Document) -> list[Engine]:
    engines: dict[str, Engine] = {}
    lines: dict[str, int] = {}
    for key, key_node, value in document.pairs(document.root):
        if key != "engines":
            document.add("unknown-key", key_node, key=key, known=("engines",), nearest_to=key, hint="")
            continue
        entries = document.mapping(value, "engines")
        for written, name_node, fields_node in document.pairs(entries) if entries is not None else ():
            name = engine_name(written)
            if name in lines:
                document.add("duplicate-key", name_node, key=name, first=lines[name])
            lines[name] = name_node.start_mark.line + 1
            place = f"engines.{name}"
            mapping = document.mapping(fields_node, place)
            texts = dict.fromkeys(ENGINE_FIELDS, "")
            for field, field_node, text_node in document.pairs(mapping) if mapping is not None else ():
                if field in texts:
                    texts[field] = " ".join((document.text(text_node, f"{place}.{field}") or "").split())
                else:
                    document.add("unknown-key", field_node, key=field, known=ENGINE_FIELDS, nearest_to=field, hint="")
            for field, text in texts.items():
                if not text:
                    document.add("missing-field", name_node, field=f"{place}.{field}")
            engines[name] = Engine(name, **texts)
    if not engines and not document.broken:
        document.add("missing-field", document.root, field="engines")
    return list(engines.values())


def _last_good_path() -> Path | None:
    cache = cache_dir()
    return cache / "engines.yaml" if cache is not None else None


def _keep(path: Path, kept: Path) -> None:
    """Remembers a good catalog. A cache that cannot be written only means that there is none later."""
    with contextlib.suppress(OSError):
        data = path.read_bytes()
        if not kept.exists() or kept.read_bytes() != data:
            _origin(kept).unlink(missing_ok=True)  # whatever becomes of us: it says of no file what another one held
            write_atomically(kept, data)
        if not _is_copy_of(path, kept):
            write_atomically(_origin(kept), os.fsencode(path))


def _origin(kept: Path) -> Path:
    """Which file the copy is of: there may be several, each with engines of its own."""
    return kept.with_suffix(".origin")


def _is_copy_of(path: Path, kept: Path) -> bool:
    try:
        return kept.exists() and _origin(kept).read_bytes() == os.fsencode(path)
    except OSError:
        return False
