"""The sequence length at which attention's scores and weighted sum cost as much as the blocks' matrices."""

from __future__ import annotations

from dataclasses import replace

from blockcalc.engine import tally
from blockcalc.engine.context import Context
from blockcalc.engine.derive import Derivation
from blockcalc.engine.stage import Group
from blockcalc.views.report import Report
from blockcalc.views.rows import Number, Row, number, ratio
from blockcalc.views.windows import window_crossover

_WORDS = {
    "T": "the whole square T·T, as an eager run executes it, head left out",
    "T_causal": "half the square, as a causal kernel executes it: twice as far",
    "T_with_head": "the whole square, the head's product counted as linear work",
    "T_over_d": "T in model widths",
    "T_window": "min(T, W) keys for each query, as the windows leave them, head left out",
}


def crossover(derivation: Derivation, context: Context) -> Report:
    """T at which attention overtakes: of the whole model, and of each block kind where they differ.

    Where there is none the number is None and the row says why.
    """
    rows = _rows(derivation, context, "")
    blocks = tally.blocks(derivation)
    for group in blocks if len(blocks) > 1 else ():
        rows += _rows(_alone(derivation, group), context, f"{group.name}.")
    numbers = _parts(derivation, context)
    numbers |= {row.path: row.number for row in rows if row.path in _WORDS and row.number is not None}
    name = derivation.architecture.name
    return Report(
        command="crossover",
        model=name,
        title=f"Where attention overtakes the linear layers in {name}",
        columns={"path": "convention", "value": "T", "short": "", "formula": "formula", "text": "what is counted"},
        rows=tuple(rows),
        numbers=numbers,
        sizes=context.shown(),
        conventions={"crossover": "per-token work of the blocks' matrices = scores and weighted sum"},
        notes=("In decoding the same T is a cache length.",),
    )


def _parts(derivation: Derivation, context: Context) -> dict[str, Number]:
    """What meets at the crossover: both sides' FLOPs for each token, attention's for each key that it meets."""
    linear = tally.linear(derivation).without("B", "T")
    return {
        "linear_per_token": number(context, linear, "FLOPs of the blocks' matrices for a token"),
        "attention_per_key": number(context, tally.attention_per_pair(derivation), "FLOPs for a token and a key"),
    }


def _alone(derivation: Derivation, group: Group) -> Derivation:
    """The derivation of one block kind."""
    return replace(derivation, groups=(group,))


def _rows(derivation: Derivation, context: Context, prefix: str) -> list[Row]:
    """The conventions' rows for the whole model (no prefix) or for one block kind."""
    linear = tally.linear(derivation).without("B", "T")
    per_pair = tally.attention_per_pair(derivation)
    numbers: dict[str, Number] = {
        "T": ratio(context, [linear], per_pair),
        "T_causal": ratio(context, [linear.times(2)], per_pair),
    }
    reasons: dict[str, str] = {}
    if not prefix:
        head = tally.head(derivation).without("B", "T")
        numbers["T_with_head"] = ratio(context, [linear, head], per_pair) if head.parts else Number(None)
        reasons = {} if head.parts else {"T_with_head": "no vocabulary, so no head"}
        numbers["T_over_d"] = ratio(context, [linear], per_pair.times(1, "d"))
    if any(_window(derivation, group) for group in tally.blocks(derivation)):
        numbers["T_window"], reasons["T_window"] = window_crossover(derivation, context)
    return [Row(f"{prefix}{name}", entry, {"text": _said(name, reasons)}) for name, entry in numbers.items()]


def _window(derivation: Derivation, group: Group) -> int | None:
    return derivation.architecture.blocks[group.name].attention.window


def _said(name: str, reasons: dict[str, str]) -> str:
    reason = reasons.get(name)
    return f"{_WORDS[name]}: {reason}" if reason else _WORDS[name]
