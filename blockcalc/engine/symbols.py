"""The only place that makes sympy symbols: each letter's symbol once, since assumptions make symbols differ."""

from __future__ import annotations

from functools import cache

import sympy


@cache
def symbol(letter: str) -> sympy.Symbol:
    """The symbol of a letter: a positive number."""
    return sympy.Symbol(letter, positive=True)
