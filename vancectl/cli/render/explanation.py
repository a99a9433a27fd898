"""`--explain` and `--why`: how one task was decided, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vancectl.cli.render.output import Output, Part
    from vancectl.cli.scope import Scope
    from vancectl.selector.explain.explanation import Explanation
    from vancectl.selector.explain.why_not import Explained, WhyNot
    from vancectl.selector.selector import Selector


_SHOWN = 10
_AROUND = 60
_LONG_TASK = 600


class Account:
    """The explanation and the answer to `--why` for one decision; each is made only where it was asked for."""

    def __init__(self, scope: Scope, selector: Selector, task: str, decision: Explained) -> None:
        from vancectl.selector.decision import Stage
        from vancectl.selector.explain.explanation import explain

        self._scope = scope
        self._decision = decision
        self.explanation: Explanation = explain(
            scope.cascade, selector.index, scope.candidates, task, Stage(decision.stage)
        )

    def why(self, name: str) -> WhyNot:
        from vancectl.selector.explain.why_not import why_not

        return why_not(name, self._decision, self.explanation, self._scope.cascade, self._scope.candidates)


def outlook(scope: Scope, decision: Any, task: str) -> dict[str, Any]:
    """What `delegate` would start after this decision: its fallback, its command, or why it could not."""
    from pathlib import Path

    from vancectl.delegation.delegation import Delegation
    from vancectl.delegation.request import Request
    from vancectl.errors import VancectlError
    from vancectl.inventory.catalog import load_catalog
    from vancectl.process.store import ProcessStore

    try:
        delegation = Delegation(
            scope.cascade, load_catalog, scope.settings, ProcessStore(Path("unused")), lambda _: decision
        )
        answer = delegation.run(Request(task=task), dry_run=True)
    except VancectlError as error:
        return {"fallback": None, "recipe": None, "engine": None, "argv": None, "error": error.what()}
    applied = answer.plan.payload.get("appliedRecipe", {}) if answer.plan is not None else {}
    return {
        "fallback": answer.fallback.as_json() if answer.fallback else None,
        "recipe": applied.get("recipe"),
        "engine": applied.get("engine"),
        "argv": answer.plan.argv if answer.plan is not None else None,
        "error": answer.error.what() if answer.error else None,
    }


def print_explanation(explanation: Explanation, decision: dict[str, Any], output: Output) -> None:
    """What there was to choose from, the task with its hits, and what the model was shown."""
    from vancectl.text.names import some_of

    lines: list[Sequence[Part]] = [[], [("to choose from", "bold")]]
    for layer in explanation.layers:
        many = f"{layer.files} recipe file{'' if layer.files == 1 else 's'}, {layer.in_force} in force"
        lines.append([(f"  {layer.layer:<9} {many}", ""), (f"  {layer.path}", "dim")])
    lines.append([(f"  {explanation.candidates} candidates", "")])
    lines.extend([(f"  without {each.recipe}: {each.text}", "")] for each in explanation.excluded)
    lines.extend([[], [("the task, with what was hit", "bold")], _task(explanation)])
    if not explanation.hits:
        lines.append([("  no trigger phrase is in it", "")])
    lines.extend(
        [(f"  {hit.start}–{hit.end} “{hit.phrase}” of ", ""), (hit.recipe, "cyan")] for hit in explanation.hits
    )
    if explanation.shown:
        lines.extend([[], [(_shown_title(explanation, decision), "bold")]])
        lines.extend(_ranked(explanation))
        if explanation.left_out:
            lines.append([(f"  left out, nearest first: {some_of(explanation.left_out)}", "dim")])
    output.styled(lines)


def _task(explanation: Explanation) -> list[Part]:
    """The task on one line, hits in brackets and inverse; of a long one only what is around the hits."""
    from vancectl.selector.explain.explanation import marked
    from vancectl.text.printable import plain_line

    parts: list[Part] = [("  ", "")]
    pieces = list(marked(explanation.task, explanation.hits))
    for number, (piece, hit) in enumerate(pieces):
        if hit:
            parts.extend([("[", "dim"), (plain_line(piece), "reverse"), ("]", "dim")])
            continue
        text = piece
        if len(explanation.task) > _LONG_TASK and len(piece) > 2 * _AROUND:
            head = piece[:_AROUND] if number else ""
            tail = piece[-_AROUND:] if number < len(pieces) - 1 else ""
            text = f"{head} … {tail}" if head or tail else f"{piece[:_LONG_TASK]} …"
        parts.append((_one_line(text), ""))
    return parts


def _one_line(text: str) -> str:
    """White space runs as one blank, those at the edges, too: a hit must not run into its neighbour."""
    from vancectl.text.printable import plain_line

    line = plain_line(text)
    return f"{' ' if text[:1].isspace() else ''}{line}{' ' if line and text[-1:].isspace() else ''}"


def _shown_title(explanation: Explanation, decision: dict[str, Any]) -> str:
    asked = "the model was shown" if decision["model"] is not None else "a model would be shown"
    total = len(explanation.shown) + len(explanation.left_out)
    if explanation.left_out:
        return f"{asked} {len(explanation.shown)} of {total} recipes; by shared words:"
    return f"{asked} all {total} recipes; nearest by shared words:"


def _ranked(explanation: Explanation) -> list[list[Part]]:
    kept = {"trigger": "  kept: its trigger was hit", "default": "  kept: always shown"}
    lines: list[list[Part]] = [
        [(f"  {each.rank:>3} ", ""), (each.recipe, "cyan"), (kept.get(each.kept, ""), "dim")]
        for each in explanation.shown
        if each.rank <= _SHOWN or each.kept in kept
    ]
    more = len(explanation.shown) - len(lines)
    return [*lines, [(f"      and {more} more", "dim")]] if more else lines


def print_outlook(found: dict[str, Any], decision: dict[str, Any], output: Output) -> None:
    """The fallback rule that applied, and what would be started."""
    import shlex

    facts = [("fallback", _fallback_rule(found, decision))]
    if found["error"]:
        facts.append(("would start", f"nothing: {found['error']}"))
    elif found["recipe"] or found["engine"]:
        facts.append(("would start", f"{found['recipe'] or '—'} (engine {found['engine']})"))
        facts.append(("command", shlex.join(found["argv"]) if found["argv"] else "none is configured (spawn.command)"))
    else:
        facts.append(("would start", "nothing"))
    output.text("\n")
    output.facts(facts)


def _fallback_rule(found: dict[str, Any], decision: dict[str, Any]) -> str:
    if decision["decision"] == "MATCH":
        return "none, since there is a match"
    if decision["reason"] == "empty-task":
        return "none, since a blank task asks for nothing"
    name = found["fallback"]["recipe"] if found["fallback"] else None
    if not decision["triggerObserved"]:
        return f"no trigger was observed, so `{name}` is the fallback" if name else "switched off for this call"
    if name:
        return f"a trigger was observed, so routing.fallback.recipe decides: `{name}`"
    return "a trigger was observed, and routing.fallback.recipe is empty: no fallback is started"


def print_why(why: WhyNot, output: Output) -> None:
    title = f"why {why.recipe}" if why.code == "chosen" else f"why not {why.recipe}"
    output.text("\n")
    output.facts([(title, "\n".join(why.sentences))])
