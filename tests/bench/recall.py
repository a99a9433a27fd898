"""Measures the shortlist on the suites of routing-bench: is the right recipe among the first k, and at what cost?

Beside each figure stands that of plain SQLite FTS5 BM25, taken in the same run: ratios outlive a change of machine.

    python tests/bench/recall.py [--suites DIR]
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, quantiles
from time import perf_counter
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))  # as a script, this file sees its own folder only

from vancectl.selector.shortlist.ranker import LexicalRanker, Ranker, RecipeText  # noqa: E402

SUITES = REPOSITORY.parent / "shared" / "routing-bench"


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    texts: list[RecipeText]
    cases: list[tuple[str, list[int]]]  # task, the recipe that fits
    multi: list[tuple[str, list[int]]]  # task, the recipes that it needs together


@dataclass(frozen=True, slots=True)
class Measured:
    recall: dict[int, float]  # k → share of the wanted recipes within the first k
    multi: float | None  # the same for the tasks that need several, k = 50
    build: float  # seconds
    mean: float  # seconds a task
    p95: float


class Fts5Ranker:
    """What a few lines of SQLite give, then what they did not find, in the inventory's order: the baseline."""

    def __init__(self, texts: Sequence[RecipeText]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE recipe USING fts5(text, tokenize='porter unicode61')")
        rows = [
            (index, " ".join([text.name, text.title, text.description, *text.phrases]))
            for index, text in enumerate(texts)
        ]
        self._database.executemany("INSERT INTO recipe(rowid, text) VALUES (?, ?)", rows)
        self._all = range(len(texts))

    def rank(self, task: str) -> list[int]:
        words = dict.fromkeys(re.findall(r"\w+", task.lower())) or [""]  # the empty phrase is found nowhere
        query = " OR ".join(f'"{word}"' for word in words)
        found = self._database.execute("SELECT rowid FROM recipe WHERE recipe MATCH ? ORDER BY rank, rowid", [query])
        return list(dict.fromkeys([*(rowid for (rowid,) in found), *self._all]))


def load_suite(folder: Path) -> Suite:
    texts = [_recipe_text(path) for path in sorted((folder / "inventory").glob("*.yaml"))]
    places = {text.name: index for index, text in enumerate(texts)}
    in_scope = [case for case in _lines(folder / "cases.jsonl") if case["expect"] != "NONE"]
    return Suite(
        folder.name,
        texts,
        [(case["task"], [places[case["expect"]]]) for case in in_scope],
        [(case["task"], [places[name] for name in case["expect_all"]]) for case in _lines(folder / "multi.jsonl")],
    )


def _recipe_text(path: Path) -> RecipeText:
    fields = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    phrases = fields.get("triggers", {}).get("keywords", ())
    return RecipeText(path.stem, fields.get("title", ""), fields["description"], tuple(phrases), ())


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():  # most suites have no tasks that need several recipes
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(suite: Suite, make: Callable[[Sequence[RecipeText]], Ranker]) -> Measured:
    start = perf_counter()
    ranker = make(suite.texts)
    build = perf_counter() - start
    rankings, seconds = [], []
    for task, _ in suite.cases:
        start = perf_counter()
        rankings.append(ranker.rank(task))
        seconds.append(perf_counter() - start)
    wanted = [fitting for _, fitting in suite.cases]
    multi = [ranker.rank(task) for task, _ in suite.multi]
    return Measured(
        {k: _recall(rankings, wanted, k) for k in (5, 10, 50)},
        _recall(multi, [fitting for _, fitting in suite.multi], 50) if multi else None,
        build,
        fmean(seconds),
        quantiles(seconds, n=20)[-1],
    )


def _recall(rankings: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]], k: int) -> float:
    found = [
        len(set(ranking[:k]).intersection(fitting)) / len(fitting)
        for ranking, fitting in zip(rankings, wanted, strict=True)
    ]
    return fmean(found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall and cost of the shortlist on the suites of routing-bench.")
    parser.add_argument("--suites", type=Path, default=SUITES, metavar="DIR", help="the folder routing-bench")
    folder: Path = parser.parse_args().suites
    suites = [load_suite(path.parent) for path in sorted(folder.glob("*/cases.jsonl"))]
    if not suites:
        print(f"No suites in {folder}: nothing measured. Name the folder routing-bench with --suites DIR.")
        return
    print(
        f"{'suite':20} {'ranker':8} {'recipes':>7} {'cases':>5} {'r@5':>6} {'r@10':>6} {'r@50':>6} {'multi@50':>8}"
        f" {'index s':>7} {'ms/task':>7} {'p95':>6}"
    )
    for suite in suites:
        ours, baseline = measure(suite, LexicalRanker), measure(suite, Fts5Ranker)
        for name, measured in (("lexical", ours), ("fts5", baseline)):
            recall = " ".join(f"{measured.recall[k]:6.3f}" for k in (5, 10, 50))
            multi = "-" if measured.multi is None else f"{measured.multi:.3f}"
            print(
                f"{suite.name:20} {name:8} {len(suite.texts):7} {len(suite.cases):5} {recall} {multi:>8}"
                f" {measured.build:7.3f} {measured.mean * 1e3:7.2f} {measured.p95 * 1e3:6.2f}"
            )
        print(
            f"{suite.name:20} {'ratio':8} {'':13} {'':13} {ours.recall[50] / baseline.recall[50]:6.3f} {'':8}"
            f" {ours.build / baseline.build:7.1f} {ours.mean / baseline.mean:7.2f} {ours.p95 / baseline.p95:6.2f}"
        )


if __name__ == "__main__":
    main()
