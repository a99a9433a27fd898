"""A decision in words, for people at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vancectl.inventory.layer import Layers

Facts = list[tuple[str, str]]


def decision_facts(decision: dict[str, Any], *, explain: bool = False) -> Facts:
    """Labels and values of a decision in its JSON form; `explain` adds what the model stage cost."""
    from vancectl.text.names import some_of

    facts = [
        (decision["decision"], f"{decision['recipe'] or decision['engine'] or '—'}"),
        ("engine", decision["engine"] or ""),
        ("layer", _layer(decision)),
        ("why", decision["rationale"]),
        ("stage", f"{decision['stage']} ({decision['reason']})"),
    ]
    if decision["matched"]:
        hits = ", ".join(f"{hit['recipe']}: “{hit['phrase']}”" for hit in decision["matched"])
        facts.append(("triggers", hits))
    model = decision["model"]
    if model is None:
        return facts
    facts.append(("model", f"{model['model']} ({model['backend']}, {model['latencyMs']} ms)"))
    facts.append(("evidence", model["evidence"] or ""))
    facts.append(("runner-up", model["runnerUp"] or ""))
    if model["leftOut"]:
        shown, left_out = model["candidates"], some_of(model["leftOutRecipes"])
        facts.append(("shortlist", f"{shown} of {shown + model['leftOut']} recipes; left out: {left_out}"))
    if explain:
        facts.append(("attempts", str(model["attempts"])))
        facts.append(("tokens", _tokens(model)))
    return facts


def _layer(decision: dict[str, Any]) -> str:
    """Where the recipe comes from, and what it takes the place of; what is bundled goes without saying."""
    layer, shadows = decision.get("layer"), decision.get("shadows")
    if layer in {None, "bundled"} and not shadows:
        return ""
    return f"{layer}, in place of {', '.join(shadows)}" if shadows else str(layer)


def tenant_in_words(layers: Layers) -> str:
    """Which tenant holds, and who said so."""
    by = layers.tenant_origin
    return f"{layers.tenant} (named by {by})" if by else layers.tenant


def _tokens(model: dict[str, Any]) -> str:
    if model["inputTokens"] is None:
        return "not reported by the backend"
    read, write = model["cacheReadTokens"] or 0, model["cacheWriteTokens"] or 0
    return f"{model['inputTokens']} in, {read} read from the cache, {write} written to it, {model['outputTokens']} out"
