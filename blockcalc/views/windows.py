"""The crossover under windows, solved case by case.

With windows the work of attention per token is Σ L·c·min(T, W), which grows piecewise: between two
neighbouring windows it is linear in T, so each case is solved apart and a root outside its case dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blockcalc.engine import tally
from blockcalc.engine.context import Context
from blockcalc.engine.derive import Derivation
from blockcalc.engine.quantity import NOTHING, Quantity
from blockcalc.engine.stage import Group
from blockcalc.views.rows import Number, ratio


@dataclass(frozen=True, slots=True)
class _Windowed:
    """One block kind's attention: work per pair, and its window (letter and width) if any."""

    per_pair: Quantity
    letter: str
    width: int | None


def window_crossover(derivation: Derivation, context: Context) -> tuple[Number, str]:
    """T where Σ L·c·min(T, W) meets the linear work, and the case that it lies in.

    Without an answer the number is None and the words say why.
    """
    linear = tally.linear(derivation).without("B", "T")
    kinds = [_windowed(derivation, context, group) for group in tally.blocks(derivation)]
    edges = sorted({kind.width for kind in kinds if kind.width is not None})
    for lower, upper in zip([0, *edges], [*edges, None], strict=True):
        found = _case(context, linear, kinds, lower)
        if found is not None and not hasattr(found.value, "numerator"):
            return Number(None), "which case holds depends on the free letters"
        if found is not None and found.value > lower and (upper is None or found.value <= upper):
            return found, _interval(lower, upper)
    return Number(None), _never(context, linear, kinds)


def _windowed(derivation: Derivation, context: Context, group: Group) -> _Windowed:
    per_pair = tally.attention_per_pair(replace(derivation, groups=(group,)))
    width = derivation.architecture.blocks[group.name].attention.window
    letter = next((name for name in (f"W_{group.name}", "W") if width and name in context.sizes), "")
    return _Windowed(per_pair, letter, width)


def _case(context: Context, linear: Quantity, kinds: list[_Windowed], lower: int) -> Number | None:
    """The root when windows up to `lower` are full and the others not yet reached."""
    growing, tops = NOTHING, [linear]
    for kind in kinds:
        if kind.width is not None and kind.width <= lower:
            tops.append(kind.per_pair.times(-1, kind.letter))
        else:
            growing = growing + kind.per_pair
    return ratio(context, tops, growing) if growing.parts else None


def _interval(lower: int, upper: int | None) -> str:
    if upper is None:
        return f"in the case T > {lower:,}"
    return f"in the case T ≤ {upper:,}" if lower == 0 else f"in the case {lower:,} < T ≤ {upper:,}"


def _never(context: Context, linear: Quantity, kinds: list[_Windowed]) -> str:
    """Why there is no crossover: the most that attention ever costs, beside the linear work."""
    most = sum((kind.per_pair.times(1, kind.letter) for kind in kinds), NOTHING)
    share = ratio(context, [most], linear).value
    widest = max(kind.width or 0 for kind in kinds)
    said = f"none, since a query meets at most {widest:,} keys"
    if not hasattr(share, "numerator"):
        return said
    return f"{said}: attention stays at or below {int(share * 100)}.{int(share * 1000) % 10} % of the linear work"
