"""The answer of `delegate` for people: the decision before the start, and the reply as it comes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vancectl.cli.render.explanation import Account
    from vancectl.cli.render.output import Output
    from vancectl.delegation.answer import Delegated


# Of a process, what stands in the decision or in its first line, or matters to scripts only. The rest, such as the
# fields of the program's own JSON, is for people too.
_SAID = frozenset(
    ("id", "name", "session", "status", "recipe", "engine", "pid", "exitCode", "startedAt", "endedAt", "seconds")
)  # fmt: skip
_WHILE_IT_RUNS = frozenset(("log",))


class Terminal:
    """Shows a person the decision before the start, and the reply as it comes, unless that is JSON."""

    def __init__(self, output: Output) -> None:
        import codecs

        from vancectl.programs.secrets import PieceScrubber

        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._scrubber = PieceScrubber()
        self._is_json: bool | None = None
        self._name = ""
        self._at_line_start = True
        self.decided = False
        self.replied = False

    def on_start(self, answer: Delegated, name: str) -> None:
        self.decided = True
        self._name = name
        self._output.facts(decided_facts(answer))

    def on_output(self, data: bytes) -> None:
        text = self._decoder.decode(self._scrubber.feed(data))
        if self._is_json is None and text.strip():
            # A JSON value is shown as such at the end.
            self._is_json = text.lstrip().startswith("{")
        if self._is_json is not False or not text:
            return
        if not self.replied:
            self._output.facts([("process", self._name)])
            self._output.text("\n")
        self._output.prose(text)
        self._at_line_start = text.endswith("\n")
        self.replied = True

    def end(self) -> None:
        self.on_output(b"")  # what was held back, since it might have been the beginning of a secret
        if self.replied and not self._at_line_start:
            self._output.text("\n")


def decided_facts(answer: Delegated, *, explain: bool = False) -> list[tuple[str, str]]:
    from vancectl.cli.render.decision import decision_facts

    facts = decision_facts(answer.as_json(), explain=explain)
    if answer.fallback is not None:
        facts.append(("fallback", f"{answer.fallback.recipe} ({answer.fallback.source})"))
        facts.append(("generated", answer.fallback.generated or ""))
    facts.append(("outcome", answer.outcome or ""))
    return facts


def print_answer(
    answer: Delegated,
    output: Output,
    watcher: Terminal | None,
    account: Account | None = None,
    *,
    explain: bool = False,
    why: str | None = None,
) -> None:
    from vancectl.cli.render.explanation import print_explanation, print_why

    document = answer.as_json()
    _warn(answer, output)
    reason = account.why(why) if account is not None and why is not None else None
    if output.as_json:
        if account is not None and explain:
            document["explanation"] = account.explanation.as_json()
        if reason is not None:
            document["why"] = reason.as_json()
        output.document(document)
        return
    if watcher is not None and watcher.replied:
        watcher.end()  # the reply is the last that is said; what failed is told on stderr
        return
    facts = decided_facts(answer, explain=explain) if watcher is None or not watcher.decided else []
    if answer.plan is not None:
        facts.append(("plan", json.dumps(answer.plan.argv, ensure_ascii=False)))
    generator, process = answer.generator, answer.process.as_json() if answer.process is not None else {}
    if generator is not None and generator.id != process.get("id"):
        facts.append(("generator", f"{generator.name} {generator.status}"))
    # Where nothing else was started, what the generator wrote says why.
    reply = process.pop("reply", None) if process or generator is None else generator.reply
    if process:
        facts.append(("process", f"{process['name']} {process['status']}"))
        left_out = _SAID | _WHILE_IT_RUNS if process.get("endedAt") else _SAID
        facts.extend((key, _in_words(value)) for key, value in process.items() if key not in left_out)
    facts.append(("hint", answer.hint or ""))
    output.facts(facts)
    if account is not None and explain:
        print_explanation(account.explanation, document, output)
    if reason is not None:
        print_why(reason, output)
    if reply is not None:
        from vancectl.text.printable import printable

        output.text("\n" + printable(_in_words(reply), layout=True).removesuffix("\n") + "\n")


def _warn(answer: Delegated, output: Output) -> None:
    warnings = list(answer.decision.warnings)
    faults = (answer.record.stop_error, answer.record.on_exit_error) if answer.record is not None else ()
    # One may have been foreseen.
    warnings += [fault for fault in faults if fault and not any(fault in warning for warning in warnings)]
    for warning in warnings:
        output.warn(warning)


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
