"""The only place that makes sympy symbols: each letter's symbol once, since assumptions make symbols differ."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import sympy


def exact_expression(value: object) -> sympy.Expr:
    """A number or formula as sympy's own, without rounding and without parsing.

    Raises TypeError for anything else, text above all: sympify would evaluate it.
    """
    if isinstance(value, sympy.Expr):
        return value
    if isinstance(value, int):
        return sympy.Integer(value)
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    raise TypeError(f"no number and no formula: {type(value).__name__}")


def plain(expression: sympy.Expr) -> int | Fraction | sympy.Expr:
    """Python's own exact number where the expression is one, else the expression."""
    if expression.is_Integer:
        return int(expression)
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    return expression


@cache
def symbol(letter: str) -> sympy.Symbol:
    """The symbol of a letter: a positive number."""
    return sympy.Symbol(letter, positive=True)
