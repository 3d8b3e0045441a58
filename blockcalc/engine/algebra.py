"""Closed forms: the evaluator over sympy symbols, with definitions spelled out where they are sums of products."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import sympy

from blockcalc.engine.contraction import Product
from blockcalc.engine.evaluate import evaluate
from blockcalc.engine.quantity import Quantity
from blockcalc.engine.sizes import Size
from blockcalc.engine.symbols import exact_expression, symbol


def expressions(sizes: Mapping[str, Size], *, keep: Collection[str] = ()) -> dict[str, sympy.Expr]:
    """Letter -> its symbol, or its definition in other letters where that is a sum of products.

    Letters in `keep` stay symbols whatever their definition.
    """
    found: dict[str, sympy.Expr] = {}

    def expression(letter: str) -> sympy.Expr:
        if letter not in found:
            definition = sizes[letter].definition if letter in sizes else None
            if definition is None or not definition.terms or letter in keep:
                found[letter] = symbol(letter)
            else:
                letters = {factor for product in definition.terms for factor in product.letters}
                total = evaluate(definition.terms, {factor: expression(factor) for factor in letters})
                divisor = definition.divisor
                below = expression(divisor) if isinstance(divisor, str) else exact_expression(divisor)
                found[letter] = exact_expression(total) / below
        return found[letter]

    for letter in sizes:
        expression(letter)
    return found


def closed_form(quantity: Quantity, letters: Mapping[str, sympy.Expr], *, whole: bool = True) -> sympy.Expr:
    """The quantity as a formula: a sum with each group's count in front of its expanded cost.

    Groups of one cost share it, `(L_local + L_global)·(…)`; all blocks together are written L where `whole`.
    """
    divisor = exact_expression(quantity.over * evaluate((Product(1, quantity.per),), letters))
    collected: dict[str, sympy.Expr] = {}
    for count, cost in quantity.parts:
        inner = sympy.expand(evaluate(cost, letters) / divisor)
        collected[count] = collected.get(count, sympy.Integer(0)) + inner
    counts: dict[sympy.Expr, sympy.Expr] = {}
    for count, inner in collected.items():
        counts[inner] = counts.get(inner, sympy.Integer(0)) + (letters[count] if count else 1)
    everywhere = letters.get("L")
    named = {inner: symbol("L") if whole and count == everywhere else count for inner, count in counts.items()}
    return sympy.Add(*(count * inner for inner, count in named.items()))


_MOST_LETTERS = 16
"""Beyond as many, a quotient is brought to lowest terms by common factors only: full cancelling takes minutes."""


def quotient(tops: Sequence[sympy.Expr], bottom: sympy.Expr) -> sympy.Expr:
    """The sum of some expressions over another, each in lowest terms, as a sum over a single product."""
    total = sympy.Integer(0)
    for top in tops:
        if len(top.free_symbols | bottom.free_symbols) > _MOST_LETTERS:
            above, below = sympy.factor_terms(top), sympy.factor_terms(bottom)
        else:
            above, below = sympy.fraction(sympy.cancel(sympy.together(top / bottom)))
            above = sympy.factor(above) if below.is_Add else above
            below = sympy.factor(below)
        total += above / below if below.has(sympy.Add) else sympy.expand(above / below)
    return total


def bound(formula: sympy.Expr, values: Mapping[str, object]) -> sympy.Expr:
    """The formula with letters replaced by values, expanded; by xreplace, which compares symbols and nothing else."""
    exact = {symbol(letter): exact_expression(value) for letter, value in values.items()}
    return sympy.expand(formula.xreplace(exact))
