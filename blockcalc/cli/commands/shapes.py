"""`blockcalc shapes`."""

from __future__ import annotations

from blockcalc.cli import options
from blockcalc.cli.output import Output, emit
from blockcalc.cli.read import load, sizes


def shapes(
    model: options.Model,
    B: options.Batch = None,
    T: options.Positions = None,
    S: options.Attended = None,
    sets: options.Set = None,
    free: options.Free = None,
    format: options.Format = "text",
    output: options.File = None,
    formulas: options.Formulas = True,
    strict: options.Strict = False,
) -> None:
    """Show the tensor shape at every stage.

    In letters and in numbers, in the order of a forward pass.
    """
    run = sizes(B=B, T=T, S=S)
    emit(load(model, sets, free).shapes(**run), Output(format, output, formulas, strict))
