"""`blockcalc crossover`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blockcalc.cli import options
from blockcalc.cli.output import Output, emit
from blockcalc.cli.read import load, sizes
from blockcalc.errors import UsageError

if TYPE_CHECKING:
    from blockcalc.model import Model


def crossover(
    model: options.OptionalModel = None,
    d: options.Width = None,
    h: options.Heads = None,
    h_kv: options.KvHeads = None,
    d_h: options.HeadWidth = None,
    f: options.FeedforwardWidth = None,
    gated: options.Gated = False,
    sets: options.Set = None,
    free: options.Free = None,
    format: options.Format = "text",
    output: options.File = None,
    formulas: options.Formulas = True,
    strict: options.Strict = False,
) -> None:
    """Find where attention overtakes the linear layers.

    The answer is a sequence length, of a model or of a block given by its sizes.
    """
    given = sizes(d=d, h=h, h_kv=h_kv, d_h=d_h, f=f)
    if model is None:
        found = _block(given, gated, sets, free)
    elif given or gated:
        option = next(iter(given), "gated")
        raise UsageError(
            f"--{option} describes a block without a model; write --set {option}={given.get(option, 'true')}"
        )
    else:
        found = load(model, sets, free)
    emit(found.crossover(), Output(format, output, formulas, strict))


def _block(given: dict[str, int], gated: bool, sets: list[str] | None, free: list[str] | None) -> Model:
    """The block that the options describe."""
    if "d" not in given:
        raise UsageError("name a MODEL, or give the width of a block, as in blockcalc crossover --d 768")
    if sets or free:
        raise UsageError(
            f"{'--set' if sets else '--free'} needs a MODEL; a block is given by --d, --h, --h_kv, --d_h, --f"
        )
    from blockcalc.model import bare_block

    return bare_block(**given, gated=gated)
