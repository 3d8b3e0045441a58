"""The one evaluator: what a cost gives depends on what its letters stand for.

Whole numbers give the exact count, sympy symbols the formula, numpy arrays many models at once. Only
+ and × are ever applied to sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from blockcalc.engine.contraction import Product

if TYPE_CHECKING:
    from fractions import Fraction

Exact: TypeAlias = "int | Fraction"
"""An exact number: whole, or a fraction where it isn't."""

Value = TypeVar("Value")


def evaluate(cost: Iterable[Product], sizes: Mapping[str, Value]) -> Value | int:
    """The sum of the products, with each letter standing for what `sizes` holds; 0 for no products.

    Raises KeyError for a letter that `sizes` lacks.
    """
    total: Value | int = 0
    for product in cost:
        number: Value | int = product.coefficient
        for letter in product.letters:
            number = number * sizes[letter]  # type: ignore[operator]
        total = total + number  # type: ignore[operator]
    return total
