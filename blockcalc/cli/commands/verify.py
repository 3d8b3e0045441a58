"""`blockcalc verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from blockcalc.cli import options
from blockcalc.cli.output import Output, emit
from blockcalc.cli.read import load, sizes
from blockcalc.errors import UsageError

if TYPE_CHECKING:
    from blockcalc.views.report import Report

All = Annotated[bool, typer.Option("--all", help="Verify every preset, a row each.", rich_help_panel="Rows")]
Against = Annotated[
    str,
    typer.Option(
        "--against",
        metavar="WHAT",
        help="What the derivation is held to: numpy, a forward pass written by hand.",
        rich_help_panel="Rows",
    ),
]
Batch = Annotated[str | None, options.size("B", "Sequences in the batch. 2 when left out.")]
Positions = Annotated[
    str | None, options.size("T", "Positions processed. When left out, 5 behind 3 in a cache, so that T and S differ.")
]


def verify(
    model: options.OptionalModel = None,
    all_presets: All = False,
    against: Against = "numpy",
    B: Batch = None,
    T: Positions = None,
    sets: options.Set = None,
    format: options.Format = "text",
    output: options.File = None,
    formulas: options.Formulas = True,
    strict: options.Strict = False,
) -> None:
    """Check the derivation against a run.

    Shapes, weights and multiply-adds, stage by stage. Exits with 1 on a mismatch.
    """
    if against != "numpy":
        raise UsageError(f"--against {against[:60]}: not there yet; numpy is")
    if all_presets == (model is not None):
        raise UsageError("name a MODEL, or --all for every preset, one of the two")
    report = _every(B, T, sets) if model is None else load(model, sets, None).verify(**sizes(B=B, T=T))
    emit(report, Output(format, output, formulas, strict))


def _every(B: str | None, T: str | None, sets: list[str] | None) -> Report:
    for option, value in (("--B", B), ("--T", T), ("--set", sets)):
        if value:
            raise UsageError(f"{option} belongs to one MODEL; leave it out with --all")
    from blockcalc.model import verify_all

    return verify_all()
