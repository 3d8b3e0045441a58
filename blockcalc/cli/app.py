"""The command line: the application, and how a run of it ends."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from typer.main import get_command

from blockcalc.cli import streams
from blockcalc.cli.registry import COMMANDS, SETTINGS, add
from blockcalc.cli.sections import SectionedGroup
from blockcalc.errors import BlockcalcError

# Click's own errors, wherever this typer keeps them: BadParameter is a UsageError is a ClickException.
_CLICK_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


def main() -> None:
    """The entry point: run what the command line says and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code. What goes wrong is one line on standard error."""
    streams.write_utf8()
    # A command that is named needs no other; help and completion need them all.
    needed = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    try:
        command = get_command(application(needed))
        code = command.main(args=list(arguments), prog_name="blockcalc", standalone_mode=False)
        return streams.flushed(code if isinstance(code, int) else 0)
    except BlockcalcError as error:
        return streams.failed(str(error), error.exit_code)
    except _CLICK_ERROR as error:
        return streams.failed(_usage(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        return streams.flushed(130)
    except BrokenPipeError:
        return streams.closed(0)
    except OSError as error:
        return streams.failed(": ".join(str(part) for part in (error.filename, error.strerror or error) if part), 3)
    except SystemExit as stop:
        # typer turns a closed pipe into an exit with 1; completion ends with an exit as well.
        return streams.closed(0) if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The application with these commands, all of them unless said otherwise."""
    app = typer.Typer(
        name="blockcalc",
        cls=SectionedGroup,
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=SETTINGS,
        help="Parameters, shapes and FLOPs of decoder language models, exact and with their formulas, "
        "from the configuration alone.",
        epilog="Example: blockcalc params gpt2-small",
    )
    app.callback()(_whole)
    for name in names:
        add(app, name)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        from blockcalc.version import VERSION

        typer.echo(f"blockcalc {VERSION}")
        raise typer.Exit


def _whole(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _usage(error: Exception) -> str:
    """A usage error in one line, with where to read on."""
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "blockcalc"
    return f"{message} (see {path} --help)"
