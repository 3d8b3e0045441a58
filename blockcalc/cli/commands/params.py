"""`blockcalc params`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from blockcalc.cli import options
from blockcalc.cli.output import Output, emit
from blockcalc.cli.read import load

By = Annotated[
    Literal["component", "block", "tensor"], typer.Option("--by", help="What a row is.", rich_help_panel="Rows")
]


def params(
    model: options.Model,
    by: By = "component",
    sets: options.Set = None,
    free: options.Free = None,
    format: options.Format = "text",
    output: options.File = None,
    formulas: options.Formulas = True,
    strict: options.Strict = False,
) -> None:
    """Count parameters by component, block or tensor.

    Below the rows: what is stored, what one token meets, what multiplies.
    """
    emit(load(model, sets, free).params(by=by), Output(format, output, formulas, strict))
