"""JUnit XML, as test reporters of CI servers read it: what does not fail the run, and is not right, is skipped."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from vancectl.routes.bar import Result
from vancectl.routes.coverage import Coverage
from vancectl.routes.report.words import name_of
from vancectl.routes.summary import Summary
from vancectl.routes.verdict import CaseVerdict, Judged
from vancectl.text.printable import without_controls


def render(judged: Sequence[Judged], summary: Summary, coverage: Coverage | None, result: Result) -> str:
    """A suite for each file, and one more for bars that were not reached."""
    by_file: dict[str, list[Judged]] = {}
    for case in judged:
        by_file.setdefault(str(case.case.place.path), []).append(case)
    suites = [_suite(file, cases, result.failing) for file, cases in by_file.items()]
    elements = [_element(case, result.failing) for case in judged]
    failed = elements.count("failure") + len(result.failures)
    errors = elements.count("error")
    if result.failures:
        suites.append(_bars(result.failures))
    head = f'<testsuites name="vancectl check" tests="{len(judged) + len(result.failures)}" failures="{failed}"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head} errors="{errors}" time="{summary.seconds:.3f}">\n' + (
        "".join(suites) + "</testsuites>\n"
    )


def _suite(file: str, cases: Sequence[Judged], failing: frozenset[CaseVerdict]) -> str:
    elements = [_element(case, failing) for case in cases]
    counts = {
        "tests": len(cases),
        "failures": elements.count("failure"),
        "errors": elements.count("error"),
        "skipped": elements.count("skipped"),
    }
    attributes = " ".join(f'{key}="{count}"' for key, count in counts.items())
    body = "".join(map(_case, cases, elements))
    return f'  <testsuite name={_quote(file)} {attributes} time="0">\n{body}  </testsuite>\n'


def _element(case: Judged, failing: frozenset[CaseVerdict]) -> str:
    """What a case holds; nothing where it is right."""
    if case.verdict is CaseVerdict.RIGHT:
        return ""
    if case.verdict not in failing:
        return "skipped"
    return "error" if case.verdict is CaseVerdict.ERROR else "failure"


def _case(case: Judged, element: str) -> str:
    place = case.case.place
    name = f"{place.line}: {name_of(case)}"
    head = f'    <testcase classname={_quote(str(place.path))} name={_quote(name)} time="0"'
    if not element:
        return f"{head}/>\n"
    if element == "skipped":
        return f"{head}>\n      <skipped message={_quote(f'{case.verdict.value}: {case.why}')}/>\n    </testcase>\n"
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


def _evidence(case: Judged) -> str:
    expected = " or ".join(case.case.right_names) or "(not claimed)"
    return f"{case.case.place}\ntask: {case.case.task}\nexpected: {expected}\n{case.why}"


def _quote(text: str) -> str:
    # XML takes no control characters, not even escaped, and turns line breaks in attributes into blanks.
    return quoteattr(_allowed(text), {"\n": "&#10;", "\t": "&#9;"})


def _text(text: str) -> str:
    # A line break of a task must not begin a line in a log, where it could be a command of the CI host.
    return _allowed(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "&#10;")


def _allowed(text: str) -> str:
    return "".join(" " if code in {"\ufffe", "\uffff"} else code for code in without_controls(text))
