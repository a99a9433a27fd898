"""The report for people: what failed first, with the evidence, then the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vancectl.routes.report.words import as_share, facts, order

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.reading.finding import Finding
    from vancectl.routes.bar import Result
    from vancectl.routes.coverage import Coverage
    from vancectl.routes.summary import Summary
    from vancectl.routes.verdict import Judged

_CONFUSIONS_SHOWN = 10


def print_tables(
    output: Output, judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, result: Result
) -> None:
    shown = order(judged)
    if shown:
        output.table(
            ("case", "verdict", "task", "why"),
            (
                (f"{case.case.place.path.name}:{case.case.place.line}", case.verdict.value, case.case.task, case.why)
                for case in shown
            ),
            empty="",
        )
        output.text("\n")
    if summary.confusions:
        output.table(
            ("expected", "decided", "cases"),
            ((expected, decided, str(count)) for expected, decided, count in summary.confusions[:_CONFUSIONS_SHOWN]),
            empty="",
        )
        output.text("\n")
    output.facts([("result", "failed" if result.failures else "passed"), *facts(summary)])
    if coverage is None:
        return
    output.text("\n")
    output.facts(
        [
            ("coverage", as_share(coverage.ratio)),
            ("recipes without a case", ", ".join(coverage.recipes_without)),
            ("triggers without a case", "\n".join(f"{name}: “{phrase}”" for name, phrase in coverage.triggers_without)),
            ("cases that are copies", "\n".join(f"{case.place}: {of}" for case, of in coverage.copies)),
        ]
    )


def bad_cases(findings: Sequence[Finding], output: Output) -> Exception:
    """All but the last are said here; the last ends the command."""
    from vancectl.errors import UsageError

    errors = [UsageError(finding.sentence(), where=finding.place, remedy=finding.remedy()) for finding in findings]
    for error in errors[:-1]:
        output.error(error)
    return errors[-1]
