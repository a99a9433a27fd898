"""JUnit XML, as test reporters of CI servers read it: wrong and stale cases fail, unrecorded ones are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from vancectl.printable import without_controls
from vancectl.routes.coverage import Coverage
from vancectl.routes.report.words import name_of
from vancectl.routes.summary import Summary
from vancectl.routes.verdict import CaseVerdict, Judged


def render(judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, failures: Sequence[str]) -> str:
    """A suite for each file, and one more for bars that were not reached."""
    by_file: dict[str, list[Judged]] = {}
    for case in judged:
        by_file.setdefault(str(case.case.place.path), []).append(case)
    suites = [_suite(file, cases) for file, cases in by_file.items()]
    failed = sum(_fails(case) for case in judged) + len(failures)
    errors = summary.count(CaseVerdict.ERROR)
    if failures:
        suites.append(_bars(failures))
    head = f'<testsuites name="vancectl check" tests="{len(judged) + len(failures)}" failures="{failed}"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head} errors="{errors}" time="{summary.seconds:.3f}">\n' + (
        "".join(suites) + "</testsuites>\n"
    )


def _suite(file: str, cases: Sequence[Judged]) -> str:
    verdicts = [case.verdict for case in cases]
    counts = {
        "tests": len(cases),
        "failures": sum(map(_fails, cases)),
        "errors": verdicts.count(CaseVerdict.ERROR),
        "skipped": verdicts.count(CaseVerdict.UNRECORDED),
    }
    attributes = " ".join(f'{key}="{count}"' for key, count in counts.items())
    return f'  <testsuite name={_quote(file)} {attributes} time="0">\n{"".join(map(_case, cases))}  </testsuite>\n'


def _case(case: Judged) -> str:
    place = case.case.place
    name = f"{place.line}: {name_of(case)}"
    head = f'    <testcase classname={_quote(str(place.path))} name={_quote(name)} time="0"'
    if case.verdict is CaseVerdict.RIGHT:
        return f"{head}/>\n"
    if case.verdict is CaseVerdict.UNRECORDED:
        return f"{head}>\n      <skipped message={_quote(case.why)}/>\n    </testcase>\n"
    element = "error" if case.verdict is CaseVerdict.ERROR else "failure"
    return (
        f'{head}>\n      <{element} type="{case.verdict.value}" message={_quote(case.why)}>'
        f"{_text(_evidence(case))}</{element}>\n    </testcase>\n"
    )


def _bars(failures: Sequence[str]) -> str:
    cases = "".join(
        f'    <testcase classname="bars" name={_quote(failure.partition(":")[0])} time="0">\n'
        f'      <failure type="bar" message={_quote(failure)}></failure>\n    </testcase>\n'
        for failure in failures
    )
    count = len(failures)
    return (
        f'  <testsuite name="bars" tests="{count}" failures="{count}" errors="0" skipped="0" time="0">\n'
        f"{cases}  </testsuite>\n"
    )


def _fails(case: Judged) -> bool:
    return case.verdict.wrong or case.verdict is CaseVerdict.STALE


def _evidence(case: Judged) -> str:
    expected = " or ".join(case.case.right_names) or "(not claimed)"
    return f"{case.case.place}\ntask: {case.case.task}\nexpected: {expected}\n{case.why}"


def _quote(text: str) -> str:
    # XML takes no control characters, not even escaped, and turns line breaks in attributes into blanks.
    return quoteattr(_allowed(text), {"\n": "&#10;", "\t": "&#9;"})


def _text(text: str) -> str:
    return _allowed(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _allowed(text: str) -> str:
    return "".join(" " if code in {"\ufffe", "\uffff"} else code for code in without_controls(text))
