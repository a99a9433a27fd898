"""`vancectl import`: makes recipes of the rules of a prompt hook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vancectl.cli.options import JsonOption, Target, ToOption
from vancectl.cli.scope import Scope, scoped

# What the recipes of Claude Code's skills are called.
_SKILLS = "claude-skill/"

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("import")
@scoped
def import_rules(
    scope: Scope,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A skill-rules.json.")],
    to: ToOption = Target.PROJECT,
    json_output: JsonOption = False,
) -> None:
    """Make recipes of a skill-rules.json: a keyword becomes a trigger phrase.

    A skill that is read from its program becomes a recipe in its place, which the program still starts. What phrases
    cannot say is reported, and a file that is there stays as it is.
    """
    from vancectl.cli.runs.written import findings_of, fresh_cascade
    from vancectl.errors import UsageError
    from vancectl.inventory.draft import create, refuse_taken, target_layer, target_path
    from vancectl.inventory.layer import LayerKind
    from vancectl.inventory.recipe import Recipe
    from vancectl.inventory.skill_rules import read_skill_rules, rule_text
    from vancectl.lint.formats import finding_as_json

    output = scope.output(as_json=json_output)
    layer = target_layer(scope.layers, LayerKind(to.value), Path.cwd())
    names = set(scope.cascade.names)
    written: list[Path] = []
    rows = []
    for rule in read_skill_rules(file):
        skill = f"{_SKILLS}{rule.name}".lower()
        name = skill if skill in names else rule.name
        known = scope.cascade.find(skill).recipe if skill in names else None
        description = rule.description or (known.description if isinstance(known, Recipe) else "")
        description = description or f"Take it for tasks about {', '.join(rule.phrases[:5]) or rule.name}."
        row = {"skill": rule.name, "phrases": len(rule.phrases), "left": rule.left, "path": None, "kept": None}
        try:
            path = target_path(layer, name)
            refuse_taken(layer, path)
            create(layer, path, rule_text(rule, description, file.name))
        except UsageError as error:
            row["kept"] = error.what()
            output.warn(f"{rule.name}: {error.what()}")
        else:
            row["path"] = str(path)
            written.append(path)
        for each in rule.left:
            output.warn(f"{rule.name}: not taken over, since phrases cannot say it: {each}")
        rows.append(row)
    findings = findings_of(scope, fresh_cascade(scope), written) if written else ()
    if output.as_json:
        output.document({"skills": rows, "findings": [finding_as_json(each) for each in findings]})
        return
    for path in written:
        output.prose(f"{path}\n")
    for finding in findings:
        output.warn(finding.line())
