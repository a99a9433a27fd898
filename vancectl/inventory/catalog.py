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
from vancectl.reading.compiled import PlainFinding, compiled, findings_of, plain_findings
from vancectl.reading.finding import Finding
from vancectl.text.names import did_you_mean, engine_name, near_names


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
    then = ", then run `vancectl catalog reload`"
    raise finding.of("the engine catalog is broken", CatalogError, then=then)


def _read(path: Path) -> EngineCatalog:
    """The engines of one file; where it has findings they are all there is."""
    engines, broken, warnings = compiled(path, "catalog", lambda: _said(path), keep=lambda said: not said[1])
    return EngineCatalog(
        tuple(Engine(*engine) for engine in engines), path, findings_of(broken, path), findings_of(warnings, path)
    )


def _said(path: Path) -> tuple[list[tuple[str, str, str, str]], list[PlainFinding], list[PlainFinding]]:
    """The engines, the findings that break the file, and those that leave it usable."""
    from vancectl.inventory.catalog_shape import CatalogShape
    from vancectl.reading.document import Document
    from vancectl.reading.reader import read_shape

    document = Document.read(path)
    shape = read_shape(CatalogShape, document)
    if shape is None or document.broken:
        return [], plain_findings([finding for finding in document.findings if finding.breaks]), []
    engines = [(name, each.purpose, each.when_to_use, each.not_for) for name, each in shape.engines.items()]
    return engines, [], plain_findings(document.findings)


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
