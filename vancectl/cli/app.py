"""The command line as a whole. Only here errors become text and exit status."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from vancectl import __version__
from vancectl.cli.group import Lazy, LazyGroup
from vancectl.errors import ExitStatus, VancectlError
from vancectl.interrupt import interrupted

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLETION_OPTIONS = ("--install-completion", "--show-completion")

COMMANDS: Mapping[str, Lazy] = {
    "select": Lazy("vancectl.cli.commands.select:app", "Say which recipe fits a task, or that none does, and why."),
    "batch": Lazy(
        "vancectl.cli.commands.batch:app", "Decide many tasks: a line in, a decision out, in the same order."
    ),
    "delegate": Lazy("vancectl.cli.commands.delegate:app", "Decide which recipe fits a task, and start it."),
    "plan": Lazy("vancectl.cli.commands.plan:app", "Start all children of a plan, and wait for them."),
    "processes": Lazy(
        "vancectl.cli.commands.processes.group:app",
        "Processes: list, show, read, await, stop and remove what was started.",
    ),
    "chat": Lazy("vancectl.cli.commands.chat:app", "Start the session's chat process, or find it."),
    "spawn": Lazy("vancectl.cli.commands.spawn:app", "The spawn command: list the presets, test one."),
    "worker": Lazy("vancectl.cli.commands.worker:app", "Run the recipe of a payload through the Messages API."),
    "recipes": Lazy(
        "vancectl.cli.commands.recipes.group:app", "Recipes: list and show them, check them, write new ones."
    ),
    "check": Lazy(
        "vancectl.cli.commands.check:app",
        "Check that tasks get the recipes that cases say, without a key and without a network.",
    ),
    "catalog": Lazy("vancectl.cli.commands.catalog:app", "The engine catalog: show it, read it again."),
    "log": Lazy(
        "vancectl.cli.commands.log:app",
        "Show what was decided, the rates per stage, and the recipes that are never chosen.",
    ),
    "schema": Lazy(
        "vancectl.cli.commands.schema:app", "Print the JSON Schema of a file or a request, for editors and callers."
    ),
    "init": Lazy(
        "vancectl.cli.commands.init:app",
        "Begin a project: a recipe to copy from, cases for it, and a job for CI.",
    ),
    "import": Lazy(
        "vancectl.cli.commands.import_rules:app",
        "Make recipes of a skill-rules.json: a keyword becomes a trigger phrase.",
    ),
    "doctor": Lazy(
        "vancectl.cli.commands.doctor:app",
        "Look over project, settings, recipes, model and programs, and say what is wrong and what helps.",
    ),
    "mcp": Lazy("vancectl.cli.commands.mcp:app", "Serve an agent program: select, delegate, recipes, processes."),
    "hook": Lazy("vancectl.cli.commands.hook:app", "Say of each prompt of an agent program what is meant for it."),
    "settings": Lazy("vancectl.cli.commands.settings.group:app", "Settings: bundled < tenant < environment < options."),
    "trust": Lazy("vancectl.cli.commands.trust:app", "Trust a folder: put it on the list in the tenant's settings."),
}


class Commands(LazyGroup):
    table = COMMANDS

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0].partition("=")[0] in COMPLETION_OPTIONS and not ctx.resilient_parsing:
            from vancectl.cli.completion import set_up

            set_up(str(ctx.info_name), args)
        if not ctx.resilient_parsing:
            if args[:1] == ["help"]:
                args = [*args[1:], "--help"]
            elif not args and sys.stdout is not None and sys.stdout.isatty():
                from vancectl.cli.runs.overview import print_overview

                print_overview()
                raise typer.Exit
        return super().parse_args(ctx, args)


# Locals in a traceback would show keys; rich would be loaded for every help text.
app = typer.Typer(
    name="vancectl",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from vancectl.cli.render.output import Output

        Output().text(f"vancectl {__version__}\n")
        raise typer.Exit


@app.callback()
def vancectl(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Decide from plain words which recipe an agent should run, say why, and start it.

    Exit status: 0 done (NONE is done); 1 a negative answer that was asked about; 2 usage, settings or recipe error;
    3 the spawn command failed; 4 the model could not be used and --strict was given; 130 interrupted; 141 the reader of
    stdout has gone.
    """


def main() -> NoReturn:
    """The installed command.

    It leaves without the interpreter's own farewell, which takes every module apart and costs more than most commands
    (10 ms of 60). Nothing of ours waits for that: files are closed where they were opened.
    """
    # Most of what a start allocates stays until its end; looking for cycles in it costs a tenth of a large listing.
    gc.set_threshold(1_000_000)
    os._exit(_flushed(run()))


def _flushed(status: int) -> int:
    """The status, or that of a closed pipe where the result could not be written. A deaf stderr changes nothing."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # as for a program that was started with the stream closed
                stream.flush()
        except (OSError, ValueError):
            status = ExitStatus.PIPE_CLOSED if stream is sys.stdout and status == ExitStatus.DONE else status
    return status


def run() -> int:
    """Runs the command line and gives its exit status. A hook never blocks a prompt, which its status could do."""
    status = _run()
    return ExitStatus.DONE if sys.argv[1:2] == ["hook"] and "--install" not in sys.argv else status


def _run() -> int:
    try:
        app()
    except SystemExit as end:
        if interrupted() and end.code:
            return ExitStatus.INTERRUPTED
        if isinstance(end.__context__, BrokenPipeError):  # of a help text, or of a usage error: Typer ends with 1
            return getattr(end.__context__.__context__, "exit_code", ExitStatus.PIPE_CLOSED)
        # Typer's own usage errors end with a bare number, ours with an ExitStatus.
        typers = end.code == ExitStatus.USAGE and not isinstance(end.code, ExitStatus)
        if typers and _may_have_lost_dash(sys.argv[1:]):
            from vancectl.cli.render.output import to_stderr

            to_stderr("Hint: a task that begins with `-` goes behind `--`.")
        return end.code if isinstance(end.code, int) else ExitStatus.DONE
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except VancectlError as error:
        return ExitStatus.INTERRUPTED if interrupted() else _fail(error)
    except Exception as error:  # the last line of defence: no traceback reaches a user
        if interrupted():  # inside a package that made another exception of it
            return ExitStatus.INTERRUPTED
        if os.environ.get("VANCECTL_DEBUG") == "traceback":
            raise
        if isinstance(error, OSError) and _printed_by_typer(error):
            reason = (error.strerror or str(error)).lower()
            return _fail(
                VancectlError(f"the help cannot be written: {reason}", remedy="fix what standard output leads to")
            )
        # The exception's text stays unsaid: it may hold anything, a key included.
        return _fail(
            VancectlError(
                f"vancectl failed unexpectedly ({type(error).__name__})",
                remedy="this is a defect; VANCECTL_DEBUG=traceback shows where, please report it",
            )
        )
    return ExitStatus.DONE


def _printed_by_typer(error: OSError) -> bool:
    """Help texts and usage errors are the only ones that our own output does not print."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    return place is not None and place.tb_frame.f_code.co_name == "echo"


def _fail(error: VancectlError) -> int:
    from vancectl.cli.render.output import print_error

    print_error(error)
    return error.status


def _may_have_lost_dash(arguments: list[str]) -> bool:
    """Whether a usage error may come from a task that looks like an option."""
    return (
        bool(arguments)
        and arguments[0] in {"select", "delegate"}
        and "--" not in arguments
        and any(argument.startswith("-") for argument in arguments[1:])
    )
