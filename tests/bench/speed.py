"""Prints how fast the command is: each figure a ratio against a plain yardstick measured in the same run.

    python tests/bench/speed.py [--suites DIR] [--peers VENV] [--rounds N]

Runs alternate with their yardstick, and medians are compared, since machines are noisy. `--peers` names a virtual
environment with `llm`, `pre-commit` and `semantic-router`: they are measured too, where they do the same.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
VANCECTL = Path(sys.executable).with_name("vancectl")
IMPORT_TYPER: list[str | Path] = [sys.executable, "-c", "import typer"]
IMPORT_ANTHROPIC: list[str | Path] = [sys.executable, "-c", "import anthropic"]


Argv = list[str | Path]

INITIALIZE = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}'


class Bench:
    """Where files are laid, and how commands are run: never with the caller's own configuration or cache."""

    def __init__(self, root: Path, suites: Path, peers: Path | None, rounds: int) -> None:
        self.root = root
        self.suites = suites
        self.peers = peers
        self.rounds = rounds
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "LANG": "C.UTF-8",
            "VANCECTL_CACHE_DIR": str(root / "cache"),
        }

    def once(self, argv: Argv, **variables: str) -> float:
        """Seconds of wall time of one run."""
        started = time.perf_counter()
        subprocess.run(
            list(map(str, argv)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.root,
            env={**self.environment, **variables},
            check=False,
        )
        return time.perf_counter() - started

    def medians(self, *commands: Argv) -> list[float]:
        """The median of each command, run in turn."""
        for command in commands:
            self.once(command)
        times = [[self.once(command) for command in commands] for _ in range(self.rounds)]
        return [statistics.median(column) for column in zip(*times, strict=True)]

    def library(self, count: int, phrases: int = 0) -> Path:
        """A folder with `count` recipes, each with its own `phrases`; old enough for a cache to believe its times."""
        folder = self.root / f"library-{count}-{phrases}"
        if not folder.exists():
            folder.mkdir()
            for number in range(count):
                keywords = "".join(f"\n    - do job {number} as way {way} says" for way in range(phrases))
                triggers = f"triggers:\n  keywords:{keywords}\n" if phrases else ""
                text = (
                    f"description: Does job number {number} of a large library, and no other.\nengine: ford\n{triggers}"
                )
                (folder / f"job-{number}.yaml").write_text(text)
            time.sleep(2.1)
        return folder


def row(what: str, figure: str, goal: str, absolute: str) -> None:
    print(f"| {what} | {figure} | {goal} | {absolute} |", flush=True)


def milliseconds(*seconds: float) -> str:
    return " / ".join(f"{each * 1000:.0f} ms" for each in seconds)


def starts(bench: Bench) -> None:
    """A start, against what Typer alone costs."""
    complete: Argv = [
        "env", "_VANCECTL_COMPLETE=complete_bash", "COMP_WORDS=vancectl recipes show py", "COMP_CWORD=3", VANCECTL,
    ]  # fmt: skip
    commands: dict[str, Argv] = {
        "`select TASK` answered by a trigger": [VANCECTL, "select", "run python script.py"],
        "`--help`": [VANCECTL, "--help"],
        "`--version`": [VANCECTL, "--version"],
        "completion of a recipe's name": complete,
    }
    base, *times = bench.medians(IMPORT_TYPER, *commands.values())
    for what, seconds in zip(commands, times, strict=True):
        row(f"{what}, against `import typer`", f"{seconds / base:.2f}", "≤ 1.3", milliseconds(seconds, base))
    entrances: dict[str, tuple[Argv, str]] = {
        "`hook`, a prompt decided by a trigger": (
            ["sh", "-c", f"echo '{{\"prompt\": \"run python script.py\"}}' | {VANCECTL} hook"], "≤ 1.3"
        ),
        "`mcp`, from its start to the answer to `initialize`": (
            ["sh", "-c", f"echo '{INITIALIZE}' | {VANCECTL} mcp"], "≤ 1.5"
        ),
    }  # fmt: skip
    base, *times = bench.medians(
        ["sh", "-c", f"{IMPORT_TYPER[0]} -c 'import typer'"], *[each[0] for each in entrances.values()]
    )
    for (what, (_, goal)), seconds in zip(entrances.items(), times, strict=True):
        row(f"{what}, against `import typer`", f"{seconds / base:.2f}", goal, milliseconds(seconds, base))


def listing(bench: Bench) -> None:
    folder = bench.suites / "seal-tools-4k" / "inventory"
    if folder.is_dir():
        listed, found, base = bench.medians(
            [VANCECTL, "recipes", "list", "--json", "--recipes", folder],
            ["find", folder, "-name", "*.yaml", "-printf", "%T@ %s\n"],
            IMPORT_TYPER,
        )
        row(
            "`recipes list --json`, 4,076 recipes, against `find` plus `import typer`",
            f"{listed / (found + base):.2f}", "≤ 1.5", milliseconds(listed, found + base),
        )  # fmt: skip
    few, many = bench.medians(
        [VANCECTL, "recipes", "list", "--json", "--recipes", bench.library(10)],
        [VANCECTL, "recipes", "list", "--json", "--recipes", bench.library(10_000)],
    )
    cost = (many - few) / 9_990 * 1e6
    row("the same, 10 and 10,000 recipes: a recipe more", f"{cost:.1f} µs", "≤ 15 µs", milliseconds(few, many))


def sources(bench: Bench) -> None:
    """Agents of another program, 1,163 of them as in three public collections, beside the bundled recipes."""
    agents = bench.root / "agents"
    agents.mkdir()
    for number in range(1_163):
        text = f"Handles the work of number {number}. Use it when a task is about that number, and for nothing else."
        body = "You are an expert.\n" * 60
        header = f"---\nname: agent-{number}\ndescription: {text}\nmodel: inherit\ntools: Read, Grep\n---\n"
        (agents / f"agent-{number}.md").write_text(header + body)
    (bench.root / "none").mkdir()
    time.sleep(2.1)  # a cache believes no times as young as that
    words: Argv = [VANCECTL, "select", "run python script.py", "--set"]
    setting = 'sources={{"mine": {{"format": "claude-agent", "path": "{}"}}}}'
    few, many = bench.medians([*words, setting.format(bench.root / "none")], [*words, setting.format(agents)])
    cost = (many - few) / 1_163 * 1e6
    row("`select` with 1,163 agents of another program: an entry", f"{cost:.1f} µs", "≤ 15 µs", milliseconds(few, many))


def one_changed_file(bench: Bench) -> None:
    """Counted in the cascade itself, not timed."""
    folder = bench.library(10_000)
    bench.once([VANCECTL, "recipes", "list", "--json", "--recipes", folder])
    changed = folder / "job-77.yaml"
    changed.write_text(changed.read_text().replace("no other", "nothing else"))
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from vancectl.inventory.cascade import Cascade
        from vancectl.inventory.layer import find_layers
        cascade = Cascade(find_layers(Path.cwd(), directories=[Path({str(folder)!r})]))
        list(cascade.entries())
        print(cascade.parsed)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=bench.environment, check=True
    )
    row("one changed file of 10,000: files parsed", done.stdout.strip(), "1", "")


def batches(bench: Bench) -> None:
    suite = bench.suites / "gbrain-skills"
    if not suite.is_dir():
        return
    tasks = bench.root / "tasks.txt"
    cases = [json.loads(line)["task"] for line in (suite / "cases.jsonl").read_text().splitlines()]
    answered = [
        case for case in cases
        if decided_by_trigger(bench, case, suite / "inventory")
    ] if not tasks.exists() else []  # fmt: skip
    count = 1_000_000
    if answered:
        with tasks.open("w") as file:
            file.writelines(answered[number % len(answered)] + "\n" for number in range(count))
    seconds, memory, first = batch(bench, tasks, suite / "inventory")
    row(
        "`select --batch`, a million tasks, 69 recipes, 507 phrases", f"{count / seconds:,.0f} tasks/s", "≥ 150,000",
        f"{seconds:.1f} s, {memory:.0f} MB at most (< 150), first answer after {first * 1000:.0f} ms",
    )  # fmt: skip
    large = bench.root / "large.txt"
    with large.open("w") as file:
        file.writelines(f"please do job {number % 10_000} as way 3 says, and quickly\n" for number in range(count))
    more, memory, first = batch(bench, large, bench.library(10_000, 5))
    row(
        "the same, 10,000 recipes, 50,000 phrases, against the row above", f"{seconds / more:.2f}", "≥ 0.5",
        f"{count / more:,.0f} tasks/s, {memory:.0f} MB at most, first answer after {first * 1000:.0f} ms",
    )  # fmt: skip
    if bench.peers is not None:
        peer_batch(bench, tasks, suite / "inventory", seconds / count)


def decided_by_trigger(bench: Bench, task: str, folder: Path) -> bool:
    """Asked in process, through the same selector as the command's."""
    index = INDEXES.get(folder)
    if index is None:
        from vancectl.inventory.cascade import Cascade
        from vancectl.inventory.inventory import take_inventory
        from vancectl.inventory.layer import find_layers
        from vancectl.selector.triggers.index import TriggerIndex, single_recipe

        inventory = take_inventory(Cascade(find_layers(bench.root, directories=[folder]), use_cache=False))
        trigger_index = TriggerIndex(inventory.recipes, many_tasks=True)

        def decide(text: str) -> bool:
            return single_recipe(trigger_index.hits(text)) is not None

        index = INDEXES[folder] = decide
    return index(task)


INDEXES: dict[Path, Callable[[str], bool]] = {}


def batch(bench: Bench, tasks: Path, folder: Path) -> tuple[float, float, float]:
    """Seconds of the whole, megabytes at the peak, seconds until the first answer; pinned to one core."""
    command: Argv = ["taskset", "-c", "0", VANCECTL, "batch", tasks, "--recipes", folder]
    bench.once([*command[:-3], "/dev/null", "--recipes", folder])
    started = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=bench.environment,
        cwd=bench.root,
    )
    assert process.stdout is not None
    process.stdout.readline()
    first = time.perf_counter() - started
    while process.stdout.read(1 << 20):
        pass
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.perf_counter() - started, usage.ru_maxrss / 1024, first


def peer_batch(bench: Bench, tasks: Path, folder: Path, ours: float) -> None:
    """semantic-router's TF-IDF encoder with the phrases as utterances: vectors of tasks, the nearest phrase wins."""
    assert bench.peers is not None
    script = textwrap.dedent(
        f"""
        import sys, time, yaml, numpy as np
        from pathlib import Path
        from semantic_router import Route
        from semantic_router.encoders import TfidfEncoder
        routes = []
        for path in sorted(Path({str(folder)!r}).glob("*.yaml")):
            keywords = (yaml.safe_load(path.read_text()).get("triggers") or {{}}).get("keywords") or []
            if keywords:
                routes.append(Route(name=path.stem, utterances=[str(k) for k in keywords]))
        encoder = TfidfEncoder()
        encoder.fit(routes)
        utterances = [(route.name, text) for route in routes for text in route.utterances]
        vectors = encoder([text for _, text in utterances])
        size = max(int(v.embedding[:, 0].max()) for v in vectors if len(v.embedding)) + 1
        matrix = np.zeros((len(vectors), size + 1))
        for i, v in enumerate(vectors):
            for j, x in v.embedding:
                matrix[i, int(j)] = x
        tasks = open({str(tasks)!r}).read().splitlines()[:20000]
        start = time.perf_counter()
        for task in tasks:
            [v] = encoder([task])
            dense = np.zeros(size + 1)
            for j, x in v.embedding:
                if int(j) <= size:
                    dense[int(j)] = x
            utterances[int((matrix @ dense).argmax())][0]
        print((time.perf_counter() - start) / len(tasks))
        """
    )
    done = subprocess.run(
        [bench.peers / "bin" / "python", "-c", script],
        capture_output=True,
        text=True,
        env=bench.environment,
        check=False,
    )
    if done.returncode:
        row("semantic-router, TF-IDF over the same phrases", "not measured", "", done.stderr.strip()[-120:])
        return
    peer = float(done.stdout)
    row(
        "semantic-router 1.1, TF-IDF over the same phrases, a task against ours", f"{peer / ours:.0f} ×", "",
        f"{1 / peer:,.0f} tasks/s",
    )  # fmt: skip


def model_stage(bench: Bench) -> None:
    """All that surrounds a reply which is there at once, against the SDK's import alone."""
    sys.path.insert(0, str(REPOSITORY))
    from tests.messages_server import MessagesServer, none

    with MessagesServer() as server:
        server.reply(none("nothing"))
        bench.environment |= {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
        asked, base = bench.medians([VANCECTL, "select", "a mind map about Python"], IMPORT_ANTHROPIC)
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        del bench.environment[name]
    row("model stage, over `import anthropic`", f"{asked - base:+.2f} s", "≤ +0.15 s", milliseconds(asked, base))


def memory(bench: Bench) -> None:
    folder = bench.library(10_000)
    command: Argv = [
        VANCECTL,
        "select",
        "run python",
        "--recipes",
        folder,
        "--set",
        "selector.backend=off",
        "--model",
        "m",
    ]
    bench.once(command)
    process = subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=bench.environment,
        cwd=bench.root,
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    row("peak memory of `select`, 10,000 recipes", f"{usage.ru_maxrss / 1024:.0f} MB", "< 120 MB", "")


def peers(bench: Bench) -> None:
    if bench.peers is None:
        return
    programs = bench.peers / "bin"
    listed, templates, version, base = bench.medians(
        [VANCECTL, "recipes", "list"], [programs / "llm", "templates", "list"],
        [programs / "pre-commit", "--version"], IMPORT_TYPER,
    )  # fmt: skip
    row("`llm templates list`, against our `recipes list`", f"{templates / listed:.1f} ×", "",
        milliseconds(templates, listed))  # fmt: skip
    row("`pre-commit --version`, against `import typer`", f"{version / base:.2f}", "", milliseconds(version, base))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--suites", type=Path, default=REPOSITORY.parent / "shared" / "routing-bench")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="*", help="names of the parts to run")
    options = parser.parse_args()
    if not options.suites.is_dir():
        print(f"the suites are not at {options.suites}: the rows that need them are left out", file=sys.stderr)
    parts = (starts, listing, sources, one_changed_file, memory, model_stage, batches, peers)
    print("| what | figure | goal | absolute |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.suites, options.peers, options.rounds)
        for part in parts:
            if not options.only or part.__name__ in options.only:
                part(bench)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nthe bench itself took {peak:.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
