"""Widths that a part leaves to the model: f by its rule, d_h by the heads."""

from __future__ import annotations

from blockcalc.config.parts import Attention, Mlp, Moe
from blockcalc.errors import ConfigError


def feedforward_width(d: int, part: Mlp | Moe) -> int:
    """f, or f_e for experts: given, or by the part's rule.

    Raises ConfigError when the rule leaves nothing, as rounding to the nearest multiple can.
    """
    if isinstance(part.width, int):
        return part.width
    width = part.width.width(d)
    if width < 1:
        raise ConfigError(
            f"the rule gives {width} for d = {d}; a width is at least 1", key="width", value=part.width.definition()
        )
    return width


def head_width(d: int, attention: Attention) -> int:
    """d_h: given, or d / h.

    Raises ConfigError when d / h is no whole number.
    """
    if attention.head_width is not None:
        return attention.head_width
    if d % attention.heads:
        near = near_divisors(d, attention.heads)
        raise ConfigError(
            f"must divide the model width {d} when no head_width is given",
            key="heads",
            value=attention.heads,
            fix=f"heads = {near}, or give head_width" if near else "give head_width",
        )
    return d // attention.heads


def near_divisors(d: int, heads: int) -> str:
    """`6 or 8`: the head counts nearest to `heads` that divide d, "" when there is none near."""
    near = [n for n in range(max(1, heads - 64), heads + 65) if d % n == 0] if heads < 10**6 else []
    choices = sorted(sorted(near, key=lambda n: abs(n - heads))[:2])
    return " or ".join(str(n) for n in choices)
