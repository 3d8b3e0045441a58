"""What a report is made of: exact numbers with their formulas, rows, and totals by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

    import sympy

    from blockcalc.engine.context import Context
    from blockcalc.engine.quantity import Quantity


@dataclass(frozen=True)
class Number:
    """An exact number with the formula that it comes from.

    `value` is an int, a Fraction, a sympy polynomial where letters are free, or None where the question
    has no answer.
    """

    value: Any
    make_formula: Callable[[], sympy.Expr] | None = None
    note: str = ""

    @cached_property
    def formula(self) -> sympy.Expr | None:
        """The formula in letters."""
        return None if self.make_formula is None else self.make_formula()


@dataclass(frozen=True)
class Share:
    """A part of a whole, as two whole numbers: a table needs no Fraction to print it."""

    numerator: int
    denominator: int

    @property
    def exact(self) -> Fraction:
        """The share as a Fraction."""
        from fractions import Fraction

        return Fraction(self.numerator, self.denominator)

    def __float__(self) -> float:
        return self.numerator / self.denominator


def number(context: Context, quantity: Quantity, note: str = "") -> Number:
    """A quantity's number and formula in a context."""
    return Number(context.number(quantity), partial(context.formula, quantity), note)


def ratio(context: Context, tops: Sequence[Quantity], bottom: Quantity, note: str = "") -> Number:
    """The sum of some quantities over another: exact for whole sizes, in lowest terms where letters are free."""
    from blockcalc.engine.quantity import exact_quotient

    formula = partial(_ratio_formula, context, tops, bottom)
    above, below = [context.number(top) for top in tops], context.number(bottom)
    if not context.free:
        return Number(exact_quotient(sum(above), below), formula, note)
    from blockcalc.engine.algebra import quotient
    from blockcalc.engine.symbols import exact_expression, plain

    # Where no free letter is left these are Python's own numbers, and / would make a float of them.
    value = quotient([exact_expression(part) for part in above], exact_expression(below))
    return Number(plain(value), formula, note)


def _ratio_formula(context: Context, tops: Sequence[Quantity], bottom: Quantity) -> sympy.Expr:
    from blockcalc.engine.algebra import quotient

    return quotient([context.formula(top) for top in tops], context.formula(bottom))


@dataclass(frozen=True)
class Row:
    """One row: `path`, its `number` if it has one, and other fields by name in printing order."""

    path: str
    number: Number | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        fields: dict[str, Any] = self.__dict__.get("fields", {})
        if name not in fields:
            raise AttributeError(f"no field {name!r} in this row; there are {', '.join(fields)}")
        return fields[name]

    @property
    def value(self) -> Any:
        """The exact number, or None."""
        return None if self.number is None else self.number.value

    @property
    def formula(self) -> sympy.Expr | None:
        """The formula in letters, or None."""
        return None if self.number is None else self.number.formula


class Named:
    """Totals by name: `report.totals.stored`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getattr__(self, name: str) -> Any:
        values: dict[str, Any] = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"no total {name!r}; there are {', '.join(values)}")
        value = values[name]
        return value() if callable(value) else value

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def keys(self) -> list[str]:
        """The names, so that `dict(totals)` works."""
        return list(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __dir__(self) -> list[str]:
        return list(self._values)

    def __repr__(self) -> str:
        return f"Named({', '.join(f'{name}={self[name]!r}' for name in self)})"
