"""`blockcalc flops`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from blockcalc.cli import options
from blockcalc.cli.output import Output, emit
from blockcalc.cli.read import load, sizes

Attention = Annotated[
    Literal["full", "causal", "half"] | None,
    typer.Option(
        "--attention",
        help="Which part of the square of positions counts. full, unless the convention says otherwise.",
        rich_help_panel="Conventions",
        show_default=False,
    ),
]
Convention = Annotated[
    str,
    typer.Option(
        "--convention",
        metavar="NAME",
        help="What counts as a FLOP, by the name of who counts so; all compares them.",
        rich_help_panel="Conventions",
    ),
]
RuleN = Annotated[
    str,
    typer.Option(
        "--N",
        metavar="NAME",
        help="Which N the rules 2N and 6N mean: matmul, total, active, non_embedding or no_positions.",
        rich_help_panel="Conventions",
    ),
]


def flops(
    model: options.Model,
    B: options.Batch = None,
    T: options.Positions = None,
    S: options.Attended = None,
    D: options.Tokens = None,
    attention: Attention = None,
    convention: Convention = "exact",
    N: RuleN = "matmul",
    sets: options.Set = None,
    free: options.Free = None,
    format: options.Format = "text",
    output: options.File = None,
    formulas: options.Formulas = True,
    strict: options.Strict = False,
) -> None:
    """Count FLOPs of a forward pass and of training.

    A row a stage. The conventions that they are counted under stand below.
    """
    run = sizes(B=B, T=T, S=S, D=D)
    report = load(model, sets, free).flops(attention=attention, convention=convention, N=N, **run)
    emit(report, Output(format, output, formulas, strict))
