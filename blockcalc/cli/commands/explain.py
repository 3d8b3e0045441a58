"""`blockcalc explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from blockcalc.cli import options
from blockcalc.cli.output import Output, emit
from blockcalc.cli.read import load, sizes

Quantity = Annotated[
    str,
    typer.Option("--quantity", metavar="NAME", help="params, flops or crossover.", rich_help_panel="Rows"),
]


def explain(
    model: options.Model,
    quantity: Quantity = "params",
    B: options.Batch = None,
    T: options.Positions = None,
    sets: options.Set = None,
    free: options.Free = None,
    format: options.Format = "text",
    output: options.File = None,
    formulas: options.Formulas = True,
    strict: options.Strict = False,
) -> None:
    """Show how a number comes about.

    Step by step: the formula, the same with the sizes filled in, the value.
    """
    report = load(model, sets, free).explain(quantity, **sizes(B=B, T=T))
    emit(report, Output(format, output, formulas, strict))
