"""`blockcalc presets`, `blockcalc presets show`."""

from __future__ import annotations

import typer

from blockcalc.cli import options
from blockcalc.cli.output import Output, emit


def presets(context: typer.Context, format: options.Format = "text", output: options.File = None) -> None:
    """List the models that ship with blockcalc."""
    if context.invoked_subcommand is not None:
        return
    from blockcalc.views.presets import presets as listed

    emit(listed(), Output(format, output))


def show(name: options.Preset, format: options.Format = "text", output: options.File = None) -> None:
    """Show what a preset holds, field by field."""
    from blockcalc.views.presets import preset

    emit(preset(name), Output(format, output))
