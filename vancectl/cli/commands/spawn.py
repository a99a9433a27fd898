"""`vancectl spawn`: what would be started, and whether it could be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vancectl.cli.completion import complete_engine, complete_preset
from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Scope, Voice, scoped, voiced

if TYPE_CHECKING:
    from vancectl.process.command import CommandTemplate
    from vancectl.settings.settings import Settings

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="The spawn command: list the presets, test one.",
)


@app.command("list")
@voiced
def list_presets(voice: Voice, json_output: JsonOption = False) -> None:
    """List the bundled presets."""
    from vancectl.process.preset import load_preset, preset_names

    output = voice.output(as_json=json_output)
    presets = [load_preset(name) for name in preset_names()]
    if output.as_json:
        output.array(
            {
                "preset": each.name,
                "description": each.description,
                "command": list(each.command),
                "stdin": each.stdin,
                "engines": list(each.engines) if each.engines is not None else None,
                "reads": each.reads,
                "dash": each.dash,
                "path": str(each.path),
            }
            for each in presets
        )
        return
    output.table(
        ("preset", "what it is", "how the task comes", "a task that begins with -"),
        ((each.name, each.description, each.reads, each.dash) for each in presets),
        empty="no presets",
    )


@app.command("test")
@scoped
def try_command(
    scope: Scope,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="Test this preset in place of what is configured.",
            autocompletion=complete_preset,
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="For this engine.", autocompletion=complete_engine)
    ] = "ford",
    json_output: JsonOption = False,
) -> None:
    """Show the argv of the spawn command and check that its program is there. Starts nothing."""
    import json

    from vancectl.errors import ExitStatus
    from vancectl.process.command import find_template, no_command
    from vancectl.settings.settings import Settings, Source, Value

    output = scope.output(as_json=json_output)
    settings: Settings = scope.settings
    if preset is not None:
        chosen = Value(preset, Source.OPTION, "--preset")
        values = dict(settings.values())
        own = {**settings["spawn.engines"]}
        own.pop(engine, None)
        settings = Settings({**values, "spawn.preset": chosen, "spawn.engines": Value(own, Source.OPTION, "--preset")})
    template = find_template(settings, engine)
    if not template.argv:
        raise no_command(engine)
    document = _tested(template, engine)
    if output.as_json:
        output.document(document)
    else:
        output.facts(
            (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for key, value in document.items()
            if value is not None
        )
    if document["problem"] is not None:
        raise typer.Exit(ExitStatus.NEGATIVE)


def _tested(template: CommandTemplate, engine: str) -> dict[str, Any]:
    import contextlib

    from vancectl.delegation.hindrance import hindrance
    from vancectl.process.command import spawn_program
    from vancectl.programs.environment import withheld
    from vancectl.programs.search import ProgramError
    from vancectl.programs.secrets import masked

    preset = template.preset
    found = None
    with contextlib.suppress(ProgramError):
        found = spawn_program(template)
    error = hindrance(template, engine, {})
    problem = error.what() if error is not None else None
    return {
        "preset": preset.name if preset is not None else None,
        "setting": template.key,
        "origin": template.origin,
        "argv": list(template.argv),
        "stdin": template.stdin,
        "env": {name: masked(name, value) for name, value in template.environment.items()},
        "withheld": withheld(template.environment),
        "program": found,
        "reads": preset.reads if preset is not None else None,
        "dash": preset.dash if preset is not None else None,
        "problem": problem,
    }
