"""What is in force, in a few lines: what `vancectl` alone says at a terminal."""

from __future__ import annotations

from vancectl.cli.scope import Scope


def print_overview() -> None:
    from vancectl.cli.runs.doctor import Health, examine

    scope = Scope()
    output = scope.output()
    worst: dict[str, tuple[Health, str]] = {}
    order = list(Health)
    for part in examine(scope, online=False, versions=False):
        known = worst.get(part.name)
        if known is None or order.index(part.health) > order.index(known[0]):
            worst[part.name] = (part.health, part.text)
    counts = f"{len(scope.inventory.recipes)} to choose from"
    shown = {"project": "project", "settings": "settings", "model": "model", "start": "start"}
    facts = [("vancectl", worst["version"][1].removeprefix("vancectl ")), ("recipes", counts)]
    facts += [(label, worst[name][1]) for name, label in shown.items() if name in worst]
    output.facts(facts)
    output.prose(
        "\nTry:\n"
        '  vancectl select "write an essay on bridges"\n'
        "  vancectl recipes list\n"
        "  vancectl doctor\n"
        "`vancectl --help` lists every command.\n"
    )
