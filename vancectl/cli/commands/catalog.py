"""`vancectl catalog`: the engines, as people and as the model get to see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vancectl.cli.completion import complete_engine
from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Voice, voiced

if TYPE_CHECKING:
    from vancectl.cli.render.output import Output
    from vancectl.inventory.catalog import EngineCatalog

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="The engine catalog: show it, read it again.",
)


@app.command("show")
@voiced
def show_catalog(
    voice: Voice,
    engine: Annotated[str | None, typer.Argument(metavar="[ENGINE]", autocompletion=complete_engine)] = None,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print it as the model gets it.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Show what each engine is for, or one engine."""
    from dataclasses import asdict, replace

    from vancectl.inventory.catalog import load_catalog

    output = voice.output(as_json=json_output)
    catalog = load_catalog()
    _warn(catalog, output)
    if engine is not None:
        catalog = replace(catalog, engines=(catalog.find(engine),))
    if prompt:
        output.prose(catalog.render_for_prompt() + "\n")
    elif output.as_json:
        output.array(asdict(each) for each in catalog.engines)
    else:
        output.table(
            ("engine", "purpose", "when to use", "not for"),
            ((each.name, each.purpose, each.when_to_use, each.not_for) for each in catalog.engines),
            empty="no engines",
        )


@app.command("reload")
@voiced
def reload_catalog(
    voice: Voice,
    json_output: JsonOption = False,
) -> None:
    """Read the catalog again and check it; a broken one leaves the last good one in force."""
    from vancectl.errors import ExitStatus
    from vancectl.inventory.catalog import load_catalog

    output = voice.output(as_json=json_output)
    catalog = load_catalog()
    _warn(catalog, output)
    document = {
        "engines": catalog.names,
        "path": str(catalog.path),
        "errors": [each.line() for each in catalog.findings],
        "warnings": [each.line() for each in catalog.warnings],
    }
    if output.as_json:
        output.document(document)
    else:
        output.prose(f"{len(catalog.engines)} engines from {catalog.path}\n")
    if catalog.findings:
        raise typer.Exit(ExitStatus.USAGE)


def _warn(catalog: EngineCatalog, output: Output) -> None:
    for warning in catalog.stale:
        output.warn(warning)
    for finding in catalog.warnings:
        output.warn(finding.line())
