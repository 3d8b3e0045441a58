"""A quantity: costs of groups, each times its count, over what it is counted per."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from blockcalc.engine.contraction import Cost, Product
from blockcalc.engine.evaluate import Exact, evaluate
from blockcalc.engine.stage import Group, Stage


@dataclass(frozen=True, slots=True)
class Quantity:
    """Σ count · cost, divided by `over` and by the letters `per`.

    `parts` pairs a count letter ("" for once) with a cost; each group keeps a part of its own, so that
    a formula can show `L·(12·d² + 13·d)`.
    """

    parts: tuple[tuple[str, Cost], ...] = ()
    over: int = 1
    per: tuple[str, ...] = ()

    def __add__(self, other: Quantity) -> Quantity:
        if (self.over, self.per) != (other.over, other.per):
            raise ValueError("quantities counted per different things don't add up")
        return Quantity(self.parts + other.parts, self.over, self.per)

    def times(self, factor: int, *letters: str) -> Quantity:
        """The quantity multiplied by a whole number and by letters."""
        parts = tuple((count, tuple(product.times(factor, *letters) for product in cost)) for count, cost in self.parts)
        return Quantity(parts, self.over, self.per)

    def divided(self, number: int = 1, *letters: str) -> Quantity:
        """The quantity counted per `number` and per each of the letters."""
        return Quantity(self.parts, self.over * number, self.per + letters)

    def without(self, *letters: str) -> Quantity:
        """The quantity with each letter divided out of every product.

        Raises ValueError when a product lacks one.
        """
        parts = tuple((count, tuple(product.without(*letters) for product in cost)) for count, cost in self.parts)
        return Quantity(parts, self.over, self.per)

    def value(self, sizes: Mapping[str, Exact]) -> Exact:
        """The exact number for whole sizes: an int where it is whole, else a Fraction."""
        total: Exact = 0
        for count, cost in self.parts:
            times = sizes[count] if count else 1
            total += times * evaluate(cost, sizes)
        divisor = self.over * evaluate((Product(1, self.per),), sizes)
        return exact_quotient(total, divisor)


NOTHING = Quantity()
"""The quantity of no stages."""


def summed(groups: Iterable[Group], cost: Callable[[Stage], Cost]) -> Quantity:
    """The sum of a cost over all stages, a part for each group that has any."""
    parts = []
    for group in groups:
        products = tuple(product for stage in group.stages for product in cost(stage))
        if products:
            parts.append((group.count, products))
    return Quantity(tuple(parts))


def exact_quotient(number: Exact, divisor: Exact) -> Exact:
    """Number / divisor without rounding: an int where it is whole, else a Fraction.

    Raises ZeroDivisionError.
    """
    if isinstance(number, int) and isinstance(divisor, int) and number % divisor == 0:
        return number // divisor
    from fractions import Fraction

    quotient = Fraction(number) / Fraction(divisor)
    return quotient.numerator if quotient.denominator == 1 else quotient


def letter(name: str) -> Quantity:
    """A letter as a quantity of its own; "" is one."""
    return Quantity((("", (Product(1, (name,) if name else ()),)),))
