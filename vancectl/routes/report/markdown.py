"""Markdown for a comment on a pull request: the figures, what failed, the rest folded away; never too long for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vancectl.routes.bar import Result
from vancectl.routes.coverage import Coverage
from vancectl.routes.report.words import as_share, facts, order
from vancectl.routes.summary import Summary
from vancectl.routes.verdict import Judged
from vancectl.text.printable import plain_line

# A comment holds 65,536 characters; figures and headings need their share.
MAX_LENGTH = 60_000
_CELL = 300
_CONFUSIONS = 20


def render(judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, result: Result) -> str:
    parts = [f"## Routing: {'failed' if result.failures else 'passed'}\n"]
    parts.extend(f"- {_cell(failure)}" for failure in result.failures)
    parts.append("\n| | |\n|---|---|")
    parts.extend(f"| {label} | {_cell(value)} |" for label, value in facts(summary) if value)
    if summary.confusions:
        rows = [(expected, decided, str(count)) for expected, decided, count in summary.confusions[:_CONFUSIONS]]
        parts.append(_folded("Confusions", ("expected", "decided", "cases"), rows))
    if coverage is not None:
        rows = [("recipe", name, "") for name in coverage.recipes_without]
        rows += [("trigger", name, phrase) for name, phrase in coverage.triggers_without]
        rows += [("copy", case.task, of) for case, of in coverage.copies]
        title = f"Coverage {as_share(coverage.ratio)}"
        parts.append(_folded(title, ("without a case", "recipe or task", "phrase"), rows))
    shown = order(judged)
    if shown:
        parts.append(_cases(shown, MAX_LENGTH - sum(map(len, parts))))
    return "\n".join([*parts, ""])[: MAX_LENGTH + 2000]


def _cases(cases: Sequence[Judged], room: int) -> str:
    lines = ["\n| case | verdict | task | why |", "|---|---|---|---|"]
    for number, case in enumerate(cases):
        place = f"{case.case.place.path.name}:{case.case.place.line}"
        line = f"| {_cell(place)} | {case.verdict.value} | {_cell(case.case.task)} | {_cell(case.why)} |"
        room -= len(line) + 1
        if room < 0:
            lines.append(f"\n… and {len(cases) - number} more")
            break
        lines.append(line)
    return "\n".join(lines)


def _folded(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    if not body:
        return f"\n{title}"
    kept = body[:200]
    more = [f"\n… and {len(body) - len(kept)} more"] if len(body) > len(kept) else []
    head = [f"\n<details><summary>{title}</summary>\n", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return "\n".join([*head, *kept, *more, "\n</details>"])


def _cell(text: str) -> str:
    """Text as text: no cell ends early, nobody is mentioned, nothing becomes a link, an image or HTML."""
    line = plain_line(text)
    line = line if len(line) <= _CELL else line[:_CELL] + "…"
    for character in "\\`*_[]<>|~#":
        line = line.replace(character, f"\\{character}")
    return line.replace("&", "&amp;").replace("@", "@\u200b").replace("://", ":\u200b//") or " "
